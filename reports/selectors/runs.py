"""Reads for the list of runs: rows, their number, and what its filters offer."""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django.db.models import Q

from reports.domain.run_query import RunQuery
from reports.keys import text_key
from reports.models import CASE_STATUSES, Run, Suite, Target, Team, Version
from reports.querysets import RunQuerySet
from reports.selectors.stored_changes import CHANGE_COLUMNS, RunChangeRow, change_row
from reports.text import restored

RUNS_A_PAGE = 50
MOST_COUNTED = 50_000
MOST_CHOICES = 300
_SEARCHED = (
    "run_id",
    "version__target__target_id",
    "version__fingerprint",
    "version__label",
    "revision__suite__suite_id",
    "revision__suite__name",
    "file_name",
)
_COLUMNS = (
    "id",
    "status",
    "is_passing",
    "origin",
    "ordered_at",
    "started_at",
    "finished_at",
    "version_id",
    "version__target_id",
    "version__target__target_id",
    "version__fingerprint",
    "version__label",
    "revision__suite_id",
    "revision__suite__suite_id",
    "resumed_from",
    "first_counts",
    "follow_up",
    "execution__pk",
    "execution__verb",
    *CHANGE_COLUMNS,
    *CASE_STATUSES,
)


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run as lists show it; texts in stored form. ``is_executed`` tells that this site runs it.

    ``change`` is how it stands against its baseline, None without one. ``verb`` is how this site was asked for it (""
    where it was imported); ``first_counts`` and ``follow_up`` as ``Run`` has them.
    """

    pk: uuid.UUID
    status: str
    is_passing: bool
    is_executed: bool
    origin: str
    ordered_at: datetime
    duration_ms: float | None
    version_pk: int
    target_pk: int
    target_id: str
    fingerprint: str
    label: str
    suite_pk: int
    suite_id: str
    is_resumed: bool
    verb: str
    follow_up: str
    counts: Mapping[str, int]
    first_counts: Mapping[str, int] | None
    change: RunChangeRow | None

    @property
    def baseline_pk(self) -> uuid.UUID | None:
        return self.change.baseline_pk if self.change is not None else None


@dataclass(frozen=True, slots=True)
class Cursor:
    """The last row of a page: the next one begins after it."""

    ordered_at: datetime
    pk: uuid.UUID

    @property
    def text(self) -> str:
        return f"{self.ordered_at.isoformat()}~{self.pk.hex}"

    @classmethod
    def parse(cls, text: str) -> "Cursor | None":
        """Return the cursor of an address; None for a text that is none."""
        at, _, pk = text.partition("~")
        try:
            moment = datetime.fromisoformat(at)
            return cls(moment, uuid.UUID(pk)) if moment.tzinfo is not None else None
        except ValueError:
            return None


@dataclass(frozen=True, slots=True)
class RunsFound:
    """One page of runs; ``next_cursor`` is None on the last one."""

    rows: tuple[RunRow, ...]
    next_cursor: Cursor | None


def list_runs(*, team: Team, query: RunQuery, after: Cursor | None = None, limit: int = RUNS_A_PAGE) -> RunsFound:
    """Return the newest runs that fit, at most ``limit`` of them, those after the cursor."""
    runs = matching_runs(team, query).newest_first()
    if after is not None:
        runs = runs.filter(Q(ordered_at__lt=after.ordered_at) | Q(ordered_at=after.ordered_at, pk__lt=after.pk))
    found = [run_row(values) for values in runs.values(*_COLUMNS)[: limit + 1]]
    rows = tuple(found[:limit])
    return RunsFound(rows, Cursor(rows[-1].ordered_at, rows[-1].pk) if len(found) > limit else None)


def count_runs(*, team: Team, query: RunQuery) -> int:
    """Count the runs that fit; no further than MOST_COUNTED."""
    return matching_runs(team, query).order_by()[:MOST_COUNTED].count()


def matching_runs(team: Team, query: RunQuery) -> RunQuerySet[Run]:
    """The team's runs that fit a query, in no order."""
    runs = Run.objects.for_team(team)
    for name, column in (
        ("target", "version__target__key"),
        ("suite", "revision__suite__key"),
    ):
        if query.values(name):
            runs = runs.filter(**{f"{column}__in": [_key(value) for value in query.values(name)]})
    if versions := query.values("version"):
        runs = runs.filter(Q(version__key__in=[_key(value) for value in versions]) | Q(version__label__in=versions))
    for name in ("status", "origin"):
        if query.values(name):
            runs = runs.filter(**{f"{name}__in": query.values(name)})
    if outcomes := query.values("outcome"):
        runs = runs.filter(_any(_OUTCOMES[outcome] for outcome in outcomes))
    return _between(runs, query.day("from"), query.day("to")).filter(*(_says(word) for word in query.words))


_OUTCOMES = {
    "passed": Q(is_passing=True),
    "not-passed": Q(is_passing=False, status="completed"),
    "unfinished": ~Q(status="completed"),
}


def _any(conditions: Iterable[Q]) -> Q:
    joined = Q()
    for condition in conditions:
        joined |= condition
    return joined


def _key(value: str) -> str:
    """The key of a text that stands in a query, which holds the stored form: an address can hold no other."""
    return text_key(restored(value))


def _says(word: str) -> Q:
    found = _any(Q(**{f"{column}__icontains": word}) for column in _SEARCHED)
    try:
        return found | Q(pk=uuid.UUID(word))
    except ValueError:
        return found


def _between(runs: RunQuerySet[Run], first: date | None, last: date | None) -> RunQuerySet[Run]:
    """Keep what began on the days from ``first`` to ``last``, both included, in UTC."""
    if first is not None:
        runs = runs.filter(ordered_at__gte=datetime.combine(first, time.min, UTC))
    if last is not None and last < date.max:
        runs = runs.filter(ordered_at__lt=datetime.combine(last + timedelta(days=1), time.min, UTC))
    return runs


def run_row(values: Mapping[str, Any]) -> RunRow:
    """Make a row of the columns that a list reads."""
    given = values
    started, finished = given["started_at"], given["finished_at"]
    return RunRow(
        pk=given["id"],
        status=given["status"],
        is_passing=given["is_passing"],
        is_executed=given["execution__pk"] is not None,
        origin=given["origin"],
        ordered_at=given["ordered_at"],
        duration_ms=(finished - started).total_seconds() * 1000 if started and finished else None,
        version_pk=given["version_id"],
        target_pk=given["version__target_id"],
        target_id=given["version__target__target_id"],
        fingerprint=given["version__fingerprint"],
        label=given["version__label"],
        suite_pk=given["revision__suite_id"],
        suite_id=given["revision__suite__suite_id"],
        is_resumed=bool(given["resumed_from"]),
        verb=given["execution__verb"] or "",
        follow_up=given["follow_up"],
        counts={status: given[status] for status in CASE_STATUSES},
        first_counts=given["first_counts"],
        change=change_row(given["id"], given),
    )


def older_first(*, team: Team, pks: Sequence[uuid.UUID]) -> tuple[uuid.UUID, ...]:
    """Return those of the runs that the team has, in the order of their start."""
    runs = Run.objects.for_team(team).filter(pk__in=pks).order_by("ordered_at", "pk")
    return tuple(runs.values_list("pk", flat=True))


def filter_choices(*, team: Team, name: str) -> tuple[str, ...]:
    """Return what a filter offers (stored form): all targets, suites or fingerprints, the newest 300 of them."""
    columns = {
        "target": Target.objects.for_team(team).order_by("-pk").values_list("target_id", flat=True),
        "suite": Suite.objects.for_team(team).order_by("-pk").values_list("suite_id", flat=True),
        "version": Version.objects.filter(target__team=team).order_by("-pk").values_list("fingerprint", flat=True),
    }
    return tuple(dict.fromkeys(columns[name][:MOST_CHOICES]))
