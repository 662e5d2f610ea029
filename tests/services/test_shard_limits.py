"""What ends a split run early, a wish or a limit, holds in all of its shards together."""

from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pytest
from django.utils import timezone

from reports.models import Execution, Run, Team, User
from reports.services import heartbeat
from reports.services.cancelling import request_cancel
from reports.services.executing_shards import execute_shard
from reports.services.recount import recount_run
from reports.services.shard_checkpoints import ShardStore
from tests.execution.conftest import Ask, scenario
from tests.execution.conftest import ask as ask
from tests.execution.conftest import targets_file as targets_file
from tests.execution.shards import at_once, begun, states_of, worked_off

pytestmark = pytest.mark.django_db(transaction=True)

T = TypeVar("T")


def test_failures_are_counted_in_all_shards_together(ask: Ask) -> None:
    run = worked_off(
        ask(*(scenario(f"case-{number}", {"answer": "no"}) for number in range(9)), max_failures=4, shards=3)
    )

    assert (run.status, run.failed, run.pending) == ("limited", 4, 5)
    assert states_of(run) == ["ended"] * 3
    assert recount_run(run, repair=False) == ()


def test_once_enough_have_failed_no_worker_need_take_what_waits(ask: Ask) -> None:
    run = ask(*(scenario(f"case-{number}", {"answer": "no"}) for number in range(9)), max_failures=3, shards=3)

    execute_shard(shard_pk=begun(run)[1])

    run.refresh_from_db()
    assert (run.status, run.failed, run.pending, states_of(run)) == ("limited", 3, 6, ["ended"] * 3)


def test_the_early_alarm_watches_the_first_cases_of_all_shards(ask: Ask) -> None:
    run = worked_off(ask(*(scenario(f"case-{number}", {"code": "DOWN"}) for number in range(9)), shards=4))

    assert (run.status, run.error, run.pending) == ("cancelled", 5, 4)
    assert run.execution.stop_reason == "stopped early: 5 of 5 ended in DOWN"


def test_all_shards_hear_of_the_early_alarm_when_their_next_case_ends(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(heartbeat, "POLL_S", 60.0)  # nobody hears of it otherwise
    run = ask(*(scenario(f"case-{number}", {"code": "DOWN"}) for number in range(40)), shards=4)

    at_once(*(partial(execute_shard, shard_pk=shard) for shard in begun(run)))

    run = Run.objects.select_related("execution").get(pk=run.pk)
    assert (run.status, run.execution.stop_reason) == ("cancelled", "stopped early: 5 of 5 ended in DOWN")
    assert 5 <= run.error <= 5 + 3  # what was in flight in the other shards
    assert run.error + run.cancelled + run.pending == 40


def test_a_shard_hears_of_a_wish_to_cancel_when_a_case_ends(
    ask: Ask, team: Team, runner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(heartbeat, "POLL_S", 60.0)
    run = ask(*(scenario(f"case-{number}", {}) for number in range(6)), shards=2)
    first, _second = begun(run)
    persist, calls = ShardStore.persist, iter(range(1, 99))

    def cancelling(store: ShardStore, change: Any) -> None:
        if next(calls) == 2:
            assert request_cancel(team=team, run_pk=run.pk, user=runner) == "requested"
        persist(store, change)

    monkeypatch.setattr(ShardStore, "persist", cancelling)
    execute_shard(shard_pk=first)

    run.refresh_from_db()
    assert (run.status, run.passed, run.pending) == ("cancelled", 1, 5)


@pytest.mark.parametrize("good", [0, 4])
def test_one_case_that_ends_otherwise_silences_the_alarm_in_all_shards(ask: Ask, good: int) -> None:
    inputs = [{} if number == good else {"code": "DOWN"} for number in range(9)]

    run = worked_off(ask(*(scenario(f"case-{number}", each) for number, each in enumerate(inputs)), shards=3))

    assert (run.status, run.error, run.passed) == ("completed", 8, 1)


def test_the_time_limit_counts_from_the_beginning_of_the_run(ask: Ask, targets_file: Path) -> None:
    targets_file.write_text(targets_file.read_text() + "[target.limits]\nminutes = 1\n")
    run = ask("one", "two", "three", "four", shards=2)
    first, second = begun(run)
    execute_shard(shard_pk=first)
    Execution.objects.filter(pk=run.pk).update(claimed_at=timezone.now() - timedelta(seconds=61))

    execute_shard(shard_pk=second)

    run = Run.objects.select_related("execution").get(pk=run.pk)
    assert (run.status, run.passed, run.pending) == ("cancelled", 2, 2)
    assert run.execution.stop_reason == "stopped: it took longer than 1 minute"
