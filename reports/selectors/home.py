"""Reads for home: the team's targets with their newest versions, and what is running."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Max, OuterRef, Q, QuerySet, Subquery

from reports.models import CASE_STATUSES, Run, Target, Team
from reports.selectors.stored_changes import RunChangeRow
from reports.selectors.versions import VersionRow, newest_first, version_changes, version_rows

TARGETS_SHOWN = 30
VERSIONS_SHOWN = 20
GOING_SHOWN = 8


@dataclass(frozen=True, slots=True)
class TargetCard:
    """A target with its newest versions (newest first, at most 20 of ``version_count``) on the suite it ran last.

    ``change`` is how the newest version stands against its baseline: its newest run that counts, None without one.
    ``shown_pk`` is that run, or the target's newest one.
    """

    pk: int
    target_id: str
    suite_pk: int
    suite_id: str
    versions: tuple[VersionRow, ...]
    version_count: int
    last_at: datetime
    shown_pk: uuid.UUID
    change: RunChangeRow | None
    version_changes: Mapping[int, RunChangeRow]


@dataclass(frozen=True, slots=True)
class Going:
    """A run that this site executes or is about to."""

    pk: uuid.UUID
    status: str
    target_id: str
    fingerprint: str
    suite_id: str
    ordered_at: datetime
    total: int
    counts: Mapping[str, int]


def list_target_cards(*, team: Team, after: tuple[datetime, int] | None = None) -> tuple[tuple[TargetCard, ...], bool]:
    """Return targets by their newest run, TARGETS_SHOWN from the cursor on, and whether more follow."""
    newest = Run.objects.for_team(team).filter(version__target=OuterRef("pk")).newest_first()
    targets = (
        Target.objects.for_team(team)
        .annotate(last_at=Max("versions__runs__ordered_at"))
        .filter(last_at__isnull=False)
        .annotate(
            suite_pk=Subquery(newest.values("revision__suite")[:1]),
            suite_id=Subquery(newest.values("revision__suite__suite_id")[:1]),
            newest_pk=Subquery(newest.values("pk")[:1]),
        )
        .order_by("-last_at", "-pk")
    )
    if after is not None:
        targets = targets.filter(Q(last_at__lt=after[0]) | Q(last_at=after[0], pk__lt=after[1]))
    names = ("pk", "target_id", "suite_pk", "suite_id", "last_at", "newest_pk")
    found = list(targets.values(*names)[: TARGETS_SHOWN + 1])
    versions = _versions(team, {row["pk"]: row["suite_pk"] for row in found[:TARGETS_SHOWN]})
    moved = version_changes([row for rows in versions.values() for row in rows[:VERSIONS_SHOWN]])
    cards = tuple(_card(row, versions.get(row["pk"], ()), moved) for row in found[:TARGETS_SHOWN])
    return cards, len(found) > TARGETS_SHOWN


def _card(row: Mapping[str, Any], versions: tuple[VersionRow, ...], moved: Mapping[int, RunChangeRow]) -> TargetCard:
    shown = versions[:VERSIONS_SHOWN]
    own = {version.pk: moved[version.pk] for version in shown if version.pk in moved}
    change = own.get(shown[0].pk) if shown else None
    given = {name: value for name, value in row.items() if name != "newest_pk"}
    return TargetCard(
        **given,
        versions=shown,
        version_count=len(versions),
        shown_pk=change.run_pk if change else row["newest_pk"],
        change=change,
        version_changes=own,
    )


def _versions(team: Team, suites: Mapping[int, int]) -> dict[int, tuple[VersionRow, ...]]:
    """Return the versions per target, the newest first, each target on the suite given for it."""
    if not suites:
        return {}
    wanted = Q()
    for target_pk, suite_pk in suites.items():
        wanted |= Q(version__target=target_pk, revision__suite=suite_pk)
    by_target: dict[int, list[VersionRow]] = {}
    for row in version_rows(Run.objects.for_team(team).filter(wanted)):
        by_target.setdefault(row.target_pk, []).append(row)
    return {pk: newest_first(rows) for pk, rows in by_target.items()}


def list_going(*, team: Team) -> tuple[Going, ...]:
    """Return the newest runs that this site executes or has queued."""
    return tuple(_going(row) for row in _rows(_ours(team)))


def _ours(team: Team) -> QuerySet[Run]:
    return Run.objects.for_team(team).filter(status__in=("queued", "running"), execution__isnull=False).newest_first()


def _rows(runs: QuerySet[Run]) -> Sequence[dict[str, Any]]:
    names = ("version__target__target_id", "version__fingerprint", "revision__suite__suite_id")
    return list(runs.values("pk", "status", "ordered_at", "total", *names, *CASE_STATUSES)[:GOING_SHOWN])


def _going(row: Mapping[str, Any]) -> Going:
    given: dict[str, Any] = dict(row)
    counts = {status: given.pop(status) for status in CASE_STATUSES}
    return Going(
        target_id=given.pop("version__target__target_id"),
        fingerprint=given.pop("version__fingerprint"),
        suite_id=given.pop("revision__suite__suite_id"),
        counts=counts,
        **given,
    )
