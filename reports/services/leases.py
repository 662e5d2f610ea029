"""Who may write to a run, or to the cases of one of its shards: one worker at a time, for as long as it lives.

A worker claims a queued row by one conditional update, so a message that is delivered twice executes once. It holds the
row by a token and a lease that it renews; every write of the worker names the token. A lease that ran out is never
claimed again: the run becomes ``interrupted`` (a shard ``lost``), and only a person's resume, a new run, goes on.
"""

from __future__ import annotations

import secrets
import uuid
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import models, transaction
from django.utils import timezone

from reports.models import Execution, Run, Shard
from reports.services.run_changes import mark_affected

LEASE_S = 30.0
BEATS_PER_LEASE = 6


class LeaseLost(Exception):
    """Another process has ended this claim: nothing may be written to the run any more."""


@dataclass(frozen=True)
class Claim:
    """The right to execute a run and to write its checkpoints; with ``shard_pk``, to work on that shard's cases."""

    run_pk: uuid.UUID
    token: str
    shard_pk: int | None = None

    def held(self) -> models.QuerySet[Execution] | models.QuerySet[Shard]:
        """Return the row that is claimed, as long as the claim holds."""
        if self.shard_pk is None:
            return Execution.objects.filter(pk=self.run_pk, claim_token=self.token)
        return Shard.objects.filter(pk=self.shard_pk, claim_token=self.token)


def lease_s() -> float:
    """Return for how many seconds a claim holds without a sign of life of its worker."""
    return float(getattr(settings, "EXECUTION_LEASE_S", LEASE_S))


def claim_run(*, run_pk: uuid.UUID) -> Claim | None:
    """Claim a queued run; None when it is not queued (any more)."""
    now = timezone.now()
    with transaction.atomic():
        if Run.objects.filter(pk=run_pk, status="queued").update(status="running", updated_at=now) != 1:
            return None
        return take_run(run_pk=run_pk, claimed_at=now)


def take_run(*, run_pk: uuid.UUID, **columns: object) -> Claim:
    """Hold a run that nobody holds, which the caller's transaction makes sure of."""
    claim = Claim(run_pk, secrets.token_hex(16))
    Execution.objects.filter(pk=run_pk).update(**_signs_of_life(), claim_token=claim.token, **columns)
    return claim


def claim_shard(*, shard_pk: int) -> Claim | None:
    """Claim a queued shard; None when it is not queued (any more)."""
    token = secrets.token_hex(16)
    waiting = Shard.objects.filter(pk=shard_pk, state=Shard.State.QUEUED)
    signs = _signs_of_life()
    if waiting.update(state=Shard.State.WORKING, claim_token=token, claimed_at=timezone.now(), **signs) != 1:
        return None
    return Claim(Shard.objects.values_list("execution_id", flat=True).get(pk=shard_pk), token, shard_pk)


def _signs_of_life() -> dict[str, Any]:
    now = timezone.now()
    return {"heartbeat_at": now, "lease_expires_at": now + timedelta(seconds=lease_s())}


def renew_lease(claim: Claim, **columns: object) -> None:
    """Show that the worker lives, storing what else is known about the row.

    Raises LeaseLost; inside a transaction it keeps others from ending the claim.
    """
    if claim.held().update(**_signs_of_life(), **columns) != 1:
        raise LeaseLost


def is_cancel_requested(claim: Claim) -> bool:
    """Tell whether the run should stop: somebody wants it, or another shard has found a reason. Raises LeaseLost."""
    path = "" if claim.shard_pk is None else "execution__"
    wishes = list(claim.held().values_list(f"{path}cancel_requested_at", f"{path}stop_reason")[:1])
    if not wishes:
        raise LeaseLost
    (requested_at, stop_reason) = wishes[0]
    return requested_at is not None or (claim.shard_pk is not None and stop_reason != "")


def release(claim: Claim, **outcome: object) -> None:
    """Give the claim back, storing what else is known about the row; part of the caller's transaction.

    Raises LeaseLost.
    """
    if claim.held().update(claim_token="", lease_expires_at=None, **outcome) != 1:
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
