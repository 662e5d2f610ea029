"""Executing a run that is split over several workers: begun by one, worked on in shards, concluded by one.

Whoever claims the run stores its first checkpoint and deals its open cases out. Each shard is claimed by whatever
worker comes first and works on its cases as a run does; who ends the last one goes on to conclude the run. Nothing is
repeated by itself: a shard whose worker vanished stays as it is, and the run ends ``interrupted``.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from django.db import DatabaseError, InterfaceError, transaction
from django.utils import timezone
from evalrunner.codes import OBSERVER_FAILED
from evalrunner.errors import EvaluationError
from evalrunner.events import RunEvent
from evalrunner.models import EvaluationCase, EvaluationSummary
from evalrunner.reports import parse_evaluation_case
from evalrunner.runner.parts import (
    CaseChange,
    Conclusion,
    Part,
    conclude_evaluation,
    deal,
    plan_evaluation,
    plan_part,
    work_on_cases,
)

from reports.collector import collector_paused
from reports.domain.run_options import RunOptions
from reports.models import Case, Execution, Run
from reports.payloads import unpack
from reports.runnable.entries import RunnableAdapter
from reports.selectors.stored_reports import get_stored_case, iter_stored_cases
from reports.services.assignments import Assignment, Unassignable, assign
from reports.services.checkpoints import CheckpointStore
from reports.services.event_loop import run_to_end
from reports.services.heartbeat import Heartbeat, late_words
from reports.services.leases import Claim, LeaseLost, claim_shard, is_cancel_requested
from reports.services.run_rows import summary_of
from reports.services.shard_checkpoints import ShardStore
from reports.services.shards import end_unwanted, is_ended_early, make_shards, places_of
from reports.services.storing import StoringThread, patiently, see_to_end

WORKER_FAILED = "WORKER_FAILED"

log = logging.getLogger(__name__)


# --------------------------------------------------------------------------------------------------------------- begin


def begin_in_shards(store: CheckpointStore, assignment: Assignment, reach: RunnableAdapter) -> None:
    """Store the first checkpoint of a claimed run and leave its cases to shards. Raises LeaseLost.

    Who wants the run to end while it is dealt out finds no shards yet to end: then it is ended here.
    """
    is_dealt = True
    with Heartbeat(store.claim, lambda reason: None):  # who wants it to end is heard by the shards
        try:
            is_dealt = _deal_out(store, assignment, reach)
        except EvaluationError as error:
            code, paths = error.code, error.paths
            patiently(lambda: store.reject(code, paths))
        except (DatabaseError, InterfaceError):
            patiently(lambda: store.interrupt(OBSERVER_FAILED))
    left = patiently(partial(_end_unwanted, store.claim)) if is_dealt else store.claim
    if left is not None:
        conclude_run(left)


def _end_unwanted(claim: Claim) -> Claim | None:
    with transaction.atomic():
        return end_unwanted(claim.run_pk)


def _deal_out(store: CheckpointStore, assignment: Assignment, reach: RunnableAdapter) -> bool:
    """Return whether there was anything to deal out."""
    plan = plan_evaluation(
        suite=assignment.suite,
        target=assignment.target,
        adapter=reach.adapter,
        evaluators=reach.evaluators,
        options=assignment.options.of_runner,
        resume=assignment.previous,
        retry_failed=assignment.retries,
    )
    places = plan.open_places()
    parts = deal(places, assignment.options.shards)
    store.begin(plan.first_checkpoint(), lambda: make_shards(store.claim, parts) if places else None)
    return bool(places)


# ---------------------------------------------------------------------------------------------------------------- work


def execute_shard(*, shard_pk: int) -> None:
    """Work on the cases of a queued shard to its end; one that is not queued (any more) is left alone."""
    claim = claim_shard(shard_pk=shard_pk)
    if claim is None:
        return
    try:
        last = _worked_off(claim)
    except LeaseLost:
        log.warning("shard %s of run %s: another process has ended this claim", shard_pk, claim.run_pk)
        return
    if last is not None:
        conclude_run(last)


def _worked_off(claim: Claim) -> Claim | None:
    """Do the work of a claimed shard; return the claim of the run where this was the last one."""
    execution = Execution.objects.select_related("run").get(pk=claim.run_pk)
    options = RunOptions.from_data(execution.request)
    store = ShardStore(claim, early_alarm=options.early_alarm, max_failures=options.max_failures)
    try:
        assignment = assign(claim.run_pk, has_begun=True)
        part = _part_of(claim, execution.run, assignment)
    except (Unassignable, EvaluationError) as refusal:
        log.warning("shard %s of run %s cannot be worked on: %s", claim.shard_pk, claim.run_pk, refusal)
        code = refusal.code
        return patiently(lambda: store.end(error_code=code))
    except Exception:  # isolation point: the host's configuration and code are read here
        log.exception("shard %s of run %s could not begin", claim.shard_pk, claim.run_pk)
        return patiently(lambda: store.end(error_code=WORKER_FAILED))
    assert execution.claimed_at is not None  # the run has begun
    work = _ShardWork(store, part, assignment.minutes, (timezone.now() - execution.claimed_at).total_seconds())
    if work.may_begin():
        run_to_end(work.run())
        return work.last
    return patiently(store.end)


def _part_of(claim: Claim, run: Run, assignment: Assignment) -> Part:
    """Plan the work on a shard from what the run's first checkpoint has stored."""
    reach, head = assignment.reach, unpack(run.head)
    assert isinstance(reach, RunnableAdapter)  # only such runs are split
    places = places_of(claim)
    return plan_part(
        suite=assignment.suite,
        target=assignment.target,
        adapter=reach.adapter,
        evaluators=reach.evaluators,
        options=assignment.options.of_runner,
        run_id=head["runId"],
        fingerprint=head["fingerprint"],
        places=places,
        begun=_begun(run, set(places)),
    )


def _begun(run: Run, places: set[int]) -> dict[int, EvaluationCase]:
    """Read those of the cases at these places that have turns already, taken over from an earlier run."""
    cases = Case.objects.filter(generation=run.generation, status="pending", turn_count__gt=0).order_by("position")
    found = [place for place in cases.values_list("position", flat=True) if place in places]
    stored = (get_stored_case(run.generation_id, place) for place in found)
    return {case.position: parse_evaluation_case(case.to_data()) for case in stored if case is not None}


class _ShardWork:
    """The work on one shard. ``last`` is the run's claim, once the shard has ended as the last one."""

    def __init__(self, store: ShardStore, part: Part, minutes: int | None, elapsed_s: float) -> None:
        self._store, self._part = store, part
        self._minutes, self._elapsed_s = minutes, elapsed_s
        self._cancel = asyncio.Event()
        self._thread = StoringThread()
        self.last: Claim | None = None

    def may_begin(self) -> bool:
        """Tell whether anything may be begun; a run that has taken too long is stopped."""
        late = late_words(self._minutes, self._elapsed_s)
        if late:
            self._store.note_stop(late)
        return not late and not is_cancel_requested(self._store.claim)

    async def run(self) -> None:
        self.last = await see_to_end(
            self._store, self._thread, self._cancel, self._work, minutes=self._minutes, elapsed_s=self._elapsed_s
        )

    async def _work(self) -> Callable[[], Claim | None]:
        """Hold the conversations and return what stores the end of the shard."""
        store = self._store
        try:
            await work_on_cases(
                self._part,
                on_change=self._on_change,
                on_event=self._on_event,
                cancel=self._cancel,
                failures=lambda: store.failures,
            )
        except EvaluationError as error:
            code = error.code
            return lambda: store.end(error_code=code)
        except Exception:  # isolation point: a defect must not leave the shard without an end
            log.exception("shard %s of run %s broke off", store.claim.shard_pk, store.claim.run_pk)
            return lambda: store.end(error_code=WORKER_FAILED)
        return store.end

    async def _on_change(self, change: CaseChange) -> None:
        await self._thread.do(self._store.persist, change)

    async def _on_event(self, event: RunEvent) -> None:
        if self._store.is_stopped:
            self._cancel.set()


# ------------------------------------------------------------------------------------------------------------ conclude


@dataclass(frozen=True)
class _Ground:
    """What the end of a run is judged by; ``cases`` are read only where the suite has assertions about them."""

    assignment: Assignment
    summary: EvaluationSummary
    cases: Sequence[EvaluationCase]
    is_cancelled: bool


def conclude_run(claim: Claim) -> None:
    """End a run whose shards have all ended: its status, and the suite's assertions over all of its cases."""
    store = CheckpointStore(claim)
    try:
        with Heartbeat(claim, lambda reason: None):
            patiently(_ending(store))
    except LeaseLost:
        log.warning("run %s: another process has ended this claim", claim.run_pk)


def _ending(store: CheckpointStore) -> Callable[[], None]:
    """Return what stores the end."""
    claim = store.claim
    try:
        ground = patiently(lambda: _read_ground(claim))
        conclusion = _judged(ground)
    except (Unassignable, EvaluationError) as refusal:
        code = refusal.code
        log.warning("run %s cannot be concluded: %s", claim.run_pk, refusal)
        return lambda: store.interrupt(code)
    except Exception:  # isolation point: the host's configuration and evaluators are read here
        log.exception("run %s could not be concluded", claim.run_pk)
        return lambda: store.interrupt(WORKER_FAILED)
    return lambda: store.conclude(conclusion, ground.summary)


def _read_ground(claim: Claim) -> _Ground:
    assignment = assign(claim.run_pk, has_begun=True)
    execution = Execution.objects.select_related("run").get(pk=claim.run_pk)
    run = execution.run
    with collector_paused():
        stored = iter_stored_cases(run.generation_id) if assignment.suite.assertions else ()
        cases = [parse_evaluation_case(case.to_data(), case.position) for case in stored]
    return _Ground(assignment, summary_of(run), cases, is_ended_early(execution))


def _judged(ground: _Ground) -> Conclusion:
    assignment = ground.assignment
    made: list[Conclusion] = []
    assert isinstance(assignment.reach, RunnableAdapter)
    conclusion = conclude_evaluation(
        suite=assignment.suite,
        summary=ground.summary,
        cases=ground.cases,
        evaluators=assignment.reach.evaluators,
        timeout_ms=assignment.options.timeout_ms,
        is_cancelled=ground.is_cancelled,
    )

    async def conclude() -> None:
        made.append(await conclusion)

    run_to_end(conclude())
    return made[0]
