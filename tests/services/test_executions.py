"""Asking for runs: at the same moment, twice, and after their end."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import pytest
from django.db import connection

from reports.models import Execution, Run, Team, User
from reports.services.cancelling import NotCancellable, request_cancel
from reports.services.executions import IdempotencyConflict
from reports.services.leases import claim_run
from tests import factories
from tests.execution.conftest import Ask
from tests.execution.conftest import ask as ask
from tests.execution.conftest import targets_file as targets_file

pytestmark = pytest.mark.django_db(transaction=True)

T = TypeVar("T")


def at_once(count: int, work: Callable[[], T]) -> list[T]:
    """Call a function in so many threads, each with a connection of its own."""

    def connected() -> T:
        try:
            return work()
        finally:
            connection.close()

    with ThreadPoolExecutor(count) as threads:
        return [done.result() for done in [threads.submit(connected) for _ in range(count)]]


def test_the_same_request_at_the_same_moment_is_one_run(ask: Ask) -> None:
    runs = at_once(6, lambda: ask("one", key="build-7"))

    assert len({run.pk for run in runs}) == 1
    assert Execution.objects.count() == 1


def test_requests_without_a_key_are_runs_of_their_own(ask: Ask) -> None:
    assert len({run.pk for run in at_once(4, lambda: ask("one"))}) == 4


def test_a_key_belongs_to_one_request(ask: Ask) -> None:
    ask("one", key="build-7")

    with pytest.raises(IdempotencyConflict):
        ask("one", key="build-7", repetitions=2)
    with pytest.raises(IdempotencyConflict):
        ask("two", key="build-7")


def test_of_many_workers_one_gets_a_run(ask: Ask) -> None:
    run = ask("one")

    claims = at_once(6, lambda: claim_run(run_pk=run.pk))

    assert sum(claim is not None for claim in claims) == 1


def test_a_run_is_either_claimed_or_cancelled(ask: Ask, team: Team, runner: User) -> None:
    for _ in range(20):
        run = ask("one")
        with ThreadPoolExecutor(2) as threads:
            claimed = threads.submit(at_once, 1, lambda pk=run.pk: claim_run(run_pk=pk))
            asked = threads.submit(at_once, 1, lambda pk=run.pk: request_cancel(team=team, run_pk=pk, user=runner))
            claim, outcome = claimed.result()[0], asked.result()[0]
        run.refresh_from_db()

        assert (claim is None, run.status, outcome) in [
            (True, "cancelled", "cancelled"),
            (False, "running", "requested"),
        ]


def test_a_run_of_another_team_cannot_be_cancelled(ask: Ask) -> None:
    run = ask("one")
    team = factories.make_team()

    with pytest.raises(NotCancellable, match="There is no such run"):
        request_cancel(team=team, run_pk=run.pk, user=factories.make_member(team, "runner"))
    assert Run.objects.get(pk=run.pk).status == "queued"


def test_an_imported_run_that_goes_on_elsewhere_cannot_be_cancelled_here(team: Team, runner: User) -> None:
    report = factories.report("PR", status="running")
    del report["finishedAt"]
    run = factories.stored(team, report)

    with pytest.raises(NotCancellable, match="not executed by this site"):
        request_cancel(team=team, run_pk=run.pk, user=runner)
