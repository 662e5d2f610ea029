"""Running a suite against an adapter."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping

from evalrunner.adapters.base import EvaluationAdapter
from evalrunner.assertions import Evaluators
from evalrunner.models import EvaluationReport, EvaluationSuite, EvaluationTarget
from evalrunner.runner.plan import RunnerOptions, plan_evaluation
from evalrunner.runner.publisher import OnCheckpoint, OnEvent
from evalrunner.runner.run import Run

__all__ = ["run_evaluation"]


async def run_evaluation(
    *,
    suite: EvaluationSuite | Mapping[str, object],
    target: EvaluationTarget | Mapping[str, object],
    adapter: EvaluationAdapter,
    evaluators: Evaluators | None = None,
    scenario_ids: Iterable[str] | None = None,
    tags: Iterable[str] | None = None,
    concurrency: int | None = 1,
    repetitions: int | None = 1,
    max_cases: int | None = 1000,
    max_failures: int | None = 100_000,
    timeout_ms: int | None = 120_000,
    cancel: asyncio.Event | None = None,
    allow_external_writes: bool = False,
    on_checkpoint: OnCheckpoint | None = None,
    on_event: OnEvent | None = None,
    resume: EvaluationReport | Mapping[str, object] | None = None,
    retry_failed: bool = False,
) -> EvaluationReport:
    """Hold every conversation of a suite with a target and give the report.

    ``target`` names what is evaluated (``id``) and its exact version (``fingerprint``). ``scenario_ids`` and ``tags``
    select scenarios; ``repetitions`` (1 to 100) of each variant combination make the cases, at most ``max_cases`` (up
    to 100,000). ``concurrency`` cases (1 to 32) run at once, the turns of a case one after the other. No case is begun
    after ``max_failures`` failed or error cases. ``timeout_ms`` (1 to 3,600,000) bounds each single operation: opening,
    a turn with its assertions, the final assertions of a case, those of the suite, closing, and the observers of one
    transition; it does not bound the run.

    Setting ``cancel`` ends the run early: open conversations end as ``cancelled``, the rest stays ``pending``, and the
    report can be resumed. ``on_checkpoint`` gets an immutable ``EvaluationCheckpoint`` at each transition and
    ``on_event`` its ``RunEvent`` afterwards; either may be async and is waited for (see ``evalrunner.events``).
    ``resume`` continues the report of an interrupted run with the same definition, selection, target and adapter;
    with ``retry_failed`` its failed, error, blocked and cancelled cases start afresh too. Scenarios that write to the
    outside are blocked without ``allow_external_writes``. Nothing is retried by itself.

    A failing case is a result, not an exception. Raises EvaluationError for options, suite or report that are not
    valid before anything is opened, and EVALUATION_OBSERVER_FAILED if an observer raises or is too slow. Cancelling the
    task that awaits this closes open sessions and leaves no task behind.
    """
    options = RunnerOptions(
        scenario_ids, tags, concurrency, repetitions, max_cases, max_failures, timeout_ms, allow_external_writes
    )
    plan = plan_evaluation(
        suite=suite,
        target=target,
        adapter=adapter,
        evaluators=evaluators,
        options=options,
        resume=resume,
        retry_failed=retry_failed,
        observers=(on_checkpoint, on_event),
    )
    return await Run(plan, cancel, on_checkpoint, on_event).execute()
