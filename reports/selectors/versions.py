"""Versions of targets with their pooled counts, in the order of versions: by the start of their first run.

A version pools its completed and limited runs of one suite revision, the one it ran last; follow-ups, which were chosen
by an outcome, are left out. A run that resumed or retried
another supersedes only undecided attempts of it (``evalrunner.compare.samples_of``); versions without such runs are
counted by the database alone.
"""

import uuid
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db.models import Count, Max, Min, Q, QuerySet, Sum
from evalrunner.compare import CaseOutcome, RunFacts, RunOutcomes, Tally, VariantId, lineages_of, samples_of, tally

from reports.models import CASE_STATUSES, Case, Run, Team, Version
from reports.selectors.compare_sides import POOLED
from reports.selectors.stored_changes import CHANGE_COLUMNS, RunChangeRow, change_row

_IS_POOLED = Q(status__in=POOLED, follow_up="")
_IS_OURS = Q(status__in=("queued", "running"), execution__isnull=False)


@dataclass(frozen=True, slots=True)
class VersionRow:
    """A version with the pooled counts of one suite revision; texts in stored form.

    ``runs`` counts all its runs of the suite, ``going`` those that this site runs now; ``first_at`` and ``last_at`` are
    the starts of its first and newest run. ``last_pooled_at`` is the start of the newest run that counts, None without.
    """

    pk: int
    target_pk: int
    fingerprint: str
    label: str
    first_at: datetime
    last_at: datetime
    revision_pk: int
    runs: int
    going: int
    counts: Mapping[str, int]
    last_pooled_at: datetime | None = None

    @property
    def tally(self) -> Tally:
        return tally(self.counts)

    @property
    def side(self) -> str:
        return f"version:{self.pk}"


def newest_versions(
    *, team: Team, target_pk: int, suite_pk: int, limit: int, before: tuple[datetime, int] | None = None
) -> tuple[VersionRow, ...]:
    """Return versions of a target that ran a suite, the newest first; ``before`` is (first_at, pk) of the last one."""
    versions = (
        Version.objects.filter(target__team=team, target=target_pk, runs__revision__suite=suite_pk)
        .annotate(first_at=Min("runs__ordered_at"))
        .order_by("-first_at", "-pk")
    )
    if before is not None:
        versions = versions.filter(Q(first_at__lt=before[0]) | Q(first_at=before[0], pk__lt=before[1]))
    keys = list(versions.values_list("pk", flat=True)[:limit])
    runs = Run.objects.for_team(team).filter(version__in=keys, revision__suite=suite_pk)
    return newest_first(version_rows(runs))


def version_rows(runs: QuerySet[Run]) -> list[VersionRow]:
    """Gather runs of one suite per target into versions, in no order."""
    groups: dict[int, list[dict[str, Any]]] = {}
    for group in _groups(runs):
        groups.setdefault(group["version_id"], []).append(group)
    rows = [_version_row(members) for members in groups.values()]
    resumed = [row.pk for row in rows if any(group["resumed"] for group in groups[row.pk])]
    return _with_lineages(runs, rows, resumed) if resumed else rows


def version_changes(versions: Sequence[VersionRow]) -> dict[int, RunChangeRow]:
    """Return how the newest run of each version that counts stands against its baseline; one query, a row a version."""
    wanted = {(row.pk, row.revision_pk, row.last_pooled_at) for row in versions if row.last_pooled_at is not None}
    runs = Run.objects.filter(
        _IS_POOLED,
        Q(change__isnull=False) | Q(change_due_at__isnull=False),
        version__in={version for version, _revision, _at in wanted},
        ordered_at__in={at for _version, _revision, at in wanted},
    )
    columns = ("pk", "version_id", "revision_id", "ordered_at", *CHANGE_COLUMNS)
    rows = runs.order_by("ordered_at", "pk").values(*columns)
    own = (row for row in rows if (row["version_id"], row["revision_id"], row["ordered_at"]) in wanted)
    found = {row["version_id"]: change_row(row["pk"], row) for row in own}
    return {version: row for version, row in found.items() if row is not None}


def newest_first(rows: Iterable[VersionRow]) -> tuple[VersionRow, ...]:
    return tuple(sorted(rows, key=lambda row: (row.first_at, row.pk), reverse=True))


def _groups(runs: QuerySet[Run]) -> Iterable[dict[str, Any]]:
    sums: dict[str, Any] = {f"sum_{status}": Sum(status, filter=_IS_POOLED, default=0) for status in CASE_STATUSES}
    names = ("version_id", "version__target_id", "version__fingerprint", "version__label", "revision_id")
    groups: Iterable[dict[str, Any]] = (
        runs.order_by()
        .values(*names)
        .annotate(
            number=Count("pk"),
            going=Count("pk", filter=_IS_OURS),
            resumed=Count("pk", filter=_IS_POOLED & ~Q(resumed_from="")),
            first_at=Min("ordered_at"),
            last_at=Max("ordered_at"),
            last_pooled_at=Max("ordered_at", filter=_IS_POOLED),
            **sums,
        )
    )
    return groups


def _version_row(groups: Sequence[Mapping[str, Any]]) -> VersionRow:
    """Join the suite revisions of one version: its counts are those of the revision that it ran last."""
    chosen = max(groups, key=_ran_last)
    return VersionRow(
        pk=chosen["version_id"],
        target_pk=chosen["version__target_id"],
        fingerprint=chosen["version__fingerprint"],
        label=chosen["version__label"],
        first_at=min(group["first_at"] for group in groups),
        last_at=max(group["last_at"] for group in groups),
        revision_pk=chosen["revision_id"],
        runs=sum(group["number"] for group in groups),
        going=sum(group["going"] for group in groups),
        counts={status: chosen[f"sum_{status}"] for status in CASE_STATUSES},
        last_pooled_at=chosen["last_pooled_at"],
    )


def _ran_last(group: Mapping[str, Any]) -> tuple[bool, datetime]:
    """Order suite revisions by their newest run that counts; those without one come first."""
    pooled: datetime | None = group["last_pooled_at"]
    return pooled is not None, pooled or group["last_at"]


def _with_lineages(runs: QuerySet[Run], rows: list[VersionRow], resumed: Sequence[int]) -> list[VersionRow]:
    """Count those versions case by case in which a run resumed another."""
    outcomes = _outcomes(runs.filter(version__in=resumed, follow_up="", generation__isnull=False))
    return [
        replace(row, counts=_pooled_counts(outcomes.get((row.pk, row.revision_pk), []))) if row.pk in resumed else row
        for row in rows
    ]


def _outcomes(runs: QuerySet[Run]) -> dict[tuple[int, int], list[RunOutcomes]]:
    columns = ("version_id", "revision_id", "pk", "run_id", "resumed_from", "started_text", "generation_id")
    heads = _of_ended_lineages(runs.values_list(*columns, "status"))
    cases: dict[int | None, list[CaseOutcome]] = {}
    stored = Case.objects.filter(generation_id__in=[head[-2] for head in heads])
    for generation, variant, repetition, place, status in stored.values_list(
        "generation_id", "variant_id", "repetition", "position", "status"
    ):
        outcome = CaseOutcome(VariantId(str(variant), ()), repetition, place, status)
        cases.setdefault(generation, []).append(outcome)
    gathered: dict[tuple[int, int], list[RunOutcomes]] = {}
    for version, revision, pk, run_id, parent, started, generation, _status in heads:
        facts = _facts(pk, run_id, parent, started)
        gathered.setdefault((version, revision), []).append(RunOutcomes(facts, cases.get(generation, [])))
    return gathered


def _of_ended_lineages(heads: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Keep the runs of lineages that came to an end: attempts before that end count too."""
    known = list(heads)
    origins = lineages_of({head[3]: head[4] for head in known if head[3]})
    ended = {origins.get(head[3]) for head in known if head[-1] in POOLED}
    return [head for head in known if origins.get(head[3]) in ended]


def _facts(pk: uuid.UUID, run_id: str, parent: str, started: str) -> RunFacts:
    return RunFacts(run_id or str(pk), "", "", "", "", started_at=started, resumed_from=parent)


def _pooled_counts(runs: Sequence[RunOutcomes]) -> dict[str, int]:
    counted = Counter(status for sample in samples_of(runs).values() for status in sample.statuses)
    return {status: counted[status] for status in CASE_STATUSES}
