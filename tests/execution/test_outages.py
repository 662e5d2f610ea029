"""The database goes away while a run is executed: the run ends, says so, and can be resumed from what is stored."""

import contextlib
import sqlite3
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from django.db import connection

from reports.domain.continuation import Verb
from reports.models import Execution, Run, Turn, User
from reports.services.continuing import continue_run
from tests.execution.conftest import Ask, Start, Worker, database_url, has_ended, scenario, wait_until
from tests.execution.proxy import proxy_of
from tests.execution.reports import report_of

pytestmark = pytest.mark.django_db(transaction=True)

LOCK_S = 1.0  # how long the worker waits for a locked file here

Outage = Callable[[], contextlib.AbstractContextManager[None]]


def turns_of(run: Run) -> int:
    return Turn.objects.filter(case__generation__current_run=run.pk).count()


@pytest.fixture
def outage(start_worker: Start) -> Iterator[tuple[Worker, Outage]]:
    """A worker, and what takes its database away while it is entered; this process keeps its own connection."""
    if connection.vendor == "sqlite":
        yield start_worker(troubles=True, EVALSITE_TESTS_LOCK_S=str(LOCK_S)), locked_file
        return
    with proxy_of(database_url()) as (proxy, url):

        @contextlib.contextmanager
        def cut() -> Iterator[None]:
            proxy.cut()
            yield
            proxy.restore()

        yield start_worker(troubles=True, DATABASE_URL=url), cut


@contextlib.contextmanager
def locked_file() -> Iterator[None]:
    """Hold the write lock of the SQLite file for longer than anybody waits for it."""
    holder = sqlite3.connect(connection.settings_dict["NAME"], isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    yield
    time.sleep(LOCK_S * 2)
    holder.execute("ROLLBACK")
    holder.close()


def test_a_run_whose_database_is_gone_ends_and_is_resumed_from_the_last_stored_turn(
    ask: Ask, outage: tuple[Worker, Outage], runner: User, tmp_path: Path
) -> None:
    hold, notes = tmp_path / "hold", tmp_path / "notes"
    hold.touch()
    step = {"note": str(notes)}
    run = ask(scenario("long", step, step | {"hold": str(hold)}, step), target="resuming")
    _worker, taken_away = outage
    wait_until(lambda: len(notes.read_text().splitlines()) == 2 if notes.exists() else False)

    with taken_away():
        hold.unlink()
        time.sleep(0.5)
    wait_until(partial(has_ended, run))

    assert run.status == "interrupted"
    assert Execution.objects.get(pk=run.pk).error_code in ("EVALUATION_OBSERVER_FAILED", "")  # "": its lease ran out
    assert turns_of(run) == 1
    made = continue_run(team=run.team, user=runner, origin="web", run_pk=run.pk, verb=Verb.RESUME)
    resumed = Run.objects.get(pk=made.run_pk)
    wait_until(partial(has_ended, resumed))
    (before,), (after,) = report_of(run)["cases"], report_of(resumed)["cases"]
    assert (resumed.status, after["status"], len(after["turns"])) == ("completed", "passed", 3)
    assert after["turns"][0] == before["turns"][0]
    assert len(notes.read_text().splitlines()) == 4  # the turn in flight is held once more, in the new run
