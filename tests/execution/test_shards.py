"""A run that is split over real workers, which share its cases, hear of each other's limits, and may be killed."""

from functools import partial
from pathlib import Path

import pytest
from celery import current_app
from evalrunner import parse_evaluation_report

from reports.domain.continuation import Verb
from reports.models import Run, RunEvent, Shard, Team, Turn, User
from reports.services.cancelling import request_cancel
from reports.services.continuing import continue_run
from reports.services.messages import EXECUTE_SHARD, has_broker_server
from tests.execution.conftest import Ask, Start, has_ended, scenario, wait_until
from tests.execution.reports import counts_agree, report_of

pytestmark = pytest.mark.django_db(transaction=True)


def lines_of(notes: Path) -> list[str]:
    return notes.read_text().splitlines() if notes.exists() else []


def send_again(run: Run) -> None:
    """Send the messages of shards twice more; with the embedded broker every worker hears of all of them anyway."""
    if has_broker_server():
        for shard in list(Shard.objects.filter(execution=run.pk).values_list("pk", flat=True)) * 2:
            current_app.send_task(EXECUTE_SHARD, args=[str(shard)])


def test_workers_share_a_run_each_shard_once_and_the_suite_is_judged_once(
    ask: Ask, start_worker: Start, tmp_path: Path
) -> None:
    notes, seen = tmp_path / "notes", tmp_path / "seen"
    check = {"id": "all", "kind": "custom", "evaluator": "count", "parameters": {"file": str(seen), "cases": 24}}
    step = {"note": str(notes), "wait_ms": 50}
    run = ask(
        *(scenario(f"case-{number}", step, step) for number in range(12)),
        repetitions=2,
        shards=6,
        target="counting",
        assertions=[check],
    )

    start_worker()
    start_worker()
    wait_until(lambda: Shard.objects.filter(execution=run.pk).count() == 6)
    send_again(run)
    wait_until(partial(has_ended, run))

    assert (run.status, run.passed, run.is_passing, run.suite_assertions) == ("completed", 24, True, 1)
    assert len(set(lines_of(notes))) == len(lines_of(notes)) == 48
    assert lines_of(seen) == ["24 passed"]
    report = parse_evaluation_report(report_of(run))
    assert (report.summary.passed, report.status) == (24, "completed")
    sequences = list(RunEvent.objects.filter(run=run).order_by("pk").values_list("sequence", flat=True))
    assert sequences == list(range(1, 24 * 4 + 3))
    wait_until(partial(counts_agree, run))


def test_the_wish_to_cancel_and_the_limit_of_failures_reach_all_shards(
    ask: Ask, start_worker: Start, team: Team, runner: User, tmp_path: Path
) -> None:
    hold, notes = tmp_path / "hold", tmp_path / "notes"
    hold.touch()
    held = {"note": str(notes), "hold": str(hold)}
    limited = ask(*(scenario(f"case-{number}", {"answer": "no"}) for number in range(16)), max_failures=5, shards=3)
    start_worker()
    wait_until(partial(has_ended, limited))
    run = ask(*(scenario(f"case-{number}", held) for number in range(8)), shards=4)
    wait_until(lambda: len(lines_of(notes)) == 2)  # the worker has two processes

    assert request_cancel(team=team, run_pk=run.pk, user=runner) == "requested"
    wait_until(partial(has_ended, run))

    assert (run.status, run.cancelled, run.pending) == ("cancelled", 2, 6)
    assert limited.status == "limited"
    assert 5 <= limited.failed <= 6  # one more may have been in flight, in the other process
    assert limited.failed + limited.pending == 16
    wait_until(lambda: counts_agree(limited) and counts_agree(run))


def test_the_others_go_on_where_a_worker_is_killed_and_a_resume_does_the_rest(
    ask: Ask, start_worker: Start, runner: User, tmp_path: Path
) -> None:
    hold, notes = tmp_path / "hold", tmp_path / "notes"
    hold.touch()
    steps = ({"note": str(notes)}, {"note": str(notes), "hold": str(hold)}, {"note": str(notes)})
    run = ask(*(scenario(f"case-{number}", *steps) for number in range(8)), target="resuming", shards=4)
    victim = start_worker()
    wait_until(lambda: len(lines_of(notes)) == 4)  # two of the shards are its own, each in its second turn
    start_worker()
    wait_until(lambda: len(lines_of(notes)) == 8)

    victim.kill()
    hold.unlink()
    wait_until(partial(has_ended, run))

    assert (run.status, run.passed, run.running, run.pending) == ("interrupted", 4, 2, 2)
    assert sorted(Shard.objects.filter(execution=run.pk).values_list("state", flat=True)) == [
        "ended",
        "ended",
        "lost",
        "lost",
    ]
    assert len(set(lines_of(notes))) == len(lines_of(notes)) == 2 * 2 + 4 * 3
    assert Turn.objects.filter(case__generation__current_run=run.pk).count() == 2 * 1 + 4 * 3
    made = continue_run(team=run.team, user=runner, origin="web", run_pk=run.pk, verb=Verb.RESUME)
    resumed = Run.objects.get(pk=made.run_pk)
    wait_until(partial(has_ended, resumed))
    before, after = report_of(run), report_of(resumed)
    assert (resumed.status, resumed.passed) == ("completed", 8)
    parse_evaluation_report(after)
    for old, new in zip(before["cases"], after["cases"], strict=True):
        assert new["turns"][: len(old["turns"])] == old["turns"]
