"""All lanes of a run, from the first to the last: how many live at once, what interrupts them, how they are cleared."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Iterator
from typing import Any, Final

from evalrunner.runner.crew import Crew
from evalrunner.runner.lanes import PATIENCE_S, Lane, Life, Outlasts
from evalrunner.runner.signals import RunSignal

CLOSING_S: Final = 10.0
"""How long a run that was given up waits for its open sessions to be closed."""


class LaneGroup:
    """Made inside a running event loop and used once; ``cancel`` is the host's wish that the run ends early."""

    def __init__(self, cancel: asyncio.Event | None, timeout_s: float) -> None:
        self.signal = RunSignal(cancel)
        self._cancel, self._timeout_s = cancel, timeout_s
        self._crew = Crew()
        self._lanes: list[Lane] = []

    async def see_through(self, work: Coroutine[Any, Any, None], on_give_up: Callable[[], None]) -> None:
        """Await what makes lives live, then leave no task behind.

        Where it breaks off, or whoever awaits this is cancelled, ``on_give_up`` is called and open sessions are closed.
        """
        watch = self._crew.spawn(self._watch_cancel(self._cancel)) if self._cancel is not None else None
        closing_s = 0.0
        try:
            await work
            await self._crew.finish_errands(self._timeout_s)
        except BaseException:
            closing_s = CLOSING_S
            on_give_up()
            self.stop(Outlasts.ABANDONMENT)
            raise
        finally:
            if watch is not None:
                watch.cancel()
            await self._crew.disband(closing_s=closing_s, patience_s=PATIENCE_S)
            for lane in self._lanes:
                lane.retire()

    async def live(self, lives: Iterable[Life], next_life: Callable[[], Life | None] = lambda: None) -> None:
        """Begin each life in a lane of its own; a lane that is done takes the next. Returns when all are done."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        busy = 0

        def go_on(lane: Lane) -> None:
            nonlocal busy
            if (life := next_life()) is not None:
                lane.begin(life, go_on)
                return
            busy -= 1
            if busy == 0 and not done.done():
                done.set_result(None)

        for life, lane in zip(lives, self._spare_lanes(), strict=False):
            busy += 1
            lane.begin(life, go_on)
        if busy:
            await asyncio.wait((done, self._crew.failure), return_when=asyncio.FIRST_COMPLETED)
        if self._crew.failure.done():
            self._crew.failure.result()

    def stop(self, reason: Outlasts = Outlasts.CANCELLATION) -> None:
        """Begin nothing any more and interrupt what does not outlast the reason."""
        self.signal.set()
        for lane in self._lanes:
            lane.stop(reason)

    def _spare_lanes(self) -> Iterator[Lane]:
        yield from self._lanes
        while True:
            lane = Lane(self._crew, self.signal, self._timeout_s)
            self._lanes.append(lane)
            yield lane

    async def _watch_cancel(self, cancel: asyncio.Event) -> None:
        await cancel.wait()
        self.stop()
