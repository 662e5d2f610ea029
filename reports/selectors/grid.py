"""Reads for the grid: every scenario variant of a suite over the newest versions of a target.

Each version is pooled by the rule of comparisons (``compare_sides``), in its own newest revision of the suite.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import Count, Min, Q, QuerySet, Value
from evalrunner.compare import Tally, tally

from reports.models import Run, Scenario, ScenarioVariant, Team, Version
from reports.selectors.compare_cases import cases_of_side
from reports.selectors.compare_sides import Side, resolve_versions
from reports.selectors.versions import VersionRow, newest_versions

VERSIONS = (8, 12, 20)  # offered numbers of columns
_NO_CASES = Tally()
_WORST = ("failed", "error", "passed")  # whose case a cell leads to


@dataclass(slots=True)
class Cell:
    """A scenario variant in one version; ``run`` and ``position`` are of its first failing case, else its first."""

    counts: dict[str, int] = field(default_factory=dict)
    places: dict[str, tuple[uuid.UUID, int]] = field(default_factory=dict)

    @property
    def tally(self) -> Tally:
        return tally(self.counts)

    @property
    def place(self) -> tuple[uuid.UUID, int]:
        first = next((status for status in _WORST if status in self.places), None)
        return self.places[first] if first else next(iter(self.places.values()))


@dataclass(frozen=True, slots=True)
class GridVariant:
    """Texts in stored form."""

    pk: int
    key: str
    scenario_key: str
    scenario_id: str
    variants: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class VersionHead:
    """A version by name; texts in stored form."""

    pk: int
    fingerprint: str
    label: str
    first_at: datetime

    @property
    def side(self) -> str:
        return f"version:{self.pk}"


@dataclass(frozen=True, slots=True)
class Column:
    """A version, with its side where it has runs that count, and its counts where they are shown."""

    version: VersionHead
    side: Side | None
    tally: Tally = _NO_CASES


@dataclass(frozen=True, slots=True)
class Grid:
    """``cells`` are by place of the column (oldest first) and variant; ``rulers`` by revision and scenario key."""

    columns: tuple[Column, ...]
    cells: tuple[Mapping[int, Cell], ...]
    variants: Mapping[int, GridVariant]
    names: Mapping[str, str]
    tags: Mapping[str, tuple[str, ...]]
    rulers: Mapping[tuple[int, str], str]


def read_grid(*, team: Team, target_pk: int, suite_pk: int, versions: int) -> Grid:
    """Read the newest versions of a target that ran a suite, oldest first."""
    rows = tuple(reversed(newest_versions(team=team, target_pk=target_pk, suite_pk=suite_pk, limit=versions)))
    sides = resolve_versions(team=team, versions=[row.pk for row in rows], suite=suite_pk)
    columns = tuple(Column(_head(row), sides.get(row.pk), row.tally) for row in rows)
    cells = _cells(columns)
    found = {variant for column in cells for variant in column}
    variants = _variants(team, found)
    names, tags, rulers = _scenarios(columns)
    return Grid(columns, cells, variants, names, tags, rulers)


def variant_history(*, run: Run, variant_pk: int, versions: int) -> Grid:
    """Read one scenario variant over the newest versions of a run's target: the strip of a case page."""
    suite = run.revision.suite_id
    heads = _newest_heads(run, versions)
    sides = resolve_versions(team=run.team, versions=[head.pk for head in heads], suite=suite)
    columns = tuple(Column(head, sides.get(head.pk)) for head in heads)
    return Grid(columns, _cells(columns, variant_pk), {}, {}, {}, {})


def _head(row: VersionRow) -> VersionHead:
    return VersionHead(row.pk, row.fingerprint, row.label, row.first_at)


def _newest_heads(run: Run, versions: int) -> list[VersionHead]:
    """Read the newest versions of a run's target on its suite by name, oldest first; their cases are not counted."""
    of_target = Version.objects.filter(target=run.version.target_id, runs__revision__suite=run.revision.suite_id)
    named = of_target.annotate(first_at=Min("runs__ordered_at")).order_by("-first_at", "-pk")
    rows = list(named.values_list("pk", "fingerprint", "label", "first_at")[:versions])
    return [VersionHead(*row) for row in reversed(rows)]


def _cells(columns: Sequence[Column], variant_pk: int | None = None) -> tuple[dict[int, Cell], ...]:
    """Count the cases of all columns by variant and status, in one query."""
    counted: tuple[dict[int, Cell], ...] = tuple({} for _ in columns)
    parts = [_counts(column.side, place, variant_pk) for place, column in enumerate(columns) if column.side is not None]
    if not parts:
        return counted
    runs = {run.generation: run.pk for column in columns if column.side for run in column.side.runs}
    for column, generation, variant, status, number, first in parts[0].union(*parts[1:], all=True):
        cell = counted[column].setdefault(variant, Cell())
        cell.counts[status] = cell.counts.get(status, 0) + number
        cell.places.setdefault(status, (runs[generation], first))
    return counted


def _counts(side: Side, place: int, variant_pk: int | None) -> QuerySet[Any, tuple[Any, ...]]:
    cases = cases_of_side(side).annotate(column=Value(place))
    if variant_pk is not None:
        cases = cases.filter(variant_id=variant_pk)
    grouped = cases.order_by().values("column", "generation_id", "variant_id", "status")
    counted = grouped.annotate(number=Count("pk"), first=Min("position"))
    return counted.values_list("column", "generation_id", "variant_id", "status", "number", "first")


def _variants(team: Team, keys: set[int]) -> dict[int, GridVariant]:
    """Read the names of the variants; a grid may hold more of them than a query takes parameters."""
    columns = ("pk", "key", "scenario_key", "scenario_id", "variants")
    if len(keys) <= 500:
        stored = ScenarioVariant.objects.filter(team=team, pk__in=keys)
    else:
        stored = ScenarioVariant.objects.filter(team=team, pk__gte=min(keys), pk__lte=max(keys))
    return {row["pk"]: GridVariant(**row) for row in stored.values(*columns) if row["pk"] in keys}


def _scenarios(
    columns: Sequence[Column],
) -> tuple[dict[str, str], dict[str, tuple[str, ...]], dict[tuple[int, str], str]]:
    """Read names, tags and definition digests of the scenarios, the newest revision's names winning."""
    revisions = {column.side.revision.pk: place for place, column in enumerate(columns) if column.side is not None}
    names: dict[str, str] = {}
    tags: dict[str, tuple[str, ...]] = {}
    rulers: dict[tuple[int, str], str] = {}
    stored = Scenario.objects.filter(Q(revision_id__in=revisions))
    rows = stored.values_list("revision_id", "key", "name", "tags", "definition_digest")
    for revision, key, name, tag_list, digest in sorted(rows, key=lambda row: revisions[row[0]]):
        names[key], tags[key] = name, tuple(tag_list)
        rulers[revision, key] = digest
    return names, tags, rulers
