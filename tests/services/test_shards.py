"""A run that is split over several workers: the same report, one end, and limits that hold in all shards together."""

from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.db import OperationalError
from django.utils import timezone
from evalrunner import parse_evaluation_report

from reports.domain.continuation import Verb
from reports.domain.run_options import RequestRefused
from reports.models import Execution, Run, RunEvent, User
from reports.services import assignments, executing_shards, storing
from reports.services.continuing import continue_run
from reports.services.executing import execute_run
from reports.services.executing_shards import execute_shard
from reports.services.leases import expire_leases
from reports.services.recount import recount_run
from reports.services.shard_checkpoints import ShardStore
from reports.services.shards import expire_shards, waiting_shards
from tests import factories
from tests.execution.conftest import Ask, hide_evaluators, scenario
from tests.execution.conftest import ask as ask
from tests.execution.conftest import targets_file as targets_file
from tests.execution.reports import report_of
from tests.execution.shards import at_once, begun, lose, shards_of, states_of, worked_off

pytestmark = pytest.mark.django_db(transaction=True)


def without_times(report: Any) -> Any:
    """Take from a report what differs each time it is made: ids and times."""
    cases = [
        {name: value for name, value in case.items() if name != "threadId"}
        | {"turns": [{name: turn[name] for name in turn if name not in ("turnId", "durationMs")} for turn in turns]}
        for case in report["cases"]
        for turns in [[turn | {"checkpoint": None} for turn in case["turns"]]]
    ]
    return {name: report[name] for name in report if name not in ("runId", "startedAt", "finishedAt")} | {
        "cases": cases
    }


MIXED = (
    scenario("good", {}, {}),
    scenario("bad", {"answer": "no"}, {}),
    scenario("down", {}, {"code": "DOWN"}),
    factories.scenario("left-out") | {"skipReason": "not now"},
    factories.scenario("outside") | {"writePolicy": "external"},
)


@pytest.mark.parametrize("shards", [2, 3, 64])
def test_a_split_run_leaves_the_report_of_a_whole_one(ask: Ask, shards: int) -> None:
    whole = ask(*MIXED, repetitions=3, early_alarm=False)
    execute_run(run_pk=whole.pk)

    split = worked_off(ask(*MIXED, repetitions=3, early_alarm=False, shards=shards))

    assert without_times(report_of(split)) == without_times(report_of(Run.objects.get(pk=whole.pk)))
    parse_evaluation_report(report_of(split))
    assert (split.status, split.total, split.execution.claim_token) == ("completed", 15, "")
    assert recount_run(split, repair=False) == ()
    assert len(shards_of(split)) == min(shards, 15)


def test_events_of_all_shards_stand_in_one_order(ask: Ask) -> None:
    run = ask(*(scenario(f"case-{number}", {}, {}) for number in range(8)), shards=4)
    shards = begun(run)

    at_once(*(partial(execute_shard, shard_pk=shard) for shard in shards))

    run.refresh_from_db()
    events = list(RunEvent.objects.filter(run=run).order_by("sequence").values_list("sequence", "type", "position"))
    assert (run.status, run.passed, run.running, run.pending) == ("completed", 8, 0, 0)
    assert [sequence for sequence, _, _ in events] == list(range(1, 8 * 4 + 3))
    assert (events[0][1], events[-1][1]) == ("run.started", "run.completed")
    for place in range(8):
        of_case = [type for _, type, position in events if position == place]
        assert of_case == ["case.started", "turn.completed", "turn.completed", "case.completed"]


def test_a_shard_that_is_delivered_twice_is_worked_on_once(ask: Ask, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    run = ask(*(scenario(f"case-{number}", {"note": str(notes)}) for number in range(4)), shards=2)
    shards = begun(run)

    at_once(*(partial(execute_shard, shard_pk=shard) for shard in shards * 3))

    assert len(notes.read_text().splitlines()) == 4
    assert Run.objects.get(pk=run.pk).status == "completed"


def test_a_run_that_is_delivered_twice_is_split_once(ask: Ask) -> None:
    run = ask("one", "two", shards=2)
    begun(run)

    execute_run(run_pk=run.pk)

    assert states_of(run) == ["queued", "queued"]


def test_assertions_of_the_suite_run_once_over_the_whole_report(ask: Ask, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    check = {"id": "all", "kind": "custom", "evaluator": "count", "parameters": {"file": str(seen), "cases": 6}}

    run = worked_off(ask("one", "two", repetitions=3, target="counting", shards=3, assertions=[check]))

    assert (run.status, run.suite_assertions, run.suite_assertions_failed, run.is_passing) == ("completed", 1, 0, True)
    assert seen.read_text() == "6 passed\n"


# ------------------------------------------------------------------------------------------------------ what goes wrong


def run_out(store: ShardStore) -> None:
    """Let the lease of a shard that is worked on run out."""
    store.claim.held().update(lease_expires_at=timezone.now() - timedelta(seconds=1))
    assert expire_shards() == 1


def test_the_others_go_on_where_a_worker_vanishes_and_the_run_ends_interrupted(ask: Ask, runner: User) -> None:
    run = ask(*(scenario(f"case-{number}", {}) for number in range(6)), shards=3)
    first, second, third = begun(run)
    execute_shard(shard_pk=first)
    lose(run, second)
    assert Run.objects.get(pk=run.pk).status == "running"

    execute_shard(shard_pk=third)

    run.refresh_from_db()
    assert (run.status, run.passed, run.pending, states_of(run)) == ("interrupted", 4, 2, ["ended", "lost", "ended"])
    assert report_of(run)["status"] == "running"
    made = continue_run(team=run.team, user=runner, origin="web", run_pk=run.pk, verb=Verb.RESUME)
    resumed = worked_off(Run.objects.get(pk=made.run_pk))
    assert (resumed.status, resumed.passed, len(shards_of(resumed))) == ("completed", 6, 2)
    assert report_of(resumed)["resumedFrom"] == run.run_id


def test_a_run_whose_last_worker_vanishes_ends_at_once(ask: Ask) -> None:
    run = ask("one", "two", shards=2)
    first, second = begun(run)
    execute_shard(shard_pk=first)

    lose(run, second)

    run.refresh_from_db()
    assert (run.status, run.passed, run.pending) == ("interrupted", 1, 1)


def test_a_worker_that_has_lost_its_shard_writes_nothing_more(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    run = ask(scenario("one", {}, {}), "two", shards=2)
    first, _second = begun(run)
    persist, calls = ShardStore.persist, iter(range(1, 99))

    def losing(store: ShardStore, change: Any) -> None:
        if next(calls) == 2:
            run_out(store)
        persist(store, change)

    monkeypatch.setattr(ShardStore, "persist", losing)
    execute_shard(shard_pk=first)

    run.refresh_from_db()
    assert (run.status, run.running, states_of(run)) == ("running", 1, ["lost", "queued"])
    assert RunEvent.objects.filter(run=run).count() == 2


def test_a_shard_whose_changes_cannot_be_stored_breaks_off(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    run = ask("one", "two", shards=2)
    first, second = begun(run)
    with monkeypatch.context() as patch:
        patch.setattr(ShardStore, "persist", lambda store, change: 1 / 0)
        execute_shard(shard_pk=first)

    execute_shard(shard_pk=second)

    run = Run.objects.select_related("execution").get(pk=run.pk)
    assert (run.status, run.execution.error_code) == ("interrupted", "EVALUATION_OBSERVER_FAILED")
    assert (run.passed, states_of(run)) == (1, ["broken", "ended"])


def test_a_worker_with_another_version_of_the_target_refuses_its_shard(
    ask: Ask, targets_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    targets_file.write_text(targets_file.read_text() + '[target.fingerprint]\nfrom = "env"\nvariable = "VERSION_NOW"\n')
    monkeypatch.setenv("VERSION_NOW", "one")
    run = ask("one", "two", shards=2)
    first, second = begun(run)
    execute_shard(shard_pk=first)
    monkeypatch.setenv("VERSION_NOW", "two")

    execute_shard(shard_pk=second)

    run = Run.objects.select_related("execution").get(pk=run.pk)
    assert (run.status, run.execution.error_code) == ("interrupted", "TARGET_FINGERPRINT_CHANGED")
    assert (run.passed, run.pending) == (1, 1)


def test_a_run_whose_worker_vanishes_while_it_concludes_ends_interrupted_and_a_resume_concludes_it(
    ask: Ask, runner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = ask("one", "two", shards=2)
    first, second = begun(run)
    execute_shard(shard_pk=first)
    with monkeypatch.context() as patch:
        patch.setattr(executing_shards, "conclude_run", lambda claim: None)
        execute_shard(shard_pk=second)
    Execution.objects.filter(pk=run.pk).update(lease_expires_at=timezone.now() - timedelta(seconds=1))

    assert expire_leases() == 1

    run.refresh_from_db()
    assert (run.status, run.passed, states_of(run)) == ("interrupted", 2, ["ended", "ended"])
    made = continue_run(team=run.team, user=runner, origin="web", run_pk=run.pk, verb=Verb.RESUME)
    resumed = worked_off(Run.objects.get(pk=made.run_pk))
    assert (resumed.status, resumed.passed, shards_of(resumed)) == ("completed", 2, [])


def test_a_resume_that_has_nothing_to_deal_out_is_concluded_at_once(
    ask: Ask, runner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = ask(scenario("one", {}, {}), "two", shards=2)
    first, second = begun(run)
    execute_shard(shard_pk=second)
    persist, calls = ShardStore.persist, iter(range(1, 99))

    def losing(store: ShardStore, change: Any) -> None:
        if next(calls) == 3:  # one turn is stored, and the target cannot resume
            run_out(store)
        persist(store, change)

    with monkeypatch.context() as patch:
        patch.setattr(ShardStore, "persist", losing)
        execute_shard(shard_pk=first)
    made = continue_run(team=run.team, user=runner, origin="web", run_pk=run.pk, verb=Verb.RESUME)

    resumed = worked_off(Run.objects.get(pk=made.run_pk))

    assert (resumed.status, resumed.passed, resumed.blocked, shards_of(resumed)) == ("completed", 1, 1, [])
    assert resumed.execution.claim_token == ""


def test_conversations_that_had_begun_go_on_in_a_shard(
    ask: Ask, runner: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = tmp_path / "notes"
    step = {"note": str(notes)}
    run = ask(*(scenario(f"case-{number}", step, step) for number in range(3)), target="resuming", shards=2)
    first, second = begun(run)
    persist, calls = ShardStore.persist, iter(range(1, 99))

    def losing(store: ShardStore, change: Any) -> None:
        persist(store, change)
        if next(calls) == 2:  # a turn is stored
            run_out(store)

    with monkeypatch.context() as patch:
        patch.setattr(ShardStore, "persist", losing)
        execute_shard(shard_pk=first)
    execute_shard(shard_pk=second)
    made = continue_run(team=run.team, user=runner, origin="web", run_pk=run.pk, verb=Verb.RESUME)

    resumed = worked_off(Run.objects.get(pk=made.run_pk))

    run.refresh_from_db()
    before, after = report_of(run)["cases"][0], report_of(resumed)["cases"][0]
    assert (resumed.status, resumed.passed, len(after["turns"])) == ("completed", 3, 2)
    assert after["turns"][0] == before["turns"][0]
    assert len(set(notes.read_text().splitlines())) == 6


def test_a_request_that_the_runner_refuses_is_rejected_before_it_is_split(ask: Ask, targets_file: Path) -> None:
    hide_evaluators(targets_file)
    broken = scenario("one", {})
    broken["steps"][0]["assertions"] = [{"id": "c", "kind": "custom", "evaluator": "missing", "parameters": {}}]

    run = worked_off(ask(broken, shards=2))

    assert (run.status, run.execution.error_code, shards_of(run)) == ("rejected", "EVALUATOR_NOT_FOUND", [])


def test_the_end_of_a_shard_waits_for_a_database_that_is_away(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    end, failures = ShardStore.end, iter([True, True])

    def failing(store: ShardStore, **how: Any) -> Any:
        if next(failures, False):
            raise OperationalError
        return end(store, **how)

    monkeypatch.setattr(ShardStore, "end", failing)
    monkeypatch.setattr(storing, "PAUSE_S", 0.0)

    assert worked_off(ask("one", "two", shards=2)).status == "completed"


# -------------------------------------------------------------------------------------------------------------- waiting


def test_what_waits_is_told_to_the_dispatcher_until_it_is_claimed(ask: Ask) -> None:
    shards = begun(ask("one", "two", shards=2))

    assert list(waiting_shards(before=timezone.now())) == shards
    assert list(waiting_shards(before=timezone.now() - timedelta(minutes=1))) == []
    execute_shard(shard_pk=shards[0])
    assert list(waiting_shards(before=timezone.now())) == shards[1:]


def test_a_shard_holds_no_more_conversations_at_once_than_it_is_told(ask: Ask) -> None:
    run = worked_off(ask(*(scenario(f"case-{number}", {}) for number in range(6)), shards=2, concurrency=3))

    types = list(RunEvent.objects.filter(run=run).order_by("sequence").values_list("type", flat=True))
    assert types[1:4] == ["case.started"] * 3
    assert run.status == "completed"


# ------------------------------------------------------------------------------------------------------------- refusals


def refused(ask: Ask, **options: Any) -> list[tuple[str, str, str]]:
    with pytest.raises(RequestRefused) as error:
        ask("one", **options)
    return [(each.field, each.code, each.sentence) for each in error.value.refusals]


@pytest.mark.parametrize("shards", [0, 65])
def test_a_number_of_shards_out_of_range_has_the_code_of_the_runner(ask: Ask, shards: int) -> None:
    sentence = "Give a whole number from 1 to 64."

    assert refused(ask, shards=shards) == [("shards", "EVALUATION_OPTIONS_INVALID", sentence)]


def test_a_target_bounds_shards_and_what_goes_on_at_once_in_all_of_them(
    ask: Ask, targets_file: Path, settings: LazySettings
) -> None:
    targets_file.write_text(targets_file.read_text() + "[target.limits]\nconcurrency = 8\nshards = 6\n")

    assert refused(ask, shards=7) == [("shards", "TARGET_LIMIT_EXCEEDED", "This target takes at most 6.")]
    together = "This target takes at most 8 conversations at once; 5 shards with a concurrency of 2 each make 10."
    assert refused(ask, shards=5, concurrency=2) == [("shards", "TARGET_LIMIT_EXCEEDED", together)]
    assert ask("one", shards=4, concurrency=2).status == "queued"
    assert assignments.assign(ask("two", shards=4).pk).options.shards == 4
