"""How what an execution stores gets into the database: through one thread, and with patience at the end.

``see_to_end`` is what whole runs and shards have in common: the work, the heartbeat beside it, and the end.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol, TypeVar

from django.db import DatabaseError, InterfaceError, connection

from reports.services.heartbeat import Heartbeat
from reports.services.leases import Claim

PATIENCE_S = 120.0  # for a database that is away when the end of a run is to be stored
PAUSE_S = 1.0

T = TypeVar("T")


class StoringThread:
    """The thread that stores everything of one execution, in order; the event loop never waits for the database."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(1, thread_name_prefix="checkpoints")

    async def do(self, work: Callable[..., T], *arguments: Any) -> T:
        """Await what the thread does, and get its result or its error."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work, *arguments)

    def post(self, work: Callable[..., object], *arguments: Any) -> None:
        """Leave something to the thread without waiting for it; from any thread."""
        self._threads.submit(work, *arguments)

    def close(self) -> None:
        """Wait for what is still to be stored."""
        self._threads.submit(_close_connection)
        self._threads.shutdown(wait=True)


class Store(Protocol):
    """What writes down a run or a shard as long as its claim holds."""

    claim: Claim

    def note_stop(self, reason: str) -> None:
        """Say why the site itself stops the run."""


async def see_to_end(
    store: Store,
    thread: StoringThread,
    cancel: asyncio.Event,
    work: Callable[[], Awaitable[Callable[[], T]]],
    *,
    minutes: int | None,
    elapsed_s: float = 0.0,
) -> T:
    """Await work under a heartbeat, then store the end that it gives; the thread is closed.

    ``cancel`` is set when somebody wants the run to stop, when it has taken longer than ``minutes`` (of which
    ``elapsed_s`` seconds had passed before), and when the claim is lost.
    """
    loop = asyncio.get_running_loop()

    def stop(reason: str) -> None:
        if reason:
            thread.post(store.note_stop, reason)
        loop.call_soon_threadsafe(cancel.set)

    try:
        with Heartbeat(store.claim, stop, minutes=minutes, elapsed_s=elapsed_s):
            ending = await work()
            return await thread.do(patiently, ending)
    finally:
        thread.close()


def _close_connection() -> None:
    connection.close()  # named in here: the name stands for the connection of the thread that looks it up


def patiently(work: Callable[[], T]) -> T:
    """Store the end of a run, waiting for a database that is away; in the end the lease tells what happened."""
    until = time.monotonic() + PATIENCE_S
    while True:
        try:
            return work()
        except (DatabaseError, InterfaceError):
            connection.close()
            if time.monotonic() > until:
                raise
            time.sleep(PAUSE_S)
