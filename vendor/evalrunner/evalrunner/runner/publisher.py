"""Checkpoints and events go out here, one at a time and in order."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Protocol, TypeAlias

from evalrunner.errors import EvaluationError
from evalrunner.events import EvaluationCheckpoint, EventType, RunEvent
from evalrunner.models import EvaluationCase
from evalrunner.runner.lanes import Operation, Outlasts

OnCheckpoint: TypeAlias = Callable[[EvaluationCheckpoint], Awaitable[None] | None]
OnEvent: TypeAlias = Callable[[RunEvent], Awaitable[None] | None]


class Record(Protocol):
    """Where transitions are recorded before anybody hears of them."""

    @property
    def run_id(self) -> str: ...

    def record(self, index: int, case: EvaluationCase) -> None:
        """Take over the new state of one case."""

    def snapshot(self, event: RunEvent) -> Any:
        """Freeze what observers see before an event."""


class Halted(Exception):
    """Nothing is published any more: an observer failed, or the caller gave the run up."""


class Publisher:
    """Records each transition and tells the observers of it.

    Without observers no snapshot is ever made. Once an observer has failed nothing more goes out.
    """

    def __init__(
        self,
        journal: Record,
        on_checkpoint: Callable[[Any], Awaitable[None] | None] | None,
        on_event: OnEvent | None,
        on_failure: Callable[[], None],
    ) -> None:
        self._journal, self._on_checkpoint, self._on_event = journal, on_checkpoint, on_event
        self._on_failure = on_failure
        self.is_observed = on_checkpoint is not None or on_event is not None
        self.is_halted = False
        self.has_failed = False
        self._sequence = 0
        self._turn = asyncio.Lock()

    async def publish(
        self,
        type: EventType,
        index: int | None = None,
        case: EvaluationCase | None = None,
        step_id: str | None = None,
    ) -> None:
        """Record a case and tell of it; part of a life. Returns when the observers are done, or raises Halted."""
        if not self.is_observed:
            self._record(index, case)
            return
        await self._wait_for_turn()
        try:
            self._record(index, case)
            self._sequence += 1
            run_id, case_id = self._journal.run_id, case.id if case is not None else None
            event = RunEvent(self._sequence, type, run_id, case_id, index, step_id)
            await self._deliver(event)
        finally:
            self._turn.release()

    def halt(self) -> None:
        """Publish nothing from now on."""
        self.is_halted = True

    async def _wait_for_turn(self) -> None:
        if self.is_halted:
            raise Halted
        try:
            await Operation(self._turn.acquire, Outlasts.CANCELLATION, is_bounded=False)
        except EvaluationError:
            raise Halted from None

    def _record(self, index: int | None, case: EvaluationCase | None) -> None:
        if self.is_halted:
            raise Halted
        if index is not None and case is not None:
            self._journal.record(index, case)

    async def _deliver(self, event: RunEvent) -> None:
        try:
            await Operation(partial(self._notify, event), Outlasts.CANCELLATION)
        except Exception:  # isolation point: observers are foreign code; too slow is as bad as broken
            if not self.is_halted:
                self.is_halted = self.has_failed = True
                self._on_failure()
            raise Halted from None

    async def _notify(self, event: RunEvent) -> None:
        if self._on_checkpoint is not None:
            await _settled(self._on_checkpoint(self._journal.snapshot(event)))
        if self._on_event is not None:
            await _settled(self._on_event(event))


async def _settled(answer: Awaitable[None] | None) -> None:
    if inspect.isawaitable(answer):
        await answer
