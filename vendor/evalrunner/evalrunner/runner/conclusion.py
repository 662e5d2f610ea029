"""How a run ends: its final status, and the verdict of the suite's assertions over all of its cases."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from evalrunner.assertions import EvaluationContext, Evaluators, evaluate_all
from evalrunner.codes import CANCELLED, TIMEOUT
from evalrunner.data import FrozenDict, freeze_object
from evalrunner.errors import EvaluationError
from evalrunner.models import (
    AssertionResult,
    EvaluationCase,
    EvaluationSuite,
    EvaluationSummary,
    RunStatus,
)
from evalrunner.runner.lanes import Operation, Outlasts


@dataclass(frozen=True, slots=True)
class Conclusion:
    """What the end of a run adds to its report; the times as reports write them."""

    status: RunStatus
    finished_at: str
    assertions: tuple[AssertionResult, ...]


def final_status(summary: EvaluationSummary, *, is_cancelled: bool) -> RunStatus:
    if is_cancelled:
        return RunStatus.CANCELLED
    return RunStatus.LIMITED if summary.pending else RunStatus.COMPLETED


async def judge_run(
    suite: EvaluationSuite,
    status: RunStatus,
    summary: EvaluationSummary,
    cases: Sequence[EvaluationCase],
    evaluators: Evaluators,
) -> tuple[AssertionResult, ...]:
    """Evaluate the suite's assertions, whatever became of the run; part of a life.

    The cases are looked at only where the suite has assertions.
    """
    if not suite.assertions:
        return ()
    seen = freeze_object(summary.to_data())
    evidence = EvaluationContext(FrozenDict({"summary": seen, "status": str(status)}), (), cases, asyncio.Event())
    try:
        judging = Operation(partial(evaluate_all, suite.assertions, evidence, evaluators), Outlasts.CANCELLATION)
        results: tuple[AssertionResult, ...] = await judging
    except EvaluationError:
        results = (AssertionResult("evaluation.suite", False, error_code=TIMEOUT),)
    return results


def conclude_unjudged(suite: EvaluationSuite) -> Conclusion:
    """End a cancelled run that nobody is there to judge: each assertion of its suite ends EVALUATION_CANCELLED."""
    results = (AssertionResult(each.id, False, each.label, error_code=CANCELLED) for each in suite.assertions or ())
    return Conclusion(RunStatus.CANCELLED, now_text(), tuple(results))


def now_text() -> str:
    """Give the moment as reports write it: ISO 8601 in UTC with milliseconds and Z."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
