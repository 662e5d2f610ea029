"""A worker loses one of its own processes, as by the system's want of memory: it goes on taking runs by itself."""

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from reports.models import Run
from tests.execution.conftest import Ask, Start, Worker, has_ended, scenario, wait_until

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are found by Linux's /proc"),
]
RUN_STARTS_WITHIN_S = 10.0  # well before a message that was lost is sent again


def children_of(worker: Worker) -> set[int]:
    """Return the processes in which a worker executes runs."""
    return {int(stat.parent.name) for stat in Path("/proc").glob("[0-9]*/stat") if _parent(stat) == worker.process.pid}


def _parent(stat: Path) -> int:
    try:
        state, parent = stat.read_text().rsplit(")", 1)[1].split()[:2]
    except (FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
        return 0
    return 0 if state == "Z" else int(parent)


def is_asleep(pid: int) -> Callable[[], bool]:
    return lambda: Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "S"


def test_an_idle_process_is_killed_while_the_other_executes_a_run(
    ask: Ask, start_worker: Start, tmp_path: Path
) -> None:
    hold, executor = tmp_path / "hold", tmp_path / "executor"
    hold.touch()
    first = ask(scenario("held", {"executor": str(executor), "hold": str(hold)}, {}))
    worker = start_worker(troubles=True)  # it tells of a process that was lost
    wait_until(lambda: executor.exists() and executor.read_text() != "")
    [idle] = children_of(worker) - {int(executor.read_text())}
    wait_until(is_asleep(idle))  # it alone waits for the next run, with what keeps others from reading it

    os.kill(idle, signal.SIGKILL)
    second = ask("second")
    wait_until(lambda: has_ended(second), within_s=RUN_STARTS_WITHIN_S)
    hold.unlink()
    wait_until(lambda: has_ended(first), within_s=RUN_STARTS_WITHIN_S)

    assert (second.status, second.passed) == ("completed", 1)
    assert (first.status, first.passed) == ("completed", 1)


def test_every_process_is_killed_while_all_are_idle(ask: Ask, start_worker: Start) -> None:
    worker = start_worker(troubles=True)
    first = ask("first")
    wait_until(lambda: has_ended(first))
    before = children_of(worker)

    for child in before:
        os.kill(child, signal.SIGKILL)
    runs = [ask(f"run-{number}") for number in range(4)]
    wait_until(lambda: all(has_ended(run) for run in runs), within_s=RUN_STARTS_WITHIN_S)

    assert Run.objects.filter(status="completed").count() == 5
    assert len(children_of(worker)) == len(before) == 2
    assert children_of(worker).isdisjoint(before)
