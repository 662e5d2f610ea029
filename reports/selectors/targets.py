"""Reads for targets: the head of one and the suites that it ran."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Max

from reports.models import Run, Target, Team


@dataclass(frozen=True, slots=True)
class TargetHead:
    """``target_id`` in stored form."""

    pk: int
    target_id: str


@dataclass(frozen=True, slots=True)
class TargetSuite:
    """A suite that a target ran; texts in stored form."""

    pk: int
    suite_id: str
    runs: int
    versions: int
    last_at: datetime


def find_target(*, team: Team, pk: int) -> TargetHead | None:
    row = Target.objects.for_team(team).filter(pk=pk).values("pk", "target_id").first()
    return TargetHead(**row) if row else None


def list_target_suites(*, team: Team, target_pk: int) -> tuple[TargetSuite, ...]:
    """Return the suites that the target ran, the one that ran last first."""
    rows = (
        Run.objects.for_team(team)
        .filter(version__target=target_pk)
        .order_by()
        .values("revision__suite_id", "revision__suite__suite_id")
        .annotate(runs=Count("pk"), versions=Count("version", distinct=True), last_at=Max("ordered_at"))
    )
    found = (
        TargetSuite(
            row["revision__suite_id"], row["revision__suite__suite_id"], row["runs"], row["versions"], row["last_at"]
        )
        for row in rows
    )
    return tuple(sorted(found, key=lambda suite: (suite.last_at, suite.pk), reverse=True))
