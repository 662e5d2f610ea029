"""One run: scheduling of cases, cancellation, and its end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

from evalrunner.assertions import EvaluationContext, Evaluators, evaluate_all
from evalrunner.codes import OBSERVER_FAILED, TIMEOUT
from evalrunner.data import FrozenDict, freeze_object
from evalrunner.errors import EvaluationError
from evalrunner.events import EventType
from evalrunner.models import (
    AssertionResult,
    CaseStatus,
    EvaluationCase,
    EvaluationReport,
    ExpandedCase,
    RunStatus,
)
from evalrunner.runner.conversation import Conversation, close_late
from evalrunner.runner.crew import Crew
from evalrunner.runner.journal import Journal, ReportHead
from evalrunner.runner.lanes import PATIENCE_S, Lane, Life, Operation, Outlasts
from evalrunner.runner.options import Limits
from evalrunner.runner.publisher import Halted, OnCheckpoint, OnEvent, Publisher
from evalrunner.runner.signals import RunSignal

CLOSING_S: Final = 10.0
"""How long a run that was given up waits for its open sessions to be closed."""

_COUNTED: Final = frozenset({CaseStatus.FAILED, CaseStatus.ERROR})


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything a run needs, checked.

    ``states`` are the cases as they stand before the run, and whether each is still to be worked on.
    """

    head: ReportHead
    cases: Sequence[ExpandedCase]
    states: Sequence[tuple[EvaluationCase, bool]]
    adapter: Any
    evaluators: Evaluators
    limits: Limits


class Run:
    """Executes a plan once, inside a running event loop."""

    def __init__(
        self,
        plan: Plan,
        cancel: asyncio.Event | None,
        on_checkpoint: OnCheckpoint | None,
        on_event: OnEvent | None,
    ) -> None:
        loop = asyncio.get_running_loop()
        self.run_id, self.limits = plan.head.run_id, plan.limits
        self.adapter, self.evaluators = plan.adapter, plan.evaluators
        self.signal = RunSignal(cancel)
        self.clock_s: Callable[[], float] = loop.time
        self._timeout_s = plan.limits.timeout_ms / 1000
        self._cancel, self._cases = cancel, plan.cases
        self._todo = iter([index for index, (_, is_open) in enumerate(plan.states) if is_open])
        self._failures = 0
        self._suite = plan.head.suite
        self._journal = Journal(plan.head, (case for case, _ in plan.states))
        self.publisher = Publisher(self._journal, on_checkpoint, on_event, self._stop)
        self._crew = Crew()
        self._lanes: list[Lane] = []

    async def execute(self) -> EvaluationReport:
        """Work through the plan and give the final report.

        Raises EVALUATION_OBSERVER_FAILED if an observer failed. If the caller is cancelled meanwhile, open sessions are
        closed and no task is left.
        """
        watch = self._crew.spawn(self._watch_cancel()) if self._cancel is not None else None
        closing_s = 0.0
        try:
            await self._live_in_lanes([self._start()])
            await self._work_through_cases()
            await self._live_in_lanes([self._conclude()])
            await self._crew.finish_errands(self._timeout_s)
        except BaseException:
            closing_s = CLOSING_S
            self.publisher.halt()
            self._stop(Outlasts.ABANDONMENT)
            raise
        finally:
            if watch is not None:
                watch.cancel()
            await self._crew.disband(closing_s=closing_s, patience_s=PATIENCE_S)
            for lane in self._lanes:
                lane.retire()
        if self.publisher.has_failed:
            raise EvaluationError(OBSERVER_FAILED)
        return self._journal.report()

    # ------------------------------------------------------------------------------------- what a conversation asks for

    def count_outcome(self, status: CaseStatus) -> None:
        """Note how a case ended; failures and errors count towards the limit."""
        self._failures += status in _COUNTED

    def close_late(self, session: Any) -> Coroutine[Any, Any, None]:
        return close_late(session, self._timeout_s)

    # ------------------------------------------------------------------------------------------------------- scheduling

    async def _work_through_cases(self) -> None:
        """Keep ``concurrency`` lanes busy until no case may be begun any more."""
        first = (self._next_case() for _ in range(self.limits.concurrency))
        await self._live_in_lanes((life for life in first if life is not None), self._next_case)

    def _next_case(self) -> Life | None:
        if self.signal.is_set() or self._failures >= self.limits.max_failures:
            return None
        index = next(self._todo, None)
        if index is None:
            return None
        return Conversation(self, index, self._cases[index], self._journal.cases[index]).live()

    async def _live_in_lanes(self, lives: Iterable[Life], next_life: Callable[[], Life | None] = lambda: None) -> None:
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

    def _spare_lanes(self) -> Iterable[Lane]:
        yield from self._lanes
        while True:
            lane = Lane(self._crew, self.signal, self._timeout_s)
            self._lanes.append(lane)
            yield lane

    # ----------------------------------------------------------------------------------------------------- cancellation

    async def _watch_cancel(self) -> None:
        assert self._cancel is not None
        await self._cancel.wait()
        self._stop()

    def _stop(self, reason: Outlasts = Outlasts.CANCELLATION) -> None:
        """Begin nothing any more and interrupt what does not outlast the reason."""
        self.signal.set()
        for lane in self._lanes:
            lane.stop(reason)

    # -------------------------------------------------------------------------------------------------- begin and end

    async def _start(self) -> None:
        try:
            await self.publisher.publish(EventType.RUN_STARTED)
        except Halted:
            return

    async def _conclude(self) -> None:
        status = self._final_status()
        results = await self._judge_run(status)
        self._journal.conclude(status, now_text(), results)
        try:
            await self.publisher.publish(EventType.RUN_COMPLETED)
        except Halted:
            return

    def _final_status(self) -> RunStatus:
        if self.signal.is_set():
            return RunStatus.CANCELLED
        return RunStatus.LIMITED if self._journal.summarise().pending else RunStatus.COMPLETED

    async def _judge_run(self, status: RunStatus) -> tuple[AssertionResult, ...]:
        """Evaluate the suite's assertions, whatever became of the run."""
        assertions = self._suite.assertions
        if not assertions or self.publisher.is_halted:
            return ()
        summary = freeze_object(self._journal.summarise().to_data())
        evidence = EvaluationContext(
            FrozenDict({"summary": summary, "status": str(status)}), (), self._journal.cases, asyncio.Event()
        )
        try:
            judging = Operation(partial(evaluate_all, assertions, evidence, self.evaluators), Outlasts.CANCELLATION)
            results: tuple[AssertionResult, ...] = await judging
        except EvaluationError:
            results = (AssertionResult("evaluation.suite", False, error_code=TIMEOUT),)
        return results


def now_text() -> str:
    """Give the moment as reports write it: ISO 8601 in UTC with milliseconds and Z."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
