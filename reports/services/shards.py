"""The shards of a run that is split over several workers: made when it begins, ended one by one, followed by its end.

A shard that ends looks, in the transaction that ends it, whether it was the last one. The lock of the run's row lets
one look at a time, so exactly one sees that nothing is left: it takes the run over to conclude it. Where a shard broke
off, or its worker vanished, the others go on, and the run ends ``interrupted``.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet, Sum
from django.utils import timezone

from reports.domain.run_options import RunOptions
from reports.models import Execution, Run, Shard
from reports.payloads import pack, unpack
from reports.services.attempts import refresh_attempts
from reports.services.leases import Claim, release, take_run
from reports.services.messages import EXECUTE_SHARD, tell_after_commit
from reports.services.run_changes import mark_affected
from reports.text import storable

_UNFINISHED = (Shard.State.QUEUED, Shard.State.WORKING)


def make_shards(claim: Claim, parts: Iterable[Sequence[int]]) -> None:
    """Deal places of cases out to workers and give the run's claim back; part of the caller's transaction.

    From now on the run is held by its shards. Raises LeaseLost.
    """
    shards = [
        Shard(execution_id=claim.run_pk, number=number, places=pack(list(places)), case_count=len(places))
        for number, places in enumerate(parts)
    ]
    release(claim)
    Shard.objects.bulk_create(shards)
    made = Shard.objects.filter(execution=claim.run_pk).order_by("number")
    for shard_pk in made.values_list("pk", flat=True):
        tell_after_commit(EXECUTE_SHARD, shard_pk)


def places_of(claim: Claim) -> Sequence[int]:
    """Return the places of a claimed shard's cases in the report, in order."""
    held = Shard.objects.filter(claim_token=claim.token, execution=claim.run_pk)
    places: Sequence[int] = unpack(held.values_list("places", flat=True).get())
    return places


def waiting_shards(*, before: datetime, limit: int = 200) -> Sequence[int]:
    """Return the shards of all runs that have waited since before a moment, oldest first."""
    waiting = Shard.objects.filter(state=Shard.State.QUEUED, created_at__lte=before).order_by("created_at", "pk")
    return list(waiting.values_list("pk", flat=True)[:limit])


def total_failures(run_pk: uuid.UUID) -> int:
    """Return how many cases of a split run have failed or ended in error so far."""
    return Shard.objects.filter(execution=run_pk).aggregate(total=Sum("failures"))["total"] or 0


def lock_run(run_pk: uuid.UUID, **columns: object) -> None:
    """Store columns of a run; until the caller's transaction ends nobody else does, nor adds an event to it."""
    Run.objects.filter(pk=run_pk).update(updated_at=timezone.now(), **columns)


# ---------------------------------------------------------------------------------------------------------------- ends


def end_shard(claim: Claim, *, error_code: str = "") -> Claim | None:
    """Give a shard back, ended, or broken off with a code.

    Returns the claim of the run where it now has to be concluded. Raises LeaseLost.
    """
    state = Shard.State.BROKEN if error_code else Shard.State.ENDED
    with transaction.atomic():
        release(claim, state=state, error_code=storable(error_code))
        return _look_for_the_end(claim.run_pk)


def end_unwanted(run_pk: uuid.UUID) -> Claim | None:
    """End the shards that wait where the run is to stop; return the run's claim where nothing was worked on either.

    None where something is: its end is that of the run. Part of the caller's transaction. A shard that a worker claims
    at this moment is either the worker's or ended here.
    """
    if not _waiting(run_pk).exists() or not _is_to_stop(run_pk):
        return None
    lock_run(run_pk)
    return _end_if_last(run_pk) if _end_waiting(run_pk) else None  # else somebody else has ended them, and looked


def expire_shards() -> int:
    """End the claims of workers that show no sign of life; return how many shards were lost."""
    late = Shard.objects.filter(lease_expires_at__lt=timezone.now())
    return sum(_expire(*row) for row in list(late.values_list("pk", "execution_id")))


def _expire(shard_pk: int, run_pk: uuid.UUID) -> int:
    with transaction.atomic():
        late = Shard.objects.filter(pk=shard_pk, lease_expires_at__lt=timezone.now())  # it may have been renewed
        if late.update(claim_token="", lease_expires_at=None, state=Shard.State.LOST) != 1:
            return 0
        _look_for_the_end(run_pk)
    return 1


def _look_for_the_end(run_pk: uuid.UUID) -> Claim | None:
    """End the run where its last shard has ended; return its claim where it is to be concluded.

    Part of the transaction that ended a shard: the run's lock lets those of other shards look one after the other.
    """
    lock_run(run_pk)
    if _is_to_stop(run_pk):
        _end_waiting(run_pk)
    return _end_if_last(run_pk)


def _waiting(run_pk: uuid.UUID) -> QuerySet[Shard]:
    return Shard.objects.filter(execution=run_pk, state=Shard.State.QUEUED)


def _end_waiting(run_pk: uuid.UUID) -> int:
    """End what waits; return how many shards did. Whoever claims one at this moment finds it ended, or had it first."""
    return _waiting(run_pk).update(state=Shard.State.ENDED)


def _end_if_last(run_pk: uuid.UUID) -> Claim | None:
    states = Counter(Shard.objects.filter(execution=run_pk).values_list("state", flat=True))
    if any(states[state] for state in _UNFINISHED):
        return None
    if states[Shard.State.BROKEN] or states[Shard.State.LOST]:
        _interrupt(run_pk)
        return None
    return take_run(run_pk=run_pk)


def _is_to_stop(run_pk: uuid.UUID) -> bool:
    """Tell whether no further case may begin: what waits need not be given to a worker any more."""
    execution = Execution.objects.only("cancel_requested_at", "stop_reason", "request").get(pk=run_pk)
    most = RunOptions.from_data(execution.request).max_failures
    return is_ended_early(execution) or total_failures(run_pk) >= most


def is_ended_early(execution: Execution) -> bool:
    """Tell whether somebody, or the site itself, wanted the run to end before all is done."""
    return execution.cancel_requested_at is not None or execution.stop_reason != ""


def _interrupt(run_pk: uuid.UUID) -> None:
    codes = Shard.objects.filter(execution=run_pk, state=Shard.State.BROKEN).order_by("number")
    code = codes.values_list("error_code", flat=True).first() or ""
    Execution.objects.filter(pk=run_pk).update(error_code=code)
    Run.objects.filter(pk=run_pk, status="running").update(status="interrupted", updated_at=timezone.now())
    mark_affected(run_pk=run_pk)
    transaction.on_commit(lambda: refresh_attempts(run_pk=run_pk))
