"""Lanes: where foreign code runs, bounded in time.

A case, like the run as a whole, lives as a coroutine that awaits nothing but ``Operation``: one call of foreign code
(an adapter, evaluators, observers). A lane drives it: it takes each operation, awaits it in the lane's task, and hands
the outcome back. As long as foreign code behaves there is one task for each case, and a call that needs no waiting
costs none.

An operation that is too slow, or has to stop because the run was cancelled, is interrupted by cancelling the task.
Code that ignores this for ``PATIENCE_S`` is left behind: a new task takes the life over and goes on with it, and
whatever the old task brings in the end is discarded. That is why a life awaits operations only: nothing of it is on
the stack of the task that may have to be left behind.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Generator
from enum import IntEnum
from typing import Any, Final, Generic, TypeAlias, TypeVar

from evalrunner.codes import CANCELLED, TIMEOUT
from evalrunner.errors import EvaluationError
from evalrunner.runner.crew import Crew
from evalrunner.runner.signals import RunSignal

PATIENCE_S: Final = 0.05

T = TypeVar("T")


class Outlasts(IntEnum):
    """What an operation is not interrupted by; its deadline holds in any case."""

    NOTHING = 0
    CANCELLATION = 1
    ABANDONMENT = 2


class Operation(Generic[T]):
    """One call of foreign code; awaiting it inside a life gives its result or raises its error.

    Too slow: EvaluationError EVALUATION_TIMEOUT; interrupted: EVALUATION_CANCELLED. ``discard`` is called with a
    result that came after that.
    """

    __slots__ = ("call", "discard", "is_bounded", "outlasts")

    def __init__(
        self,
        call: Callable[[], Awaitable[T]],
        outlasts: Outlasts = Outlasts.NOTHING,
        *,
        is_bounded: bool = True,
        discard: Callable[[T], Coroutine[Any, Any, None]] | None = None,
    ) -> None:
        self.call, self.outlasts, self.is_bounded, self.discard = call, outlasts, is_bounded, discard

    def __await__(self) -> Generator[Operation[T], T, T]:
        return (yield self)


Life: TypeAlias = Coroutine[Operation[Any], Any, None]


class InnerCancellation(Exception):
    """Foreign code cancelled something of its own and let that show; nobody cancelled the lane."""


class Lane:
    """Drives one life after another."""

    def __init__(self, crew: Crew, signal: RunSignal, timeout_s: float) -> None:
        self._crew, self._signal, self._timeout_s = crew, signal, timeout_s
        self._loop = asyncio.get_running_loop()
        self._life: Life | None = None
        self._context = crew.new_context()
        self._on_end: Callable[[Lane], None] | None = None
        self._task: asyncio.Task[None] | None = None
        self._operation: Operation[Any] | None = None
        self._interruption: str | None = None
        self._deadline = 0.0
        self._alarm: asyncio.TimerHandle | None = None
        self._patience: asyncio.TimerHandle | None = None

    def begin(self, life: Life, on_end: Callable[[Lane], None]) -> None:
        """Drive a life in a task of its own; ``on_end`` is called when it has ended."""
        self._life, self._on_end = life, on_end
        self._context = self._crew.new_context()
        self._task = self._crew.spawn(self._drive(life, None), self._context)

    def stop(self, reason: Outlasts) -> None:
        """Interrupt the operation under way, unless it outlasts the reason."""
        if self._operation is not None and self._operation.outlasts < reason:
            self._interrupt(CANCELLED)

    def retire(self) -> None:
        """Let go of everything; the lane is not used any more and its task has ended."""
        for handle in (self._alarm, self._patience):
            if handle is not None:
                handle.cancel()
        if self._life is not None:
            self._life.close()

    async def _drive(self, life: Life, error: Exception | None) -> None:
        task = asyncio.current_task()
        value: Any = None
        while True:
            try:
                operation = life.send(value) if error is None else life.throw(error)
            except StopIteration:
                break
            self._start(operation)
            value, error = await self._perform(operation)
            if self._task is not task:  # left behind meanwhile
                if operation.discard is not None and value is not None:
                    await operation.discard(value)
                return
            if (code := self._finish(operation)) is not None:
                if operation.discard is not None and value is not None:
                    self._crew.run_errand(operation.discard(value))
                value, error = None, EvaluationError(code)
        assert self._on_end is not None
        self._on_end(self)

    async def _perform(self, operation: Operation[Any]) -> tuple[Any, Exception | None]:
        try:
            return await operation.call(), None
        except Exception as error:  # isolation point: what foreign code raises is for the life to judge
            return None, error
        except asyncio.CancelledError:
            if self._interruption is None and _is_being_cancelled():
                raise
            return None, InnerCancellation()

    def _start(self, operation: Operation[Any]) -> None:
        self._operation = operation
        if operation.is_bounded:
            self._deadline = self._loop.time() + self._timeout_s
            if self._alarm is None:
                self._alarm = self._loop.call_at(self._deadline, self._on_alarm)

    def _finish(self, operation: Operation[Any]) -> str | None:
        """Give the code of an interruption, also of one that nobody had time to make, or None."""
        code, self._interruption, self._operation = self._interruption, None, None
        if code is not None:
            self._calm_down()
        elif operation.outlasts is Outlasts.NOTHING and self._signal.is_set():
            code = CANCELLED
        elif operation.is_bounded and self._loop.time() > self._deadline:
            code = TIMEOUT
        return code

    def _calm_down(self) -> None:
        """Take back the cancellation of an interruption: it has done its work."""
        assert self._task is not None
        while self._task.uncancel():
            pass
        if self._patience is not None:
            self._patience.cancel()

    def _on_alarm(self) -> None:
        """Interrupt what is overdue. One alarm serves many operations: it is set anew only when it rings."""
        self._alarm = None
        if self._operation is None or not self._operation.is_bounded:
            return
        if self._loop.time() < self._deadline:
            self._alarm = self._loop.call_at(self._deadline, self._on_alarm)
        else:
            self._interrupt(TIMEOUT)

    def _interrupt(self, code: str) -> None:
        if self._interruption is not None:
            return
        assert self._task is not None
        self._interruption = code
        self._task.cancel()
        self._patience = self._loop.call_later(PATIENCE_S, self._take_over, self._task)

    def _take_over(self, task: asyncio.Task[None]) -> None:
        if self._task is not task or self._interruption is None:
            return
        assert self._life is not None
        error = EvaluationError(self._interruption)
        self._operation = self._interruption = None
        self._crew.leave_behind(task)
        self._task = self._crew.spawn(self._drive(self._life, error), self._context)


def _is_being_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
