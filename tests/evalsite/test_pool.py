"""The lock of a worker's processes: one holds it, the next waits, and whoever is killed gives it back."""

import os
import signal
from typing import Any

import billiard
import pytest

from evalsite.pool import ProcessLock

LIMIT_S = 20


def hold(lock: ProcessLock, taken: Any, end: Any) -> None:
    taken.send(("asks", os.getpid()))
    with lock:
        taken.send(("holds", os.getpid()))
        end.poll(LIMIT_S)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_lock_passes_on_when_its_holder_is_killed(method: str) -> None:
    context: Any = billiard.get_context(method)
    lock = ProcessLock()
    told, taken = context.Pipe(duplex=False)
    end, _keeps_it_open = context.Pipe(duplex=False)
    first, second = (context.Process(target=hold, args=(lock, taken, end), daemon=True) for _ in range(2))

    def hear() -> tuple[str, int]:
        assert told.poll(LIMIT_S)
        said, pid = told.recv()
        return str(said), int(pid)

    first.start()
    assert [hear(), hear()] == [("asks", first.pid), ("holds", first.pid)]
    second.start()
    assert hear() == ("asks", second.pid)
    assert not told.poll(0.2)

    os.kill(first.pid, signal.SIGKILL)

    assert hear() == ("holds", second.pid)
    os.kill(second.pid, signal.SIGKILL)
    for process in (first, second):
        process.join(LIMIT_S)
    lock.close()
