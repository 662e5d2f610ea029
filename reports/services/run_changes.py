"""Keeping the change of runs against their baselines, with its verdict, so that pages and lists only read it.

Whatever makes a stored change doubtful (a run that is stored, another baseline, policy, definition or note) marks the
runs in its own transaction: from its commit on nobody shows what no longer holds. After that the marked ones are
counted: a few small ones at once, all others in batches by a worker. A run is claimed for counting by moving its mark
into the future; a mark that was renewed meanwhile stays, and the run is counted again.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from reports.models import Run, RunChange
from reports.querysets import RunQuerySet
from reports.selectors.run_changes import affected_runs, counted_run
from reports.selectors.run_verdicts import JudgedChange, ground_of, judged_change
from reports.selectors.stored_changes import outlived
from reports.selectors.verdict_rules import rules_digest
from reports.services.locks import locked_runs
from reports.services.messages import COUNT_CHANGES, tell_after_commit
from reports.services.outcomes import keep_outcomes

log = logging.getLogger(__name__)

Columns = dict[str, Any]
RUNS_AT_ONCE, CASES_AT_ONCE = 20, 20_000  # what a person waits for without noticing
RUNS_A_BATCH, CASES_A_BATCH = 50, 100_000  # after which a worker looks whether something else waits
LEASE = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class _Claim:
    """The right to count a run until ``due_at``, which its row holds meanwhile."""

    run_pk: uuid.UUID
    due_at: datetime


def mark_changes(runs: RunQuerySet[Run]) -> None:
    """Let the changes of runs be counted anew; part of the caller's transaction, followed by ``count_due_changes``."""
    marked = locked_runs(Run.objects.filter(pk__in=runs.order_by().values("pk")).at_rest())
    with transaction.atomic(savepoint=False):
        Run.objects.filter(pk__in=marked.values("pk")).update(change_due_at=timezone.now())


def mark_affected(*, run_pk: uuid.UUID) -> None:
    """Mark a run whose cases are others than before, and those whose baseline it was or may have become."""
    run = counted_run(run_pk)
    if run is not None:
        mark_changes(affected_runs(run))


def recount_changes(runs: RunQuerySet[Run]) -> None:
    """Mark runs in the caller's transaction, and count them once it is committed."""
    mark_changes(runs)
    transaction.on_commit(lambda: count_due_changes(runs))


def refresh_changes(*, run_pk: uuid.UUID) -> None:
    """Count what was marked because a run was stored: its own change whatever its size, the others as they come."""
    run = counted_run(run_pk)
    if run is not None:
        count_due_changes(Run.objects.filter(pk=run_pk), at_least=1)
        count_due_changes(affected_runs(run))


def count_due_changes(runs: RunQuerySet[Run], *, at_least: int = 0) -> None:
    """Count those of ``runs`` that wait, the newest first, and leave to a worker what would take long."""
    for claim in _claimed(runs, RUNS_AT_ONCE, CASES_AT_ONCE, at_least=at_least):
        _count(claim)
    _tell_of_next(runs)


def count_batch() -> None:
    """Count a batch of what waits in any team; a run that cannot be counted is tried again when its lease has ended."""
    for claim in _claimed(Run.objects.all(), RUNS_A_BATCH, CASES_A_BATCH, at_least=1):
        try:
            _count(claim)
        except Exception:  # isolation point: one run must not keep the others from being counted
            log.exception("the change of run %s could not be counted", claim.run_pk)
    _tell_of_next(Run.objects.all())


def mark_outlived_changes() -> None:
    """Mark the changes that stand on a note whose last day is over, or on the rules of another release."""
    mark_changes(Run.objects.filter(outlived(), change_due_at__isnull=True))


def waiting_changes(*, before: datetime) -> Sequence[uuid.UUID]:
    """Return the first of the runs whose change has waited since before a moment: one message counts a batch."""
    return list(Run.objects.all().change_due(before).values_list("pk", flat=True)[:1])


def recount_change(*, run_pk: uuid.UUID) -> None:
    """Count the change of one run whatever is stored of it."""
    claim = _Claim(run_pk, timezone.now() + LEASE)
    Run.objects.filter(pk=run_pk).update(change_due_at=claim.due_at)
    _count(claim, anew=True)


def stored_change(*, run_pk: uuid.UUID) -> Columns | None:
    """Return what is stored of a run's change; None where it has none."""
    found: Columns | None = RunChange.objects.filter(run=run_pk).values(*JudgedChange.__slots__).first()
    return found


def expected_change(*, run_pk: uuid.UUID) -> Columns | None:
    """Return what should be stored of a run's change; None where it should have none."""
    ground = ground_of(run_pk)
    return asdict(judged_change(ground)) if ground is not None else None


# -------------------------------------------------------------------------------------------------------------- claims


def _claimed(runs: RunQuerySet[Run], most_runs: int, most_cases: int, *, at_least: int) -> list[_Claim]:
    """Claim waiting runs, each by one conditional update, while their cases are few enough together."""
    now = timezone.now()
    claims: list[_Claim] = []
    cases = 0
    for pk, due_at, total in list(runs.change_due(now).values_list("pk", "change_due_at", "total")[:most_runs]):
        cases += total
        if cases > most_cases and len(claims) >= at_least:
            break
        if Run.objects.filter(pk=pk, change_due_at=due_at).update(change_due_at=now + LEASE) == 1:
            claims.append(_Claim(pk, now + LEASE))
    return claims


def _tell_of_next(runs: RunQuerySet[Run]) -> None:
    for pk in runs.change_due(timezone.now()).values_list("pk", flat=True)[:1]:
        tell_after_commit(COUNT_CHANGES, pk)


def _count(claim: _Claim, *, anew: bool = False) -> None:
    """Count one change where it stands on something else than what was counted, or anew, and take the mark away."""
    keep_outcomes(run_pk=claim.run_pk)
    ground = ground_of(claim.run_pk)
    stored = RunChange.objects.filter(run=claim.run_pk, rules=rules_digest())
    is_counted = ground is not None and stored.filter(basis=ground.basis).exists()
    found = judged_change(ground) if ground is not None and (anew or not is_counted) else None
    with transaction.atomic():
        claimed = Run.objects.filter(pk=claim.run_pk, change_due_at=claim.due_at)
        if claimed.update(change_due_at=None) != 1:
            return  # marked again while it was counted, or claimed by somebody else after the lease
        if ground is None:
            RunChange.objects.filter(run=claim.run_pk).delete()
        elif found is not None:
            columns = asdict(found)
            RunChange.objects.update_or_create(run_id=claim.run_pk, defaults=columns)
