"""Executing a run in this process: claim, run the evaluation, store every checkpoint, say how it ended.

Nothing here is repeated by itself. What can end a run: its last checkpoint, a refusal before the first one
(``rejected``), a checkpoint that cannot be stored or a defect (``interrupted``, with a code), the end of this process
(``interrupted``, once its lease has run out).
"""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from django.db import DatabaseError, InterfaceError, connection
from evalrunner import parse_evaluation_report, parse_evaluation_suite, run_evaluation
from evalrunner.errors import RESUME_INVALID, EvaluationError
from evalrunner.events import EvaluationCheckpoint, EventType, RunEvent
from evalrunner.jsontext import parse_json
from evalrunner.models import EvaluationReport, EvaluationSuite

from reports.domain.alarm import EarlyAlarm
from reports.domain.run_options import RunOptions
from reports.models import Execution
from reports.payloads import unpack
from reports.runnable import TargetEntry, TargetsFileError, TargetUnusable, find_target
from reports.runnable.entries import RunnableAdapter
from reports.runnable.harness import HarnessMaker
from reports.services.checkpoints import CheckpointStore
from reports.services.collector import collector_paused
from reports.services.event_loop import run_to_end
from reports.services.export import NoReportError, iter_report_json
from reports.services.harness_requests import make_harness_reach
from reports.services.harness_runs import HarnessReach, run_harness
from reports.services.heartbeat import Heartbeat
from reports.services.leases import LeaseLost, claim_run
from reports.text import restored

TARGET_UNUSABLE = "TARGET_UNUSABLE"
TARGET_CHANGED = "TARGET_FINGERPRINT_CHANGED"
WORKER_FAILED = "WORKER_FAILED"
STORE_PATIENCE_S = 120.0  # for a database that is away when the end of a run is to be stored
PAUSE_S = 1.0

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Assignment:
    """All that an execution needs, read before it begins. ``previous`` is the report that it resumes or retries."""

    suite: EvaluationSuite
    target: dict[str, str]
    reach: RunnableAdapter | HarnessReach
    options: RunOptions
    minutes: int | None
    previous: EvaluationReport | None = None
    retries: bool = False


class Unassignable(Exception):
    """The run cannot begin here; ``code`` is stable, the text a sentence."""

    def __init__(self, code: str, sentence: str) -> None:
        self.code = code
        super().__init__(sentence)


def execute_run(*, run_pk: uuid.UUID) -> None:
    """Execute a queued run to its end; a run that is not queued (any more) is left alone."""
    claim = claim_run(run_pk=run_pk)
    if claim is None:
        return
    store = CheckpointStore(claim)
    try:
        assignment = _assign(store)
    except Unassignable as refusal:
        store.reject(refusal.code, (), str(refusal))
        return
    except Exception:  # isolation point: the host's configuration and code are read here
        log.exception("run %s could not begin", run_pk)
        store.reject(WORKER_FAILED, (), "its worker failed before it could begin; the worker's log says why")
        return
    try:
        run_to_end(_Execution(store, assignment).run())
    except LeaseLost:
        log.warning("run %s: another process has ended this claim", run_pk)


def _assign(store: CheckpointStore) -> Assignment:
    """Read what was asked for and make what reaches the target. Raises Unassignable."""
    executions = Execution.objects.select_related("run__version__target", "run__revision", "continues__revision")
    execution = executions.get(pk=store.claim.run_pk)
    version = execution.run.version
    fingerprint = restored(version.fingerprint)
    try:
        entry = find_target(execution.target_name)
        if entry is None:
            raise TargetUnusable(f"no target {execution.target_name!r} is registered here")
        suite = parse_evaluation_suite(unpack(execution.run.revision.definition))
        reach = _reach(entry, fingerprint, suite, execution)
        _refuse_another_version(entry, fingerprint)
    except (TargetUnusable, TargetsFileError) as error:
        raise Unassignable(TARGET_UNUSABLE, str(error)) from error
    return Assignment(
        suite=suite,
        target={"id": restored(version.target.target_id), "fingerprint": fingerprint},
        reach=reach,
        options=RunOptions.from_data(execution.request),
        minutes=entry.limits.minutes,
        previous=_previous_report(execution),
        retries=execution.verb == Execution.Verb.RETRY,
    )


def _reach(
    entry: TargetEntry, fingerprint: str, suite: EvaluationSuite, execution: Execution
) -> RunnableAdapter | HarnessReach:
    if isinstance(entry.maker, HarnessMaker):
        was_offered = execution.request.get("is_offered") is True
        return make_harness_reach(entry, entry.maker, suite, was_offered=was_offered)
    return entry.make(fingerprint)


def _previous_report(execution: Execution) -> EvaluationReport | None:
    """Read the report that is to go on. Raises Unassignable where it is gone, or cannot be read."""
    if execution.verb == Execution.Verb.RUN:
        return None
    if execution.continues is None:
        raise Unassignable(RESUME_INVALID, "the run that it goes on from was deleted")
    try:
        with collector_paused():
            return parse_evaluation_report(parse_json(b"".join(iter_report_json(execution.continues))))
    except NoReportError as error:
        raise Unassignable(RESUME_INVALID, str(error)) from error
    except EvaluationError as error:
        raise Unassignable(error.code, f"the report of the earlier run cannot be read: {error}") from error


def _refuse_another_version(entry: TargetEntry, fingerprint: str) -> None:
    """A report must not name a version that is not there any more: found anew where it can be found."""
    if entry.fingerprint_source().kind in ("command", "env"):
        found = entry.find_fingerprint("")
        if found != fingerprint:
            sentence = f"the target is now at {found!r}, the run was asked for {fingerprint!r}"
            raise Unassignable(TARGET_CHANGED, sentence)


class _Execution:
    """One run of an assignment. Everything stored goes through one thread of its own: the loop never waits for it."""

    def __init__(self, store: CheckpointStore, assignment: Assignment) -> None:
        self.store = store
        self.assignment = assignment
        self.cancel = asyncio.Event()
        self.alarm: EarlyAlarm | None = None
        self.threads = ThreadPoolExecutor(1, thread_name_prefix="checkpoints")
        self.latest: EvaluationCheckpoint | None = None

    async def run(self) -> None:
        loop = asyncio.get_running_loop()

        def stop(reason: str) -> None:
            if reason:
                self.threads.submit(self.store.note_stop, reason)
            loop.call_soon_threadsafe(self.cancel.set)

        try:
            with Heartbeat(self.store.claim, stop, minutes=self.assignment.minutes):
                ending = await self._evaluate()
                await self._in_thread(_patiently, ending)
        finally:
            self.threads.submit(_close_connection)
            self.threads.shutdown(wait=True)

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
        options = self.assignment.options
        await run_evaluation(
            suite=self.assignment.suite,
            target=self.assignment.target,
            adapter=reach.adapter,
            evaluators=reach.evaluators,
            scenario_ids=options.scenario_ids,
            tags=options.tags,
            concurrency=options.concurrency,
            repetitions=options.repetitions,
            max_cases=options.max_cases,
            max_failures=options.max_failures,
            timeout_ms=options.timeout_ms,
            cancel=self.cancel,
            allow_external_writes=options.allow_external_writes,
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
        await self._in_thread(self.store.persist, checkpoint)

    async def _on_event(self, event: RunEvent) -> None:
        if event.type == EventType.RUN_STARTED and self.assignment.options.early_alarm and self.latest is not None:
            self.alarm = EarlyAlarm(self.latest.summary.pending)  # of a resumed run some cases have ended before
        if event.type != EventType.CASE_COMPLETED or self.alarm is None:
            return
        assert self.latest is not None and event.case_index is not None  # its checkpoint came first
        reason = self.alarm.note(self.latest.cases[event.case_index])
        if reason is not None and not self.cancel.is_set():
            await self._in_thread(self.store.note_stop, reason)
            self.cancel.set()

    async def _in_thread(self, work: Callable[..., None], *arguments: Any) -> None:
        await asyncio.get_running_loop().run_in_executor(self.threads, work, *arguments)


def _close_connection() -> None:
    connection.close()  # named in here: the name stands for the connection of the thread that looks it up


def _patiently(work: Callable[[], None]) -> None:
    """Store the end of a run, waiting for a database that is away; in the end the lease tells what happened."""
    until = time.monotonic() + STORE_PATIENCE_S
    while True:
        try:
            return work()
        except (DatabaseError, InterfaceError):
            connection.close()
            if time.monotonic() > until:
                raise
            time.sleep(PAUSE_S)
