"""Workers that are killed at random moments: no stored turn is lost, none is executed twice in one run.

Five kills here; ``python -m tests.soak.kill_workers`` makes fifty on each stack. The worker that is started next ends
the run of the dead one and is the next victim, so a kill costs one start of a worker. For every five one more is made
in a run that is split over two workers.
"""

import os
import random
import time
from functools import partial
from pathlib import Path

import pytest
from evalrunner import parse_evaluation_report

from reports.domain.continuation import Verb
from reports.models import Run, RunEvent, Turn, User
from reports.services.continuing import continue_run
from tests.execution.conftest import Ask, Start, has_ended, scenario, wait_until
from tests.execution.reports import report_of

pytestmark = pytest.mark.django_db(transaction=True)

KILLS = int(os.environ.get("EVALSITE_TESTS_KILLS", "5"))
SEED = int(os.environ.get("EVALSITE_TESTS_SEED", "1"))
LONGEST_S = 0.9  # about as long as a run takes
SPLIT_KILLS = max(1, KILLS // 5)
SPLIT_LONGEST_S = 1.5


def stored_turns(run: Run) -> set[tuple[int, int]]:
    turns = Turn.objects.filter(case__generation__current_run=run.pk)
    return set(turns.values_list("case__position", "position"))


@pytest.mark.timeout(120 + 60 * KILLS)
def test_workers_killed_at_random_moments_lose_no_stored_turn_and_repeat_none(
    ask: Ask, start_worker: Start, runner: User, tmp_path: Path
) -> None:
    moments = random.Random(SEED)
    worker, broken = start_worker(), []
    for number in range(KILLS):
        notes = tmp_path / f"notes-{number}"
        notes.touch()
        step = {"note": str(notes), "wait_ms": 60}
        run = ask(
            *(scenario(f"case-{place}", step, step, step) for place in range(6)), concurrency=3, target="resuming"
        )
        wait_until(partial(has_begun, run))
        time.sleep(moments.uniform(0, LONGEST_S))
        worker.kill()
        kept, executed = stored_turns(run), notes.read_text().splitlines()

        worker = start_worker()
        wait_until(partial(has_ended, run))

        assert run.status in ("interrupted", "completed")
        assert stored_turns(run) == kept
        assert notes.read_text().splitlines() == executed, "turns of a run that had ended were executed"
        assert len(set(executed)) == len(executed)
        assert len(kept) <= len(executed) <= len(kept) + 3  # those that were in flight
        assert_events_fit(run, kept)
        if run.status == "interrupted" and run.run_id:
            broken.append((run, kept))
    print(f"{KILLS} kills, {len(broken)} runs broken off after their first checkpoint and resumed")  # noqa: T201
    assert broken or KILLS < 5, "no kill fell into a run"
    for run, kept in broken:
        assert_resumed_run_goes_on(run, kept, runner)


@pytest.mark.timeout(120 + 120 * SPLIT_KILLS)
def test_a_split_run_that_loses_a_worker_at_a_random_moment_repeats_no_turn_either(
    ask: Ask, start_worker: Start, runner: User, tmp_path: Path
) -> None:
    moments = random.Random(SEED)
    workers, broken = [start_worker(), start_worker()], []
    for number in range(SPLIT_KILLS):
        notes = tmp_path / f"split-notes-{number}"
        notes.touch()
        step = {"note": str(notes), "wait_ms": 60}
        scenarios = [scenario(f"case-{place}", step, step) for place in range(24)]
        run = ask(*scenarios, shards=6, concurrency=2, target="resuming")
        wait_until(partial(has_begun, run))
        time.sleep(moments.uniform(0, SPLIT_LONGEST_S))

        workers.pop(0).kill()
        workers.append(start_worker())
        wait_until(partial(has_ended, run))

        kept, executed = stored_turns(run), notes.read_text().splitlines()
        assert run.status in ("interrupted", "completed")
        assert len(set(executed)) == len(executed)
        assert len(kept) <= len(executed) <= len(kept) + 4  # those in flight: two shards of two conversations
        assert_events_fit(run, kept)
        if run.status == "interrupted" and run.run_id:
            broken.append((run, kept))
    print(f"{SPLIT_KILLS} kills, {len(broken)} split runs broken off and resumed")  # noqa: T201
    for run, kept in broken:
        assert_resumed_run_goes_on(run, kept, runner)


def has_begun(run: Run) -> bool:
    return not Run.objects.filter(pk=run.pk, status="queued").exists()


def assert_events_fit(run: Run, kept: set[tuple[int, int]]) -> None:
    events = list(RunEvent.objects.filter(run=run).order_by("sequence").values_list("sequence", "type"))
    assert [sequence for sequence, _ in events] == list(range(1, len(events) + 1))
    assert sum(kind == "turn.completed" for _, kind in events) == len(kept)


def assert_resumed_run_goes_on(run: Run, kept: set[tuple[int, int]], user: User) -> None:
    """Resume a broken run and look that it ends with every turn, those that were stored unchanged."""
    if run.pending + run.running == 0:
        return
    made = continue_run(team=run.team, user=user, origin="web", run_pk=run.pk, verb=Verb.RESUME)
    resumed = Run.objects.get(pk=made.run_pk)
    wait_until(partial(has_ended, resumed))
    before, after = report_of(run), report_of(resumed)

    assert (resumed.status, resumed.passed) == ("completed", run.total)
    parse_evaluation_report(after)
    for place, turn in kept:
        assert after["cases"][place]["turns"][turn] == before["cases"][place]["turns"][turn]
