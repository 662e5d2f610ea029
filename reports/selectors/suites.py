"""Reads for suites: the list, a suite's revisions, and the scenarios of one revision."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Max, OuterRef, Q, Subquery

from reports.models import Run, Scenario, Suite, SuiteRevision, Team
from reports.payloads import unpack, unpack_bytes

SUITES_A_PAGE = 50
REVISIONS_SHOWN = 50
SCENARIOS_A_PAGE = 50
_MOST_DETAILED = 60  # changed scenarios whose definitions are read and compared member by member


@dataclass(frozen=True, slots=True)
class SuiteRow:
    """A suite in the list; texts in stored form. ``scenarios`` are those of its newest revision."""

    pk: int
    suite_id: str
    name: str
    revisions: int
    scenarios: int
    runs: int
    last_run_at: datetime | None


@dataclass(frozen=True, slots=True)
class SuiteHead:
    pk: int
    suite_id: str
    name: str


@dataclass(frozen=True, slots=True)
class RevisionRow:
    """One content of a suite."""

    pk: int
    digest: str
    scenarios: int
    created_at: datetime
    runs: int
    last_run_at: datetime | None


@dataclass(frozen=True, slots=True)
class ScenarioRow:
    """A scenario of a revision; ``definition`` is its wire format, not in stored form."""

    pk: int
    position: int
    definition: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ScenarioChange:
    """A scenario in two revisions. ``kind``: added, removed, redefined (results no longer compare) or reworded.

    ``before`` and ``after`` are the definitions where they were read (at most 60 scenarios), else None.
    """

    kind: str
    scenario_id: str
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None


def list_suites(*, team: Team, after: int = 0) -> tuple[tuple[SuiteRow, ...], int]:
    """Return suites, the newest first, and the cursor of the next page (0 on the last one)."""
    runs = Run.objects.for_team(team).filter(revision__suite=OuterRef("pk")).order_by()
    newest = SuiteRevision.objects.filter(suite=OuterRef("pk")).order_by("-pk").values("scenario_count")[:1]
    suites = Suite.objects.for_team(team).order_by("-pk")
    found = list(
        (suites.filter(pk__lt=after) if after else suites)
        .annotate(
            revisions_number=Count("revisions"),
            scenarios=Subquery(newest),
            runs=Subquery(runs.values("revision__suite").annotate(number=Count("pk")).values("number")),
            last_run_at=Subquery(runs.values("revision__suite").annotate(last=Max("ordered_at")).values("last")),
        )
        .values("pk", "suite_id", "name", "revisions_number", "scenarios", "runs", "last_run_at")[: SUITES_A_PAGE + 1]
    )
    rows = tuple(_suite_row(row) for row in found[:SUITES_A_PAGE])
    return rows, rows[-1].pk if len(found) > SUITES_A_PAGE else 0


def _suite_row(row: Mapping[str, Any]) -> SuiteRow:
    given = dict(row)
    return SuiteRow(
        revisions=given.pop("revisions_number"),
        scenarios=given.pop("scenarios") or 0,
        runs=given.pop("runs") or 0,
        **given,
    )


def find_suite(*, team: Team, pk: int) -> SuiteHead | None:
    row = Suite.objects.for_team(team).filter(pk=pk).values("pk", "suite_id", "name").first()
    return SuiteHead(**row) if row else None


def list_revisions(suite: SuiteHead) -> tuple[RevisionRow, ...]:
    """Return the newest revisions of a suite: first what was stored last."""
    revisions = SuiteRevision.objects.filter(suite=suite.pk)
    counted = revisions.annotate(runs_number=Count("runs"), last=Max("runs__ordered_at"))
    rows = counted.order_by("-pk").values("pk", "digest", "scenario_count", "created_at", "runs_number", "last")
    return tuple(
        RevisionRow(row["pk"], row["digest"], row["scenario_count"], row["created_at"], row["runs_number"], row["last"])
        for row in rows[:REVISIONS_SHOWN]
    )


def list_scenarios(*, revision_pk: int, start: int = 0) -> tuple[ScenarioRow, ...]:
    """Return SCENARIOS_A_PAGE scenarios of a revision with their definitions, from a position on."""
    rows = Scenario.objects.filter(revision=revision_pk, position__gte=start).order_by("position")
    return tuple(
        ScenarioRow(pk, position, unpack(definition))
        for pk, position, definition in rows.values_list("pk", "position", "definition")[:SCENARIOS_A_PAGE]
    )


def read_definition(*, suite: SuiteHead, revision_pk: int) -> bytes | None:
    """Return a revision's definition as JSON; None where the suite has no such revision."""
    column = SuiteRevision.objects.filter(suite=suite.pk, pk=revision_pk).values_list("definition", flat=True).first()
    return None if column is None else unpack_bytes(column)


def suite_head_of(*, revision_pk: int) -> Mapping[str, Any]:
    """Return the suite's own members of a revision: its assertions and metadata, without the scenarios."""
    column = SuiteRevision.objects.filter(pk=revision_pk).values_list("definition", flat=True).get()
    whole: dict[str, Any] = unpack(column)
    return {name: value for name, value in whole.items() if name != "scenarios"}


def scenario_changes(*, before_pk: int, after_pk: int) -> tuple[ScenarioChange, ...]:
    """Return what differs between two revisions, scenario by scenario, in the order of the later one."""
    before, after = _outlines(before_pk), _outlines(after_pk)
    kinds = {key: _kind(before.get(key), after.get(key)) for key in dict.fromkeys([*after, *before])}
    changed = {key: kind for key, kind in kinds.items() if kind}
    wanted = list(changed)[:_MOST_DETAILED]
    definitions = _definitions((before_pk, after_pk), wanted)
    return tuple(
        ScenarioChange(
            kind=kind,
            scenario_id=(after.get(key) or before[key])["scenario_id"],
            before=definitions.get((before_pk, key)),
            after=definitions.get((after_pk, key)),
        )
        for key, kind in changed.items()
    )


@dataclass(frozen=True, slots=True)
class ChangedDefinition:
    """A scenario's definitions in two revisions; ``position`` is its place in the later one."""

    position: int
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None


def changed_definitions(*, before_pk: int, after_pk: int, keys: Collection[str]) -> dict[str, ChangedDefinition]:
    """Return the definitions of scenarios that two revisions have, by scenario key."""
    places = dict(Scenario.objects.filter(revision=after_pk, key__in=keys).values_list("key", "position"))
    found = _definitions((before_pk, after_pk), places)
    return {
        key: ChangedDefinition(position, found.get((before_pk, key)), found.get((after_pk, key)))
        for key, position in places.items()
    }


def _outlines(revision_pk: int) -> dict[str, dict[str, Any]]:
    columns = ("key", "scenario_id", "name", "tags", "definition_digest")
    rows = Scenario.objects.filter(revision=revision_pk).order_by("position").values(*columns)
    return {row["key"]: row for row in rows}


def _kind(before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> str:
    if before is None or after is None:
        return "added" if before is None else "removed"
    if before["definition_digest"] != after["definition_digest"]:
        return "redefined"
    return "reworded" if (before["name"], before["tags"]) != (after["name"], after["tags"]) else ""


def _definitions(revisions: Iterable[int], keys: Iterable[str]) -> dict[tuple[int, str], Mapping[str, Any]]:
    rows = Scenario.objects.filter(Q(revision__in=list(revisions)), key__in=list(keys))
    return {
        (revision, key): unpack(definition)
        for revision, key, definition in rows.values_list("revision_id", "key", "definition")
    }
