"""Asking for the end of a run.

A run that waits ends at once, and so does a split run of which no shard is worked on: a free worker may be long in
coming. Whatever is worked on hears of the wish and ends by itself.
"""

from __future__ import annotations

import uuid
from typing import Literal

from django.db import transaction
from django.utils import timezone
from evalrunner.runner.parts import conclude_unjudged

from reports.models import Execution, Run, Team, User
from reports.services.attempts import refresh_attempts
from reports.services.checkpoints import write_conclusion
from reports.services.leases import Claim
from reports.services.run_changes import count_due_changes
from reports.services.run_rows import summary_of
from reports.services.run_suites import parsed_suite
from reports.services.shards import end_unwanted

CancelOutcome = Literal["cancelled", "requested", "interrupted"]
_ENDS: dict[str, CancelOutcome] = {"cancelled": "cancelled", "interrupted": "interrupted"}


class NotCancellable(Exception):
    """The run cannot be cancelled; the text is a sentence."""


def request_cancel(*, team: Team, run_pk: uuid.UUID, user: User) -> CancelOutcome:
    """Cancel a run: at once while nobody works on it ("cancelled"), else by asking its workers ("requested").

    A split run that has lost a shard already, and of which nothing is worked on, ends "interrupted". Safe to repeat.
    Raises NotCancellable when the run is not executed here or has ended.
    """
    if _wish(team, run_pk, user):
        return "cancelled"
    if not _end_what_waits(run_pk):
        return "requested"
    refresh_attempts(run_pk=run_pk)
    count_due_changes(Run.objects.filter(pk=run_pk))
    return _ENDS.get(Run.objects.values_list("status", flat=True).get(pk=run_pk), "requested")


def _wish(team: Team, run_pk: uuid.UUID, user: User) -> bool:
    """Note who wants the end; return whether that was it, as nothing had begun.

    Committed before any shard is looked at: a worker that is dealing the run out looks for it afterwards.
    """
    now = timezone.now()
    runs = Run.objects.for_team(team).filter(pk=run_pk)
    with transaction.atomic():
        # No join in here: PostgreSQL would not look at the status again after it has waited for a claim.
        is_cancelled = runs.filter(status="queued").update(status="cancelled", finished_at=now, updated_at=now) == 1
        if not is_cancelled and not runs.filter(status="running", execution__isnull=False).exists():
            raise NotCancellable(_why_not(team, run_pk))
        wish = Execution.objects.filter(pk=run_pk, cancel_requested_at=None)  # the first one who asks is named
        wish.update(cancel_requested_at=now, cancel_requested_by=user)
    return is_cancelled


def _end_what_waits(run_pk: uuid.UUID) -> bool:
    """End the waiting shards of a split run; return whether the run has ended.

    In one transaction: nobody finds a run without shards that nobody concludes. What the target would have to be asked
    for, the suite's assertions, is not: here no worker holds the run.
    """
    with transaction.atomic():
        claim = end_unwanted(run_pk)
        if claim is not None:
            _conclude(claim)
        return claim is not None or not Run.objects.filter(pk=run_pk, status="running").exists()


def _conclude(claim: Claim) -> None:
    run = Run.objects.select_related("revision").get(pk=claim.run_pk)
    write_conclusion(claim, conclude_unjudged(parsed_suite(run.revision)), summary_of(run))


def _why_not(team: Team, run_pk: uuid.UUID) -> str:
    status = Run.objects.for_team(team).filter(pk=run_pk).values_list("status", flat=True).first()
    if status is None:
        return "There is no such run."
    if status == "running":
        return "This run is not executed by this site; stop it where it runs."
    return f"The run has already ended: it is {status}."
