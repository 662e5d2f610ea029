"""The processes of a worker without a broker server: one that is killed takes nothing with it.

Such a worker has no event loop, so that its processes read their jobs from one pipe, one at a time. Billiard guards the
pipe with a semaphore, which idle processes hold while they wait: killed then (the system does so when memory runs out),
the holder never gives it back, and no process of that worker ever reads a job again. A lock that the system itself
releases when its holder ends, however it ends, leaves the others working, and their runs go on.
"""

import fcntl
import os
import tempfile
from types import TracebackType
from typing import Any

from billiard.pool import Pool
from billiard.reduction import DupFd
from celery.concurrency import prefork


class ProcessLock:
    """A lock between processes, not between threads: POSIX's on an open file, as ``with`` or by its two methods.

    It is handed to children by fork as it is; to those that start afresh, its descriptor.
    """

    def __init__(self, descriptor: int | None = None) -> None:
        self._file = tempfile.TemporaryFile() if descriptor is None else os.fdopen(descriptor, "r+b")  # noqa: SIM115

    def acquire(self) -> bool:
        fcntl.lockf(self._file, fcntl.LOCK_EX)
        return True

    def release(self) -> None:
        fcntl.lockf(self._file, fcntl.LOCK_UN)

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.release()

    def __reduce__(self) -> tuple[Any, ...]:
        return _received, (DupFd(self._file.fileno()),)


def _received(duplicate: Any) -> ProcessLock:
    return ProcessLock(duplicate.detach())


class LastingPool(Pool):
    """Billiard's pool with locks that outlive whoever held them, on the way in and on the way out."""

    _inqueue: Any
    _outqueue: Any

    def _setup_queues(self) -> None:
        super()._setup_queues()  # type: ignore[misc]
        self._inqueue._rlock = ProcessLock()
        self._outqueue._wlock = ProcessLock()


class TaskPool(prefork.TaskPool):
    """Celery's pool of processes; with a broker server it has an event loop and pipes for each, and stays as it is."""

    BlockingPool = LastingPool
