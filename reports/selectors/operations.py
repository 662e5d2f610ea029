"""Numbers for those who watch the site: over all teams, and about no single run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Min, Q
from django.utils import timezone

from reports.models import RUN_STATUSES, Execution, ImportJob, Run, Shard

_OPEN_SHARDS = (str(Shard.State.QUEUED), str(Shard.State.WORKING))


@dataclass(frozen=True, slots=True)
class OperatingNumbers:
    """``oldest_queued_s`` and ``oldest_import_s`` are 0 where nothing waits. Leases, of runs and of shards, count as
    expired until the dispatcher has ended them. ``shards`` are those that wait and that are worked on."""

    runs: Mapping[str, int]
    oldest_queued_s: float
    running_executions: int
    expired_leases: int
    shards: Mapping[str, int]
    import_jobs: Mapping[str, int]
    oldest_import_s: float


def operating_numbers() -> OperatingNumbers:
    now = timezone.now()
    held = Execution.objects.exclude(claim_token="")
    shards = Shard.objects.filter(state__in=_OPEN_SHARDS).aggregate(
        late=Count("pk", filter=Q(lease_expires_at__lt=now)),
        **{state: Count("pk", filter=Q(state=state)) for state in _OPEN_SHARDS},
    )
    return OperatingNumbers(
        runs=dict.fromkeys(RUN_STATUSES, 0)
        | dict(Run.objects.order_by().values_list("status").annotate(number=Count("pk"))),
        oldest_queued_s=_age_s(Run.objects.filter(status="queued").aggregate(at=Min("created_at"))["at"], now),
        running_executions=held.count(),
        expired_leases=held.filter(lease_expires_at__lt=now).count() + shards.pop("late"),
        shards=shards,
        import_jobs=dict.fromkeys(ImportJob.State.values, 0)
        | dict(ImportJob.objects.order_by().values_list("state").annotate(number=Count("pk"))),
        oldest_import_s=_age_s(
            ImportJob.objects.filter(state=ImportJob.State.QUEUED).aggregate(at=Min("created_at"))["at"], now
        ),
    )


def _age_s(at: datetime | None, now: datetime) -> float:
    return 0.0 if at is None else max(0.0, (now - at).total_seconds())
