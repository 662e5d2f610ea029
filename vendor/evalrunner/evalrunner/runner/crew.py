"""The owner of all tasks of a run.

An ``asyncio.TaskGroup`` would wait for ever for foreign code that ignores its cancellation, so a run has a crew of its
own: it knows every task, ends them within a bound, and keeps a hold on those that had to be left behind until they
end by themselves.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextvars import Context, copy_context
from typing import Any, Final

_LEFT_BEHIND: Final[set[asyncio.Task[Any]]] = set()


class Crew:
    """Tasks that belong to one run."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._context = copy_context()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._errands: set[asyncio.Task[Any]] = set()
        self.failure: asyncio.Future[None] = self._loop.create_future()

    def new_context(self) -> Context:
        """Give context variables as they were when the run began, so that one case does not see those of another."""
        return self._context.copy()

    def spawn(self, work: Coroutine[Any, Any, None], context: Context | None = None) -> asyncio.Task[None]:
        """Start a task. If it breaks (a defect of the runner, never of foreign code), ``failure`` tells."""
        # Not by the loop's task factory: a task that began eagerly would run whole cases inside one another.
        task = asyncio.Task(work, loop=self._loop, context=context or self.new_context())
        self._tasks.add(task)
        task.add_done_callback(self._on_done)
        return task

    def run_errand(self, work: Coroutine[Any, Any, None]) -> None:
        """Start a bounded piece of cleaning up, which the run waits for before it ends."""
        self._errands.add(self.spawn(work))

    def leave_behind(self, task: asyncio.Task[Any]) -> None:
        """Stop waiting for a task that was cancelled but does not end."""
        self._tasks.discard(task)
        _LEFT_BEHIND.add(task)
        task.add_done_callback(_LEFT_BEHIND.discard)

    async def finish_errands(self, timeout_s: float) -> None:
        """Wait for the cleaning up that was begun."""
        if self._errands:
            await asyncio.wait(self._errands, timeout=timeout_s)

    async def disband(self, *, closing_s: float, patience_s: float) -> None:
        """End all tasks: give them time to close what is open, then cancel them and leave behind what resists.

        Cancelled itself meanwhile, it does not wait any more.
        """
        try:
            async with asyncio.timeout(closing_s):
                while self._tasks:
                    await asyncio.wait(self._tasks)
        except TimeoutError:
            pass
        finally:
            remaining = set(self._tasks)
            for task in remaining:
                task.cancel()
            if remaining:
                await asyncio.wait(remaining, timeout=patience_s)
            for task in remaining:
                if not task.done():
                    self.leave_behind(task)
            self._forget_failure()

    def _forget_failure(self) -> None:
        """Spare asyncio the complaint that nobody looked; whatever ended the run is on its way to the caller."""
        if not self.failure.cancel() and not self.failure.cancelled():
            self.failure.exception()

    def _on_done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        self._errands.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None and not self.failure.done():
            self.failure.set_exception(error)
