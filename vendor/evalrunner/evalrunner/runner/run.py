"""One run in one process: its first snapshot, the work on its cases, and its end."""

from __future__ import annotations

import asyncio

from evalrunner.codes import OBSERVER_FAILED
from evalrunner.errors import EvaluationError
from evalrunner.events import EventType
from evalrunner.models import EvaluationReport
from evalrunner.runner.conclusion import final_status, judge_run, now_text
from evalrunner.runner.journal import Journal
from evalrunner.runner.lane_group import LaneGroup
from evalrunner.runner.plan import Plan
from evalrunner.runner.publisher import Halted, OnCheckpoint, OnEvent, Publisher
from evalrunner.runner.work import CaseWork


class Run:
    """Executes a plan once, inside a running event loop."""

    def __init__(
        self,
        plan: Plan,
        cancel: asyncio.Event | None,
        on_checkpoint: OnCheckpoint | None,
        on_event: OnEvent | None,
    ) -> None:
        self._suite, self._evaluators = plan.head.suite, plan.evaluators
        self._lanes = LaneGroup(cancel, plan.limits.timeout_ms / 1000)
        self._journal = Journal(plan.head, (case for case, _ in plan.states))
        self._publisher = Publisher(self._journal, on_checkpoint, on_event, self._lanes.stop)
        self._work = CaseWork(
            self._lanes,
            self._publisher,
            run_id=plan.head.run_id,
            adapter=plan.adapter,
            evaluators=plan.evaluators,
            limits=plan.limits,
            cases=plan.cases,
            state_of=lambda place: self._journal.cases[place],
            todo=plan.open_places(),
        )

    async def execute(self) -> EvaluationReport:
        """Work through the plan and give the final report.

        Raises EVALUATION_OBSERVER_FAILED if an observer failed. If the caller is cancelled meanwhile, open sessions are
        closed and no task is left.
        """
        await self._lanes.see_through(self._go_through(), self._publisher.halt)
        if self._publisher.has_failed:
            raise EvaluationError(OBSERVER_FAILED)
        return self._journal.report()

    async def _go_through(self) -> None:
        await self._lanes.live([self._start()])
        await self._work.work()
        await self._lanes.live([self._conclude()])

    async def _start(self) -> None:
        try:
            await self._publisher.publish(EventType.RUN_STARTED)
        except Halted:
            return

    async def _conclude(self) -> None:
        summary = self._journal.summarise()
        status = final_status(summary, is_cancelled=self._lanes.signal.is_set())
        if self._publisher.is_halted:
            return
        results = await judge_run(self._suite, status, summary, self._journal.cases, self._evaluators)
        self._journal.conclude(status, now_text(), results)
        try:
            await self._publisher.publish(EventType.RUN_COMPLETED)
        except Halted:
            return
