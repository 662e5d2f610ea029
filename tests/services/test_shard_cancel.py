"""Cancelling a split run: at once where nobody works on it, else as soon as those who do have stopped."""

import threading
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from evalrunner import parse_evaluation_report
from evalrunner.runner.parts import plan_evaluation

from reports.models import Run, RunEvent, Shard, Team, User
from reports.services import executing_shards
from reports.services.cancelling import NotCancellable, request_cancel
from reports.services.executing_shards import execute_shard
from reports.services.leases import claim_shard
from reports.services.recount import recount_run
from tests.execution.conftest import Ask, scenario
from tests.execution.conftest import ask as ask
from tests.execution.conftest import targets_file as targets_file
from tests.execution.reports import report_of
from tests.execution.shards import at_once, begun, lose, states_of

pytestmark = pytest.mark.django_db(transaction=True)


def last_events(run: Run) -> list[str]:
    return list(RunEvent.objects.filter(run=run).order_by("sequence").values_list("type", flat=True))


def test_a_run_whose_shards_all_wait_is_cancelled_at_once(ask: Ask, team: Team, runner: User, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    check = {"id": "all", "kind": "custom", "evaluator": "count", "parameters": {"file": str(seen), "cases": 4}}
    run = ask(*(f"case-{number}" for number in range(4)), shards=2, target="counting", assertions=[check])
    shards = begun(run)

    assert request_cancel(team=team, run_pk=run.pk, user=runner) == "cancelled"

    run = Run.objects.select_related("execution").get(pk=run.pk)
    assert (run.status, run.pending, run.total, states_of(run)) == ("cancelled", 4, 4, ["ended"] * 2)
    assert (run.execution.claim_token, run.execution.lease_expires_at) == ("", None)
    assert (run.execution.cancel_requested_by, run.execution.stop_reason) == (runner, "")
    assert last_events(run) == ["run.started", "run.completed"]
    assert recount_run(run, repair=False) == ()
    report = parse_evaluation_report(report_of(run))
    assert report.status == "cancelled" and report.finished_at is not None
    assert [(each.id, each.passed, each.error_code) for each in report.assertions or ()] == [
        ("all", False, "EVALUATION_CANCELLED")
    ]
    for shard in shards:
        execute_shard(shard_pk=shard)  # the message comes late
    assert not seen.exists() and RunEvent.objects.filter(run=run).count() == 2
    with pytest.raises(NotCancellable, match="it is cancelled"):
        request_cancel(team=team, run_pk=run.pk, user=runner)


def test_what_waits_ends_at_once_where_others_are_worked_on(ask: Ask, team: Team, runner: User) -> None:
    run = ask(*(f"case-{number}" for number in range(6)), shards=3)
    _first, second, third = begun(run)
    assert claim_shard(shard_pk=second) is not None

    outcomes = [request_cancel(team=team, run_pk=run.pk, user=runner) for _ in range(2)]

    assert outcomes == ["requested", "requested"]
    assert (Run.objects.get(pk=run.pk).status, states_of(run)) == ("running", ["ended", "working", "ended"])
    assert claim_shard(shard_pk=third) is None


def test_a_run_of_which_a_shard_was_lost_ends_interrupted_at_once(ask: Ask, team: Team, runner: User) -> None:
    run = ask("one", "two", "three", shards=3)
    first, second, _third = begun(run)
    execute_shard(shard_pk=first)
    lose(run, second)

    assert request_cancel(team=team, run_pk=run.pk, user=runner) == "interrupted"

    run.refresh_from_db()
    assert (run.status, run.passed, states_of(run)) == ("interrupted", 1, ["ended", "lost", "ended"])


def test_a_shard_is_either_claimed_or_ended_by_the_wish(ask: Ask, team: Team, runner: User) -> None:
    for _ in range(20):
        run = ask("one", "two", shards=2)
        first, second = begun(run)
        claim, other, outcome = at_once(
            partial(claim_shard, shard_pk=first),
            partial(claim_shard, shard_pk=second),
            partial(request_cancel, team=team, run_pk=run.pk, user=runner),
        )
        run.refresh_from_db()

        claimed = ["ended" if each is None else "working" for each in (claim, other)]
        assert states_of(run) == claimed
        expected = ("running", "requested") if "working" in claimed else ("cancelled", "cancelled")
        assert (run.status, outcome) == expected


def test_a_run_that_is_cancelled_while_its_shards_end_has_one_end(ask: Ask, team: Team, runner: User) -> None:
    def cancel(run: Run) -> None:
        try:
            request_cancel(team=team, run_pk=run.pk, user=runner)
        except NotCancellable:
            assert Run.objects.get(pk=run.pk).status in ("cancelled", "completed")

    for _ in range(8):
        run = ask("one", "two", "three", shards=3)
        shards = begun(run)
        at_once(*(partial(execute_shard, shard_pk=shard) for shard in shards), *[partial(cancel, run)] * 2)
        run = Run.objects.select_related("execution").get(pk=run.pk)

        assert run.status in ("cancelled", "completed") and run.execution.claim_token == ""
        assert last_events(run).count("run.completed") == 1
        assert not Shard.objects.filter(execution=run.pk).exclude(state="ended").exists()
        assert recount_run(run, repair=False) == ()


def test_a_run_that_is_cancelled_while_it_is_dealt_out_ends_before_any_shard(
    ask: Ask, team: Team, runner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = ask("one", "two", shards=2)

    def cancelling(**given: Any) -> Any:
        assert request_cancel(team=team, run_pk=run.pk, user=runner) == "requested"
        return plan_evaluation(**given)

    monkeypatch.setattr(executing_shards, "plan_evaluation", cancelling)
    begun(run)

    run.refresh_from_db()
    assert (run.status, run.pending, states_of(run)) == ("cancelled", 2, ["ended"] * 2)
    assert last_events(run) == ["run.started", "run.completed"]


def test_a_run_that_is_cancelled_ends_what_goes_on_and_gives_nothing_more_out(
    ask: Ask, team: Team, runner: User, tmp_path: Path
) -> None:
    hold, notes = tmp_path / "hold", tmp_path / "notes"
    hold.touch()
    notes.touch()
    held = {"hold": str(hold), "note": str(notes)}
    run = ask(*(scenario(f"case-{number}", held) for number in range(6)), shards=3)
    first, second, _third = begun(run)

    def cancel() -> None:
        while len(notes.read_text().splitlines()) < 2:
            threading.Event().wait(0.02)
        assert request_cancel(team=team, run_pk=run.pk, user=runner) == "requested"
        assert states_of(run)[2] == "ended"

    at_once(lambda: execute_shard(shard_pk=first), lambda: execute_shard(shard_pk=second), cancel)

    run.refresh_from_db()
    assert (run.status, run.cancelled, run.pending) == ("cancelled", 2, 4)
    assert states_of(run) == ["ended"] * 3
    assert parse_evaluation_report(report_of(run)).status == "cancelled"


def test_a_shard_that_was_claimed_before_the_wish_begins_nothing_after_it(
    ask: Ask, team: Team, runner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = ask("one", "two", shards=2)
    first, _second = begun(run)

    def claimed(*, shard_pk: int) -> Any:
        claim = claim_shard(shard_pk=shard_pk)
        assert request_cancel(team=team, run_pk=run.pk, user=runner) == "requested"
        return claim

    monkeypatch.setattr(executing_shards, "claim_shard", claimed)
    execute_shard(shard_pk=first)

    run.refresh_from_db()
    assert (run.status, run.pending, run.total) == ("cancelled", 2, 2)
    assert last_events(run) == ["run.started", "run.completed"]
