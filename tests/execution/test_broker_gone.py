"""The broker is gone for ten seconds: the run goes on, requests are taken, and later runs start by themselves.

Only where the stack has a broker server; the embedded one lives in the worker and goes with it.
"""

import time
from functools import partial
from pathlib import Path

import pytest
from celery import current_app
from django.conf import settings

from reports.models import Run, RunEvent
from tests.execution.conftest import Ask, Start, has_ended, scenario, wait_until
from tests.execution.proxy import proxy_of

pytestmark = pytest.mark.django_db(transaction=True)

GONE_S = 10.0


def test_a_run_goes_on_while_the_broker_is_gone_and_later_ones_start_by_themselves(
    ask: Ask, start_worker: Start, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    hold, notes = tmp_path / "hold", tmp_path / "notes"
    hold.touch()
    with proxy_of(settings.CELERY_BROKER_URL) as (proxy, url):
        monkeypatch.setattr(current_app.conf, "broker_url", url)
        start_worker(troubles=True, CELERY_BROKER_URL=url)
        run = ask(scenario("long", {"hold": str(hold)}, {"wait_ms": int(GONE_S * 500)}, {"note": str(notes)}))
        wait_until(lambda: Run.objects.filter(pk=run.pk, running=1).exists())

        proxy.cut()
        begun = time.monotonic()
        hold.unlink()
        later = ask("asked-for-meanwhile")
        asked_s = time.monotonic() - begun
        wait_until(partial(has_ended, run))
        ended_s = time.monotonic() - begun
        time.sleep(max(0.0, GONE_S - ended_s))
        proxy.restore()
        after = ask("asked-for-afterwards")

        wait_until(lambda: has_ended(later) and has_ended(after), within_s=30)

    assert (run.status, run.passed) == ("completed", 1)
    assert ended_s < GONE_S
    assert asked_s < 6  # whoever asks for a run does not wait for a broker that is away
    assert (later.status, after.status) == ("completed", "completed")
    assert len(notes.read_text().splitlines()) == 1
    assert RunEvent.objects.filter(run=run).count() == 7
