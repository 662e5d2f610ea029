"""Real workers: a run is asked for, a process of its own executes it, everything is stored as it comes."""

from pathlib import Path

import pytest
from celery import current_app
from django.test import Client
from evalrunner import parse_evaluation_report

from reports.models import Case, Execution, Run, RunEvent, Team, Turn, User
from reports.services.cancelling import request_cancel
from reports.services.messages import EXECUTE_RUN, has_broker_server
from tests.execution.conftest import Ask, Start, has_ended, scenario, wait_until
from tests.execution.reports import report_of

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_run_is_executed_to_its_end_and_its_report_is_valid(ask: Ask, start_worker: Start) -> None:
    run = ask(scenario("greet", {}, {}), scenario("refuse", {"answer": "refused"}), "plain", repetitions=2)

    start_worker()
    wait_until(lambda: has_ended(run))

    assert (run.status, run.total, run.passed, run.failed, run.is_passing) == ("completed", 6, 4, 2, False)
    report = parse_evaluation_report(report_of(run))
    assert [case.status for case in report.cases] == ["passed", "passed", "failed", "failed", "passed", "passed"]
    assert report.target.to_data() == {"id": "tests.echo", "fingerprint": "one"}
    assert [len(case.turns) for case in report.cases] == [2, 2, 1, 1, 1, 1]
    wait_until(lambda: not Execution.objects.filter(pk=run.pk).exclude(claim_token="").exists())


def test_turns_are_stored_as_they_come_and_events_after_their_checkpoints(
    ask: Ask, start_worker: Start, tmp_path: Path
) -> None:
    hold = tmp_path / "hold"
    hold.touch()
    run = ask(scenario("slow", {}, {"hold": str(hold)}, {}))

    start_worker()
    wait_until(lambda: Turn.objects.filter(case__generation__current_run=run).count() == 1)
    case = Case.objects.get(generation__current_run=run)

    assert (case.status, case.turn_count) == ("running", 1)
    hold.unlink()
    wait_until(lambda: has_ended(run))
    events = list(RunEvent.objects.filter(run=run).order_by("sequence").values_list("sequence", "type", "step_id"))
    assert events == [
        (1, "run.started", ""),
        (2, "case.started", ""),
        (3, "turn.completed", "step-1"),
        (4, "turn.completed", "step-2"),
        (5, "turn.completed", "step-3"),
        (6, "case.completed", ""),
        (7, "run.completed", ""),
    ]
    case.refresh_from_db()
    assert (case.status, case.turn_count, case.turns.count()) == ("passed", 3, 3)


def test_cancelling_a_run_under_way_leaves_it_cancelled_with_what_was_done(
    ask: Ask, start_worker: Start, team: Team, runner: User, tmp_path: Path
) -> None:
    hold = tmp_path / "hold"
    hold.touch()
    run = ask("quick", scenario("held", {}, {"hold": str(hold)}), "never")

    start_worker()
    wait_until(lambda: Turn.objects.filter(case__generation__current_run=run).count() == 2)
    assert request_cancel(team=team, run_pk=run.pk, user=runner) == "requested"
    wait_until(lambda: has_ended(run))

    assert (run.status, run.passed, run.cancelled, run.pending) == ("cancelled", 1, 1, 1)
    assert parse_evaluation_report(report_of(run)).status == "cancelled"


def test_a_message_delivered_twice_executes_once(ask: Ask, start_worker: Start, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    run = ask(scenario("noted", {"note": str(notes), "wait_ms": 300}))

    start_worker()
    start_worker()
    send_again(run)
    wait_until(lambda: has_ended(run))
    later = ask(scenario("later", {}))
    wait_until(lambda: has_ended(later))

    assert len(notes.read_text().splitlines()) == 1
    assert RunEvent.objects.filter(run=run).count() == 5


def test_two_workers_share_many_runs_and_lose_none(ask: Ask, start_worker: Start) -> None:
    runs = [ask(scenario(f"run-{number}", {"wait_ms": 50}, {})) for number in range(8)]

    start_worker()
    start_worker()
    wait_until(lambda: all(has_ended(run) for run in runs))

    assert {run.status for run in runs} == {"completed"}
    assert all(RunEvent.objects.filter(run=run).count() == 6 for run in runs)


def test_pages_are_read_while_a_worker_writes_and_nobody_is_locked_out(
    ask: Ask, start_worker: Start, client_of_runner: Client
) -> None:
    runs = [ask(*(scenario(f"case-{number}", {}, {}, {}) for number in range(12))) for _ in range(4)]
    addresses = [f"/runs/{run.pk}/" for run in runs] + ["/runs/", "/"]
    statuses = set()

    start_worker()
    wait_until(lambda: Run.objects.exclude(status="queued").exists())
    while not all(has_ended(run) for run in runs):
        statuses |= {client_of_runner.get(address).status_code for address in addresses}
        ask("another")

    assert statuses == {200}
    assert {run.status for run in runs} == {"completed"}


def test_a_killed_worker_leaves_an_interrupted_run_with_every_stored_turn(
    ask: Ask, start_worker: Start, tmp_path: Path
) -> None:
    hold = tmp_path / "hold"
    hold.touch()
    run = ask(scenario("held", {}, {"hold": str(hold)}))
    worker = start_worker()
    wait_until(lambda: Turn.objects.filter(case__generation__current_run=run).count() == 1)

    worker.kill()
    start_worker()
    wait_until(lambda: has_ended(run))

    assert run.status == "interrupted"
    assert Turn.objects.filter(case__generation__current_run=run).count() == 1
    report = parse_evaluation_report(report_of(run))
    assert (report.status, report.cases[0].status) == ("running", "running")


def test_a_worker_that_is_asked_to_stop_ends_what_it_runs_first(ask: Ask, start_worker: Start, tmp_path: Path) -> None:
    run = ask(scenario("slow", {}, {"wait_ms": 1_500}, {}))
    worker = start_worker()
    wait_until(lambda: Turn.objects.filter(case__generation__current_run=run).exists())

    status = worker.stop()

    assert (status, has_ended(run), run.status) == (0, True, "completed")


def send_again(run: Run) -> None:
    """Send the message of a run once more; with the embedded broker both workers hear of it anyway."""
    if has_broker_server():
        current_app.send_task(EXECUTE_RUN, args=[str(run.pk)])
        current_app.send_task(EXECUTE_RUN, args=[str(run.pk)])
