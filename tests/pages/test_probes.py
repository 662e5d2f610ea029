"""``/healthz``, ``/readyz``, ``/metrics``: asked by machines that know nothing of the site."""

import re
import socket
from collections.abc import Iterator
from datetime import timedelta
from itertools import count
from typing import Any

import pytest
from celery import current_app
from django.conf import LazySettings
from django.core.cache import cache
from django.db import OperationalError, connection
from django.db.migrations.executor import MigrationExecutor
from django.test import Client
from django.utils import timezone

from reports.models import Execution, ImportJob, Run, Team
from reports.services import readiness, worker_signs
from tests.factories import report, stored

ELSEWHERE = {"Host": "10.0.0.7:9999"}  # a name that the site does not answer to
SAMPLE = re.compile(r'evalsite_[a-z_]+(\{[a-z]+="[^"\\\n]*"(,[a-z]+="[^"\\\n]*")*\})? [0-9.e+-]+')


@pytest.fixture(autouse=True)
def nothing_remembered(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(worker_signs, "NOTE_EVERY_S", 0.0)
    readiness.broker_memory.forget()
    yield
    readiness.broker_memory.forget()


class NoDatabase:
    """Stands where cursors are made; fails like a server that is gone."""

    def __call__(self, *args: object, **options: object) -> None:
        raise OperationalError("connection to server at 10.1.1.1 failed: secret-host")


# ------------------------------------------------------------------------------------------------------------- healthz


def test_the_process_lives_whatever_the_host_is_called_and_without_a_database(client: Client) -> None:
    answer = client.get("/healthz", headers=ELSEWHERE)  # pytest-django forbids the database here

    assert (answer.status_code, answer.content) == (200, b"ok\n")
    assert "no-store" in answer.headers["Cache-Control"]
    assert client.post("/healthz").status_code == 405


# -------------------------------------------------------------------------------------------------------------- readyz


@pytest.mark.django_db
def test_a_site_that_can_work_is_ready(client: Client) -> None:
    cache.delete("worker-seen-at")
    answer = client.get("/readyz", headers=ELSEWHERE)

    assert answer.status_code == 200
    assert answer.json() == {
        "status": "ready",
        "checks": {"database": "ok", "migrations": "ok", "broker": "ok"},
        "workerSeenSeconds": None,
    }


@pytest.mark.django_db
def test_the_last_sign_of_a_worker_is_told_and_changes_nothing(client: Client) -> None:
    worker_signs.note_worker()

    assert 0 <= client.get("/readyz").json()["workerSeenSeconds"] < 60

    cache.set("worker-seen-at", 0.0)
    answer = client.get("/readyz")
    assert answer.status_code == 200
    assert answer.json()["workerSeenSeconds"] > 1_000_000


@pytest.mark.django_db
def test_a_worker_notes_itself_at_most_every_ten_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_signs, "NOTE_EVERY_S", 10.0)
    worker_signs._noted.__dict__.clear()
    worker_signs.note_worker()
    cache.delete("worker-seen-at")

    worker_signs.note_worker()

    assert worker_signs.worker_seen_s() is None


@pytest.mark.django_db
def test_a_database_that_is_away_is_told_without_its_address(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "cursor", NoDatabase())
    monkeypatch.setattr(connection, "close", lambda: None)

    answer = client.get("/readyz")

    assert answer.status_code == 503
    assert answer.json()["checks"] == {"database": "unreachable", "migrations": "unknown", "broker": "ok"}
    assert "secret" not in answer.content.decode()


@pytest.mark.django_db
def test_missing_migrations_make_it_not_ready_until_they_are_applied(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readiness, "_migrated", type(readiness._migrated)())
    with monkeypatch.context() as during:
        during.setattr(MigrationExecutor, "migration_plan", lambda *arguments: [("one", False)])
        answer = client.get("/readyz")

    assert (answer.status_code, answer.json()["checks"]["migrations"]) == (503, "missing")
    assert client.get("/readyz").json()["checks"]["migrations"] == "ok"


@pytest.mark.django_db
def test_a_broker_server_that_does_not_answer_is_told_and_can_be_left_out(
    client: Client, settings: LazySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"redis://:secret@127.0.0.1:{unused.getsockname()[1]}/0"
        settings.CELERY_BROKER_URL = address
        monkeypatch.setattr(
            current_app, "connection_for_write", lambda **options: current_app.connection(address, **options)
        )
        answer = client.get("/readyz")
        without = client.get("/readyz?without=broker")

    assert (answer.status_code, answer.json()["checks"]["broker"]) == (503, "unreachable")
    assert "secret" not in answer.content.decode()
    assert (without.status_code, without.json()["checks"]) == (200, {"database": "ok", "migrations": "ok"})


def test_strangers_cannot_make_the_site_connect_to_its_broker_again_and_again(
    settings: LazySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = count()
    settings.CELERY_BROKER_URL = "redis://127.0.0.1:1/0"
    monkeypatch.setattr(readiness, "_look_for_broker", lambda: f"look {next(looks)}")

    states = {readiness.broker_state() for _ in range(20)}

    assert states == {"look 0"}


# ------------------------------------------------------------------------------------------------------------- metrics


@pytest.fixture
def scrape(client: Client, settings: LazySettings) -> Any:
    settings.METRICS_TOKEN = "watcher"
    return lambda: client.get("/metrics", headers=ELSEWHERE | {"Authorization": "Bearer watcher"})


def test_without_a_token_in_the_settings_there_are_no_metrics(client: Client, settings: LazySettings) -> None:
    settings.METRICS_TOKEN = ""

    assert client.get("/metrics", headers={"Authorization": "Bearer "}).status_code == 404


@pytest.mark.parametrize("given", ["", "watcher", "Bearer", "Bearer ", "Bearer watcherx", "Basic watcher", "Bearer wä"])
def test_another_token_is_answered_401_before_the_database_is_asked(
    client: Client, settings: LazySettings, given: str
) -> None:
    settings.METRICS_TOKEN = "watcher"

    answer = client.get("/metrics", headers={"Authorization": given} if given else {})

    assert (answer.status_code, answer.content) == (401, b"unauthorized\n")
    assert answer.headers["WWW-Authenticate"].startswith("Bearer")


@pytest.mark.django_db
def test_the_numbers_are_those_of_the_database(scrape: Any, team: Team) -> None:
    now = timezone.now()
    stored(team, report("PF"))
    queued, held = stored(team, report("P")), stored(team, report("P"))
    Run.objects.filter(pk=queued.pk).update(status="queued", created_at=now - timedelta(seconds=90))
    Run.objects.filter(pk=held.pk).update(status="running")
    execution = Execution.objects.create(
        run=held, target_name="t", request={}, claim_token="x", lease_expires_at=now - timedelta(seconds=1)
    )
    for number, state in enumerate(("queued", "working", "working", "ended")):
        late = now - timedelta(seconds=1) if number == 1 else None
        execution.shards.create(number=number, state=state, places=b"", case_count=1, lease_expires_at=late)
    ImportJob.objects.create(team=team, origin="upload", path="", file_name="", byte_size=1)
    worker_signs.note_worker()

    answer = scrape()

    lines = answer.content.decode().splitlines()
    assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert {
        'evalsite_runs{status="completed"} 1',
        'evalsite_runs{status="queued"} 1',
        'evalsite_runs{status="rejected"} 0',
        "evalsite_queue_length 1",
        "evalsite_running_executions 1",
        "evalsite_expired_leases 2",
        'evalsite_shards{state="queued"} 1',
        'evalsite_shards{state="working"} 2',
        'evalsite_import_jobs{state="queued"} 1',
        'evalsite_import_jobs{state="done"} 0',
    } <= set(lines)
    values = dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
    assert 90 <= float(values["evalsite_queue_oldest_seconds"]) < 120
    assert float(values["evalsite_worker_seen_seconds"]) < 60


@pytest.mark.django_db
def test_every_line_is_of_the_format_and_every_metric_has_help_and_type(scrape: Any) -> None:
    text = scrape().content.decode()

    samples = [line for line in text.splitlines() if not line.startswith("#")]
    assert text.endswith("\n")
    assert [line for line in samples if not SAMPLE.fullmatch(line)] == []
    for name in {re.split(r"[ {]", line)[0] for line in samples}:
        assert f"# HELP {name} " in text
        assert f"# TYPE {name} gauge\n" in text


@pytest.mark.django_db
def test_they_cost_the_same_queries_whatever_is_stored(scrape: Any, team: Team, django_assert_num_queries: Any) -> None:
    for _ in range(3):
        stored(team, report("P"))

    with django_assert_num_queries(8):
        scrape()
