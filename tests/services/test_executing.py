"""Executing a run in this process: how it can end, and what is stored of it."""

import threading
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.db import OperationalError, connection
from evalrunner import parse_evaluation_report
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reports.models import Case, Execution, Generation, Run, RunEvent, Team, Turn, User
from reports.services import assignments, checkpoints, storing
from reports.services.cancelling import NotCancellable, request_cancel
from reports.services.case_rows import CaseWriter
from reports.services.executing import execute_run
from reports.services.leases import expire_leases
from reports.services.recount import recount_run
from tests.execution.conftest import Ask, hide_evaluators, scenario
from tests.execution.conftest import ask as ask
from tests.execution.conftest import targets_file as targets_file
from tests.execution.reports import report_of

pytestmark = pytest.mark.django_db(transaction=True)


def executed(run: Run) -> Run:
    execute_run(run_pk=run.pk)
    return Run.objects.select_related("execution").get(pk=run.pk)


def failing_suite(steps: list[dict[str, Any]], count: int) -> list[dict[str, Any]]:
    return [scenario(f"case-{number}", *steps) for number in range(count)]


def test_an_executed_run_leaves_a_valid_report_and_right_counts(ask: Ask) -> None:
    run = executed(ask(scenario("good", {}, {}), scenario("bad", {"answer": "no"}), scenario("down", {"code": "DOWN"})))

    assert (run.status, run.total, run.passed, run.failed, run.error, run.is_passing) == (
        "completed",
        3,
        1,
        1,
        1,
        False,
    )
    assert (run.execution.claim_token, run.execution.lease_expires_at) == ("", None)
    report = parse_evaluation_report(report_of(run))
    assert [case.status for case in report.cases] == ["passed", "failed", "error"]
    assert recount_run(run, repair=False) == ()


def test_early_alarm_cancels_and_says_why(ask: Ask) -> None:
    run = executed(ask(*failing_suite([{"code": "DOWN"}], 9)))

    assert (run.status, run.error, run.pending) == ("cancelled", 5, 4)
    assert run.execution.stop_reason == "stopped early: 5 of 5 ended in DOWN"
    assert parse_evaluation_report(report_of(run)).status == "cancelled"


def test_early_alarm_can_be_switched_off(ask: Ask) -> None:
    run = executed(ask(*failing_suite([{"code": "DOWN"}], 7), early_alarm=False))

    assert (run.status, run.error, run.execution.stop_reason) == ("completed", 7, "")


def test_a_failure_limit_leaves_the_rest_pending(ask: Ask) -> None:
    run = executed(ask(*failing_suite([{"answer": "no"}], 6), max_failures=2))

    assert (run.status, run.failed, run.pending) == ("limited", 2, 4)


def test_a_run_that_the_runner_refuses_is_rejected_with_code_and_paths(ask: Ask, targets_file: Path) -> None:
    hide_evaluators(targets_file)
    asks_for_more = scenario("custom")
    asks_for_more["assertions"] = [{"id": "own", "kind": "custom", "evaluator": "not.there", "parameters": {}}]

    run = executed(ask(asks_for_more))

    assert (run.status, run.run_id, run.generation) == ("rejected", "", None)
    assert (run.execution.error_code, run.execution.error_paths) == ("EVALUATOR_NOT_FOUND", ["not.there"])


def test_a_target_that_is_not_registered_any_more_rejects_the_run(ask: Ask, targets_file: Path) -> None:
    run = ask("one")
    targets_file.write_text(targets_file.read_text().replace('name = "echo"', 'name = "other"'))

    run = executed(run)

    assert (run.status, run.execution.error_code) == ("rejected", "TARGET_UNUSABLE")
    assert run.execution.stop_reason == "no target 'echo' is registered here"


def test_a_version_that_changed_since_the_request_rejects_the_run(
    ask: Ask, targets_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    targets_file.write_text(targets_file.read_text() + '[target.fingerprint]\nfrom = "env"\nvariable = "VERSION_NOW"\n')
    monkeypatch.setenv("VERSION_NOW", "one")
    run = ask("one")
    monkeypatch.setenv("VERSION_NOW", "two")

    run = executed(run)

    assert (run.status, run.execution.error_code) == ("rejected", "TARGET_FINGERPRINT_CHANGED")


def test_a_worker_that_fails_before_the_beginning_rejects_the_run(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    run = ask("one")
    monkeypatch.setattr(assignments, "parse_evaluation_suite", lambda value: 1 / 0)

    run = executed(run)

    assert (run.status, run.execution.error_code) == ("rejected", "WORKER_FAILED")


def test_a_run_is_executed_once_however_often_it_is_asked_for(ask: Ask, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    run = ask(scenario("noted", {"note": str(notes)}))

    for _ in range(3):
        execute_run(run_pk=run.pk)

    assert len(notes.read_text().splitlines()) == 1


def test_only_the_changed_case_is_written(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[int] = []
    replace = CaseWriter.replace_case

    def watched(self: CaseWriter, case: Any, position: int) -> None:
        written.append(position)
        replace(self, case, position)

    monkeypatch.setattr(CaseWriter, "replace_case", watched)

    executed(ask(scenario("one", {}, {}), scenario("two", {})))

    assert written == [0, 0, 0, 0, 1, 1, 1]


def test_each_event_is_stored_with_its_checkpoint(ask: Ask) -> None:
    seen: list[tuple[int, int]] = []
    persist = checkpoints.CheckpointStore.persist

    def watched(store: checkpoints.CheckpointStore, checkpoint: Any) -> None:
        before = RunEvent.objects.filter(run=store.run).count()
        persist(store, checkpoint)
        seen.append((before, RunEvent.objects.filter(run=store.run).count()))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkpoints.CheckpointStore, "persist", watched)
        executed(ask("one"))

    assert seen == [(number, number + 1) for number in range(5)]


@pytest.mark.parametrize("number", [1, 2, 3, 5])
def test_a_checkpoint_that_cannot_be_stored_interrupts_the_run_and_keeps_what_was(
    ask: Ask, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    persist, calls = checkpoints.CheckpointStore.persist, iter(range(1, 99))

    def failing(store: checkpoints.CheckpointStore, checkpoint: Any) -> None:
        if next(calls) == number:
            raise OperationalError("the database is away")
        persist(store, checkpoint)

    monkeypatch.setattr(checkpoints.CheckpointStore, "persist", failing)

    run = executed(ask(scenario("one", {}), scenario("two", {})))

    assert (run.status, run.execution.error_code) == ("interrupted", "EVALUATION_OBSERVER_FAILED")
    assert RunEvent.objects.filter(run=run).count() == number - 1
    if number > 1:
        assert parse_evaluation_report(report_of(run)).status == "running"


def test_the_end_of_a_run_waits_for_a_database_that_is_away(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    finish, failures = checkpoints.CheckpointStore.finish, iter([True, True])

    def failing(store: checkpoints.CheckpointStore) -> None:
        if next(failures, False):
            raise OperationalError("the database is away")
        finish(store)

    monkeypatch.setattr(checkpoints.CheckpointStore, "finish", failing)
    monkeypatch.setattr(storing, "PAUSE_S", 0.0)

    run = executed(ask("one"))

    assert (run.status, run.execution.claim_token) == ("completed", "")


def test_a_worker_that_has_lost_its_claim_writes_nothing_more(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    persist = checkpoints.CheckpointStore.persist

    def losing(store: checkpoints.CheckpointStore, checkpoint: Any) -> None:
        persist(store, checkpoint)
        if checkpoint.event.sequence == 3:
            lose(store.claim.run_pk)

    def lose(run_pk: Any) -> None:
        Execution.objects.filter(pk=run_pk).update(lease_expires_at="2026-01-01T00:00:00Z")
        expire_leases()

    monkeypatch.setattr(checkpoints.CheckpointStore, "persist", losing)

    run = executed(ask(scenario("one", {}, {}, {})))

    assert (run.status, RunEvent.objects.filter(run=run).count()) == ("interrupted", 3)
    assert Turn.objects.filter(case__generation__current_run=run).count() == 1


def test_a_cancelled_turn_leaves_a_cancelled_case_and_the_rest_pending(
    ask: Ask, team: Team, runner: User, tmp_path: Path
) -> None:
    hold = tmp_path / "hold"
    hold.touch()
    run = ask(scenario("held", {"hold": str(hold)}), "never")
    thread = threading.Thread(target=execute_in_thread, args=(run,))

    thread.start()
    while not RunEvent.objects.filter(run=run, type="case.started").exists():
        assert thread.is_alive()
    outcomes = [request_cancel(team=team, run_pk=run.pk, user=runner) for _ in range(2)]
    thread.join(30)

    run.refresh_from_db()
    assert outcomes == ["requested", "requested"]
    assert (run.status, run.cancelled, run.pending) == ("cancelled", 1, 1)
    assert run.execution.cancel_requested_by == runner
    with pytest.raises(NotCancellable, match="already ended: it is cancelled"):
        request_cancel(team=team, run_pk=run.pk, user=runner)


def execute_in_thread(run: Run) -> None:
    try:
        execute_run(run_pk=run.pk)
    finally:
        connection.close()


def test_a_target_that_holds_the_loop_up_does_not_lose_its_lease(
    ask: Ask, settings: LazySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.EXECUTION_LEASE_S = 1.2
    monkeypatch.setattr("reports.services.heartbeat.POLL_S", 0.05)

    run = executed(ask(scenario("rude", {"block_ms": 2_500})))

    assert (run.status, expire_leases()) == ("completed", 0)


def test_a_run_beyond_the_time_of_its_target_is_cancelled_with_the_reason(
    ask: Ask, targets_file: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    targets_file.write_text(targets_file.read_text() + "[target.limits]\nminutes = 1\n")
    monkeypatch.setattr("reports.services.heartbeat.POLL_S", 0.05)
    monkeypatch.setattr("reports.services.heartbeat.MINUTE_S", 0.2)
    hold = tmp_path / "hold"
    hold.touch()

    run = executed(ask(scenario("endless", {"hold": str(hold)})))

    assert (run.status, run.execution.stop_reason) == ("cancelled", "stopped: it took longer than 1 minute")


def test_nothing_is_left_staged(ask: Ask) -> None:
    run = executed(ask("one", "two"))

    assert list(Generation.objects.all()) == [run.generation]
    assert Case.objects.count() == 2


inputs = st.fixed_dictionaries({}, optional={"answer": st.sampled_from(["completed", "no"]), "code": st.just("DOWN")})


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(inputs, min_size=1, max_size=3), min_size=1, max_size=3), st.integers(1, 3))
def test_what_is_stored_is_the_report_of_the_runner(
    ask: Ask, cases: list[list[dict[str, Any]]], concurrency: int
) -> None:
    finals: list[Any] = []
    persist = checkpoints.CheckpointStore.persist

    def noting(store: checkpoints.CheckpointStore, checkpoint: Any) -> None:
        persist(store, checkpoint)
        data = checkpoint.to_data()
        finals.append(data)
        assert report_of(Run.objects.get(pk=store.run.pk)) == data

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkpoints.CheckpointStore, "persist", noting)
        run = executed(
            ask(*(scenario(f"s-{number}", *steps) for number, steps in enumerate(cases)), concurrency=concurrency)
        )

    assert report_of(run) == finals[-1]
