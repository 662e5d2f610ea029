"""How a command that runs an event loop comes to its end: signals, and code that will not stop."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from types import FrameType, TracebackType
from typing import Any, Final, Self

PATIENCE_S: Final = 3.0
SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


class StopSignals:
    """While entered, the first Ctrl-C (or TERM) calls ``ask_to_stop`` on the loop; the second one ``leave`` at once.

    Handlers of the signal module run even while the loop is held up by a blocking call, where those of the loop would
    not. Messages go straight to the file descriptor, since a handler may interrupt a print.
    """

    def __init__(self, ask_to_stop: Callable[[], object], leave: Callable[[], object]) -> None:
        self._ask_to_stop = ask_to_stop
        self._leave = leave
        self._loop = asyncio.get_running_loop()
        self._asked = False
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        self._before = {number: signal.signal(number, self._handle) for number in SIGNALS}
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self._asked:
            os.write(2, b"\nstopped at once\n")
            self._leave()
            return
        self._asked = True
        os.write(2, b"\ncancelling; the report is kept and can be resumed (again to stop at once)\n")
        self._loop.call_soon_threadsafe(self._ask_to_stop)


def run_to_end(work: Coroutine[Any, Any, int], *, patience_s: float = PATIENCE_S) -> int:
    """Run ``work`` and give its exit status, also when tasks or threads of an adapter never end.

    ``asyncio.run`` would wait for them without limit. Here they have ``patience_s`` seconds; if some are left, the
    process ends with the status on the spot.
    """
    loop = asyncio.new_event_loop()
    threads = ThreadPoolExecutor(thread_name_prefix="evalrunner")
    loop.set_default_executor(threads)
    try:
        asyncio.set_event_loop(loop)
        status = loop.run_until_complete(work)
        deadline = time.monotonic() + patience_s
        tasks_left = loop.run_until_complete(_end_tasks(patience_s))
        threads.shutdown(wait=False, cancel_futures=True)
        if tasks_left or _threads_left(deadline):
            _end_process(status)
        loop.run_until_complete(loop.shutdown_asyncgens())
        return status
    finally:
        asyncio.set_event_loop(None)
        loop.close()


async def _end_tasks(patience_s: float) -> bool:
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    if not tasks:
        return False
    _, left = await asyncio.wait(tasks, timeout=patience_s)
    return bool(left)


def _threads_left(deadline: float) -> bool:
    """Wait for the threads that the interpreter would wait for at its end."""
    others = [thread for thread in threading.enumerate() if thread.name.startswith(("evalrunner", "report"))]
    for thread in others:
        thread.join(max(0.0, deadline - time.monotonic()))
    return any(thread.is_alive() for thread in others)


def _end_process(status: int) -> None:
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    os._exit(status)
