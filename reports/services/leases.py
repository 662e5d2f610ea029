"""Who may write to a run: one worker at a time, for as long as it lives.

A worker claims a queued run by one conditional update, so a message that is delivered twice executes once. It holds the
run by a token and a lease that it renews; every write of the worker names the token. A lease that ran out is never
claimed again: the run becomes ``interrupted``, and only a person's resume, a new run, goes on.
"""

from __future__ import annotations

import secrets
import uuid
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from reports.models import Execution, Run
from reports.services.run_changes import mark_affected

LEASE_S = 30.0
BEATS_PER_LEASE = 6


class LeaseLost(Exception):
    """Another process has ended this claim: nothing may be written to the run any more."""


@dataclass(frozen=True)
class Claim:
    """The right to execute a run and to write its checkpoints."""

    run_pk: uuid.UUID
    token: str


def lease_s() -> float:
    """Return for how many seconds a claim holds without a sign of life of its worker."""
    return float(getattr(settings, "EXECUTION_LEASE_S", LEASE_S))


def claim_run(*, run_pk: uuid.UUID) -> Claim | None:
    """Claim a queued run; None when it is not queued (any more)."""
    claim = Claim(run_pk, secrets.token_hex(16))
    now = timezone.now()
    with transaction.atomic():
        if Run.objects.filter(pk=run_pk, status="queued").update(status="running", updated_at=now) != 1:
            return None
        Execution.objects.filter(pk=run_pk).update(
            claim_token=claim.token,
            claimed_at=now,
            heartbeat_at=now,
            lease_expires_at=now + timedelta(seconds=lease_s()),
        )
    return claim


def renew_lease(claim: Claim) -> None:
    """Show that the worker lives. Raises LeaseLost; inside a transaction it keeps others from ending the claim."""
    now = timezone.now()
    held = Execution.objects.filter(pk=claim.run_pk, claim_token=claim.token)
    if held.update(heartbeat_at=now, lease_expires_at=now + timedelta(seconds=lease_s())) != 1:
        raise LeaseLost


def is_cancel_requested(claim: Claim) -> bool:
    """Tell whether somebody wants the run to stop. Raises LeaseLost."""
    wishes = Execution.objects.filter(pk=claim.run_pk, claim_token=claim.token)
    wished_at = list(wishes.values_list("cancel_requested_at", flat=True)[:1])
    if not wished_at:
        raise LeaseLost
    return wished_at[0] is not None


def release(claim: Claim, **outcome: object) -> None:
    """Give the claim back, storing what else is known about the execution; part of the caller's transaction.

    Raises LeaseLost.
    """
    held = Execution.objects.filter(pk=claim.run_pk, claim_token=claim.token)
    if held.update(claim_token="", lease_expires_at=None, **outcome) != 1:
        raise LeaseLost


def expire_leases() -> int:
    """End the claims of workers that show no sign of life; return how many runs became ``interrupted``."""
    late = Execution.objects.filter(lease_expires_at__lt=timezone.now())
    return sum(_expire(run_pk) for run_pk in list(late.values_list("pk", flat=True)))


def _expire(run_pk: uuid.UUID) -> int:
    now = timezone.now()
    with transaction.atomic():
        late = Execution.objects.filter(pk=run_pk, lease_expires_at__lt=now)  # it may have been renewed meanwhile
        if late.update(claim_token="", lease_expires_at=None) != 1:
            return 0
        ended = Run.objects.filter(pk=run_pk, status="running").update(status="interrupted", updated_at=now)
        mark_affected(run_pk=run_pk)  # also of one that wrote its last checkpoint and died before it was counted
        return ended
