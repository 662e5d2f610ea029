"""A run that is split: begun in one process, worked on in parts by several, concluded by one.

    plan = plan_evaluation(...)             store plan.first_checkpoint()
    for places in deal(plan.open_places(), 4):
        part = plan_part(...)               in as many processes as there are
        await work_on_cases(part, ...)      store each change of a case
    await conclude_evaluation(...)          once, when all parts have ended

The cases end as they would in one ``run_evaluation``, which is made of the same pieces. What the parts share, whoever
splits the run brings to all of them: the wish to cancel, and how many cases have failed so far.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from evalrunner.assertions import Evaluators
from evalrunner.codes import OBSERVER_FAILED
from evalrunner.errors import EvaluationError
from evalrunner.events import RunEvent
from evalrunner.models import EvaluationCase, EvaluationSuite, EvaluationSummary
from evalrunner.runner.conclusion import Conclusion, conclude_unjudged, final_status, judge_run, now_text
from evalrunner.runner.lane_group import LaneGroup
from evalrunner.runner.plan import Part, Plan, RunnerOptions, deal, plan_evaluation, plan_part
from evalrunner.runner.publisher import OnEvent, Publisher
from evalrunner.runner.work import CaseWork

__all__ = [
    "CaseChange",
    "Conclusion",
    "Part",
    "Plan",
    "RunnerOptions",
    "conclude_evaluation",
    "conclude_unjudged",
    "deal",
    "plan_evaluation",
    "plan_part",
    "work_on_cases",
]


@dataclass(frozen=True, slots=True)
class CaseChange:
    """The new state of one case of a part, and the event that it stands before."""

    case: EvaluationCase
    event: RunEvent


OnChange: TypeAlias = Callable[[CaseChange], Awaitable[None] | None]


class _PartJournal:
    """Passes each change on and keeps none."""

    def __init__(self, run_id: str) -> None:
        self.run_id = run_id
        self._latest: EvaluationCase | None = None

    def record(self, index: int, case: EvaluationCase) -> None:
        self._latest = case

    def snapshot(self, event: RunEvent) -> CaseChange:
        assert self._latest is not None  # a part publishes nothing but changes of cases
        return CaseChange(self._latest, event)


async def work_on_cases(
    part: Part,
    *,
    on_change: OnChange,
    on_event: OnEvent | None = None,
    cancel: asyncio.Event | None = None,
    failures: Callable[[], int] | None = None,
) -> None:
    """Hold the conversations of a part, ``concurrency`` at once.

    ``on_change`` gets each new state of a case before its event, as ``on_checkpoint`` does in a run; events count from
    1 in each part, and ``case_index`` is the place in the report. ``failures`` tells how many cases of the whole run
    have failed or ended in error so far; it is asked before each case, and none begins at ``max_failures``. ``cancel``
    ends the part early; a part says nothing about how the run ends. Raises EVALUATION_OBSERVER_FAILED.
    """
    lanes = LaneGroup(cancel, part.limits.timeout_ms / 1000)
    publisher = Publisher(_PartJournal(part.run_id), on_change, on_event, lanes.stop)
    work = CaseWork(
        lanes,
        publisher,
        run_id=part.run_id,
        adapter=part.adapter,
        evaluators=part.evaluators,
        limits=part.limits,
        cases=part.cases,
        state_of=part.states.__getitem__,
        todo=part.cases,
        failures=failures,
    )
    await lanes.see_through(work.work(), publisher.halt)
    if publisher.has_failed:
        raise EvaluationError(OBSERVER_FAILED)


async def conclude_evaluation(
    *,
    suite: EvaluationSuite,
    summary: EvaluationSummary,
    cases: Sequence[EvaluationCase],
    evaluators: Evaluators,
    timeout_ms: int,
    is_cancelled: bool,
) -> Conclusion:
    """End a run whose parts have all ended: its status, and the suite's assertions over the whole report.

    ``cases`` may be empty where the suite has no assertions: nobody looks at them then. ``is_cancelled`` tells whether
    somebody wanted the run to end early.
    """
    status = final_status(summary, is_cancelled=is_cancelled)
    made: list[Conclusion] = []

    async def judge() -> None:
        results = await judge_run(suite, status, summary, cases, evaluators)
        made.append(Conclusion(status, now_text(), results))

    lanes = LaneGroup(None, timeout_ms / 1000)
    await lanes.see_through(lanes.live([judge()]), lambda: None)
    return made[0]
