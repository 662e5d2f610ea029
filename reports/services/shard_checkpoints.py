"""Writing down the cases of a shard while others write theirs: each change in one transaction, with its event.

What all shards write to, the counts of the run and the order of its events, comes last in a transaction and under the
lock of the run's row: it is held for a moment only, and events appear in the order of their numbers.
"""

from __future__ import annotations

from django.db import transaction
from django.db.models import F, Sum
from evalrunner.events import EventType
from evalrunner.models import EvaluationCase
from evalrunner.reports import parse_evaluation_case
from evalrunner.runner.parts import CaseChange

from reports.domain.alarm import WATCHED_CASES, EarlyAlarm, error_code_of
from reports.models import Run, RunEvent, Shard
from reports.selectors.stored_reports import get_stored_case
from reports.services.case_rows import CaseWriter
from reports.services.checkpoints import next_sequence, write_event, write_stop
from reports.services.leases import Claim, is_cancel_requested, renew_lease
from reports.services.shards import end_shard, lock_run, total_failures

_FAILURES = ("failed", "error")


class ShardStore:
    """Stores the changes of one claimed shard, in their order. Used by one thread only.

    ``failures`` are those of the whole run as of the last case that ended here; not counted where the run has no more
    than ``max_failures`` cases. ``is_stopped`` tells whether the run was to stop then, for any reason. Every method
    raises LeaseLost once the claim has ended, and then has written nothing.
    """

    def __init__(self, claim: Claim, *, early_alarm: bool, max_failures: int) -> None:
        self.claim = claim
        self.run = Run.objects.select_related("team", "generation").defer("head").get(pk=claim.run_pk)
        assert self.run.generation is not None  # shards are made with it
        self._generation = self.run.generation
        self._writer = CaseWriter(self.run.team, self._generation)
        cases = _open_cases(claim)
        self._watched = cases if early_alarm else 0
        self._are_failures_bounded = max_failures < cases
        self.failures = total_failures(claim.run_pk)
        self.is_stopped = False

    def persist(self, change: CaseChange) -> None:
        """Store the new state of a case and its event."""
        case, event = change.case, change.event
        assert event.case_index is not None
        has_ended = event.type == EventType.CASE_COMPLETED
        has_failed = has_ended and case.status in _FAILURES
        with transaction.atomic():
            renew_lease(self.claim, failures=F("failures") + int(has_failed))
            before = self._writer.replace_case(case.to_data(), event.case_index)
            lock_run(self.claim.run_pk, **_count_change(before, str(case.status)))
            write_event(self.claim.run_pk, event, next_sequence(self.claim.run_pk))
            if has_ended:
                self._look_around(case)

    def note_stop(self, reason: str) -> None:
        """Say why the site itself stops the run; the first reason stays."""
        with transaction.atomic():
            renew_lease(self.claim)
            write_stop(self.claim.run_pk, reason)

    def end(self, *, error_code: str = "") -> Claim | None:
        """Give the shard back; returns the claim of the run where it now has to be concluded."""
        return end_shard(self.claim, error_code=error_code)

    def _look_around(self, case: EvaluationCase) -> None:
        """See what the shards have done together: whether the run is to stop, and how many cases failed."""
        reason = self._early_alarm(case)
        if reason is not None:
            write_stop(self.claim.run_pk, reason)
        self.is_stopped = is_cancel_requested(self.claim)
        if self._are_failures_bounded:
            self.failures = total_failures(self.claim.run_pk)

    def _early_alarm(self, case: EvaluationCase) -> str | None:
        """Watch the first cases that end in the whole run; one that ends otherwise silences the alarm for good."""
        if not self._watched:
            return None
        ended = RunEvent.objects.filter(run=self.claim.run_pk, type=str(EventType.CASE_COMPLETED)).order_by("sequence")
        places = list(ended.values_list("position", flat=True)[: WATCHED_CASES + 1])
        if len(places) > WATCHED_CASES or error_code_of(case) is None:
            self._watched = 0
            return None
        alarm = EarlyAlarm(self._watched)
        reasons = [alarm.note(self._stored(place)) for place in places if place is not None]
        return reasons[-1]

    def _stored(self, place: int) -> EvaluationCase:
        stored = get_stored_case(self._generation.pk, place)
        assert stored is not None  # cases of a run that goes on are never removed
        return parse_evaluation_case(stored.to_data())


def _open_cases(claim: Claim) -> int:
    return Shard.objects.filter(execution=claim.run_pk).aggregate(total=Sum("case_count"))["total"] or 0


def _count_change(before: str, after: str) -> dict[str, object]:
    if before == after:
        return {}
    return {before: F(before) - 1, after: F(after) + 1}
