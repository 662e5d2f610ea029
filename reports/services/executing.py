"""Executing a run in this process: claim, run the evaluation, store every checkpoint, say how it ended.

Nothing here is repeated by itself. What can end a run: its last checkpoint, a refusal before the first one
(``rejected``), a checkpoint that cannot be stored or a defect (``interrupted``, with a code), the end of this process
(``interrupted``, once its lease has run out).
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Callable
from dataclasses import asdict

from evalrunner import run_evaluation
from evalrunner.errors import EvaluationError
from evalrunner.events import EvaluationCheckpoint, EventType, RunEvent

from reports.domain.alarm import EarlyAlarm
from reports.runnable.entries import RunnableAdapter
from reports.services.assignments import Assignment, Unassignable, assign
from reports.services.checkpoints import CheckpointStore
from reports.services.event_loop import run_to_end
from reports.services.executing_shards import WORKER_FAILED, begin_in_shards
from reports.services.harness_runs import HarnessReach, run_harness
from reports.services.leases import LeaseLost, claim_run
from reports.services.storing import StoringThread, see_to_end

log = logging.getLogger(__name__)


def execute_run(*, run_pk: uuid.UUID) -> None:
    """Execute a queued run to its end; a run that is not queued (any more) is left alone."""
    claim = claim_run(run_pk=run_pk)
    if claim is None:
        return
    store = CheckpointStore(claim)
    try:
        assignment = assign(run_pk)
    except Unassignable as refusal:
        store.reject(refusal.code, (), str(refusal))
        return
    except Exception:  # isolation point: the host's configuration and code are read here
        log.exception("run %s could not begin", run_pk)
        store.reject(WORKER_FAILED, (), "its worker failed before it could begin; the worker's log says why")
        return
    try:
        if assignment.options.shards > 1 and isinstance(assignment.reach, RunnableAdapter):
            begin_in_shards(store, assignment, assignment.reach)
        else:
            run_to_end(_Execution(store, assignment).run())
    except LeaseLost:
        log.warning("run %s: another process has ended this claim", run_pk)


class _Execution:
    """One run of an assignment, whole."""

    def __init__(self, store: CheckpointStore, assignment: Assignment) -> None:
        self.store = store
        self.assignment = assignment
        self.cancel = asyncio.Event()
        self.alarm: EarlyAlarm | None = None
        self.thread = StoringThread()
        self.latest: EvaluationCheckpoint | None = None

    async def run(self) -> None:
        await see_to_end(self.store, self.thread, self.cancel, self._evaluate, minutes=self.assignment.minutes)

    async def _evaluate(self) -> Callable[[], None]:
        """Run the evaluation and return what stores its end."""
        store, reach = self.store, self.assignment.reach
        try:
            if isinstance(reach, HarnessReach):
                await self._run_harness(reach)
            else:
                await self._run_suite(reach)
        except EvaluationError as error:
            code, paths = error.code, error.paths
            return lambda: store.interrupt(code) if self.latest is not None else store.reject(code, paths)
        except Exception:  # isolation point: a defect must not leave the run without an end
            log.exception("run %s broke off", store.claim.run_pk)
            return lambda: store.interrupt(WORKER_FAILED)
        return store.finish

    async def _run_suite(self, reach: RunnableAdapter) -> None:
        await run_evaluation(
            suite=self.assignment.suite,
            target=self.assignment.target,
            adapter=reach.adapter,
            evaluators=reach.evaluators,
            **asdict(self.assignment.options.of_runner),
            cancel=self.cancel,
            on_checkpoint=self._on_checkpoint,
            on_event=self._on_event,
            resume=self.assignment.previous,
            retry_failed=self.assignment.retries,
        )

    async def _run_harness(self, reach: HarnessReach) -> None:
        await run_harness(
            run_pk=self.store.claim.run_pk,
            suite=self.assignment.suite,
            target=self.assignment.target,
            reach=reach,
            options=self.assignment.options,
            cancel=self.cancel,
            on_checkpoint=self._on_checkpoint,
            on_event=self._on_event,
        )

    async def _on_checkpoint(self, checkpoint: EvaluationCheckpoint) -> None:
        self.latest = checkpoint
        await self.thread.do(self.store.persist, checkpoint)

    async def _on_event(self, event: RunEvent) -> None:
        if event.type == EventType.RUN_STARTED and self.assignment.options.early_alarm and self.latest is not None:
            self.alarm = EarlyAlarm(self.latest.summary.pending)  # of a resumed run some cases have ended before
        if event.type != EventType.CASE_COMPLETED or self.alarm is None:
            return
        assert self.latest is not None and event.case_index is not None  # its checkpoint came first
        reason = self.alarm.note(self.latest.cases[event.case_index])
        if reason is not None and not self.cancel.is_set():
            await self.thread.do(self.store.note_stop, reason)
            self.cancel.set()
