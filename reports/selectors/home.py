"""Reads for home: the team's targets with their newest versions, and what is running."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, F, Max, Min, Q, QuerySet, Window
from django.db.models.functions import RowNumber

from reports.models import CASE_STATUSES, Run, Target, Team, Version
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
    targets = (
        Target.objects.for_team(team)
        .annotate(last_at=Max("versions__runs__ordered_at"))
        .filter(last_at__isnull=False)
        .order_by("-last_at", "-pk")
    )
    if after is not None:
        targets = targets.filter(Q(last_at__lt=after[0]) | Q(last_at=after[0], pk__lt=after[1]))
    listed = list(targets.values("pk", "target_id", "last_at")[: TARGETS_SHOWN + 1])
    newest = _newest_runs(team, {row["pk"]: row["last_at"] for row in listed[:TARGETS_SHOWN]})
    found: list[dict[str, Any]] = [
        {**row, **newest[row["pk"]]} for row in listed[:TARGETS_SHOWN] if row["pk"] in newest
    ]
    versions, counts = _versions(team, {row["pk"]: row["suite_pk"] for row in found})
    moved = version_changes([row for rows in versions.values() for row in rows])
    cards = tuple(_card(row, versions.get(row["pk"], ()), counts.get(row["pk"], 0), moved) for row in found)
    return cards, len(listed) > TARGETS_SHOWN


def _newest_runs(team: Team, last: Mapping[int, datetime]) -> dict[int, dict[str, Any]]:
    """Return of each target its newest run and that run's suite; ``last`` tells when it started."""
    runs = Run.objects.for_team(team).filter(version__target__in=last, ordered_at__in=set(last.values()))
    columns = ("version__target", "ordered_at", "pk", "revision__suite", "revision__suite__suite_id")
    rows = runs.order_by("pk").values_list(*columns)  # the greatest id is the newest of those that began at once
    return {
        target: {"newest_pk": pk, "suite_pk": suite, "suite_id": suite_id}
        for target, at, pk, suite, suite_id in rows
        if last[target] == at
    }


def _card(
    row: Mapping[str, Any], shown: tuple[VersionRow, ...], count: int, moved: Mapping[int, RunChangeRow]
) -> TargetCard:
    own = {version.pk: moved[version.pk] for version in shown if version.pk in moved}
    change = own.get(shown[0].pk) if shown else None
    given = {name: value for name, value in row.items() if name != "newest_pk"}
    return TargetCard(
        **given,
        versions=shown,
        version_count=count,
        shown_pk=change.run_pk if change else row["newest_pk"],
        change=change,
        version_changes=own,
    )


def _versions(team: Team, suites: Mapping[int, int]) -> tuple[dict[int, tuple[VersionRow, ...]], dict[int, int]]:
    """Return the newest versions per target, each target on the suite given for it, and how many it has in all."""
    if not suites:
        return {}, {}
    order = [F("first_at").desc(), F("pk").desc()]
    ranked = (
        Version.objects.filter(_on_suites(suites, target="target", suite="runs__revision__suite"))
        .annotate(first_at=Min("runs__ordered_at"))
        .annotate(
            rank=Window(RowNumber(), partition_by=[F("target_id")], order_by=order),
            number=Window(Count("pk"), partition_by=[F("target_id")]),
        )
        .filter(rank__lte=VERSIONS_SHOWN)
    )
    shown = list(ranked.order_by().values_list("pk", "target_id", "number"))
    on_suites = _on_suites(suites, target="version__target", suite="revision__suite")
    runs = Run.objects.for_team(team).filter(on_suites, version__in=[pk for pk, _target, _number in shown])
    by_target: dict[int, list[VersionRow]] = {}
    for row in version_rows(runs):
        by_target.setdefault(row.target_pk, []).append(row)
    versions = {target: newest_first(rows) for target, rows in by_target.items()}
    return versions, {target: number for _pk, target, number in shown}


def _on_suites(suites: Mapping[int, int], *, target: str, suite: str) -> Q:
    """Ask for each target on the suite given for it; usually they share a few."""
    targets: dict[int, list[int]] = {}
    for target_pk, suite_pk in suites.items():
        targets.setdefault(suite_pk, []).append(target_pk)
    wanted = Q()
    for suite_pk, target_pks in targets.items():
        wanted |= Q(**{f"{target}__in": target_pks, suite: suite_pk})
    return wanted


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
