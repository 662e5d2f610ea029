"""Reads for the form that starts a run: stored suites, and the run to repeat."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

from django.db.models import Max, Min, OuterRef, QuerySet, Subquery

from reports.domain.harness.suites import holds_row
from reports.models import Case, Execution, Run, Scenario, SuiteRevision, Team
from reports.payloads import unpack
from reports.selectors.run import CaseFilters, filtered_cases
from reports.text import restored

REVISIONS_OFFERED = 100
REVISIONS_LOOKED_AT = 1_000  # to find so many that a target can run


@dataclass(frozen=True, slots=True)
class RevisionRow:
    """A stored suite revision; texts in stored form. ``holds_rows``: as ``holds_row`` says of a scenario."""

    pk: int
    suite_id: str
    name: str
    digest: str
    scenario_count: int
    created_at: datetime
    holds_rows: bool | None


def list_revisions(team: Team, *, holding_rows: bool) -> Sequence[RevisionRow]:
    """Return the newest suite revisions of the team that are scenario files, or those that are none."""
    rows = _revision_rows(team).order_by("-created_at", "-pk")[:REVISIONS_LOOKED_AT]
    fitting = (row for row in map(_revision_row, rows.iterator(REVISIONS_OFFERED)) if row.holds_rows == holding_rows)
    return list(islice(fitting, REVISIONS_OFFERED))


def get_revision_row(team: Team, pk: int) -> RevisionRow | None:
    found = _revision_rows(team).filter(pk=pk).first()
    return _revision_row(found) if found is not None else None


def _revision_rows(team: Team) -> QuerySet[SuiteRevision, tuple[Any, ...]]:
    """The columns of a row, and the definition of the first scenario: all or none of them came from a scenario file."""
    first = Scenario.objects.filter(revision=OuterRef("pk"), position=0).values("definition")[:1]
    rows = SuiteRevision.objects.filter(suite__team=team).annotate(first=Subquery(first))
    return rows.values_list("pk", "suite__suite_id", "suite__name", "digest", "scenario_count", "created_at", "first")


def _revision_row(columns: tuple[Any, ...]) -> RevisionRow:
    *plain, first = columns
    values = (*plain, holds_row(unpack(first)) if first else False)
    return RevisionRow(*values)


def get_revision(team: Team, pk: int) -> SuiteRevision | None:
    return SuiteRevision.objects.filter(suite__team=team, pk=pk).select_related("suite").first()


@dataclass(frozen=True, slots=True)
class EarlierRun:
    """A run to be repeated. ``request`` and ``target_name`` are None where this site did not execute it."""

    pk: uuid.UUID
    target_id: str
    fingerprint: str
    revision_pk: int
    status: str
    target_name: str | None
    request: dict[str, Any] | None
    repetitions: int


def get_earlier_run(team: Team, pk: uuid.UUID) -> EarlierRun | None:
    runs = Run.objects.for_team(team).select_related("version__target").defer("head")
    run = runs.filter(pk=pk).first()
    if run is None:
        return None
    execution = Execution.objects.filter(pk=pk).first()
    last = Case.objects.filter(generation__current_run=run).aggregate(last=Max("repetition"))["last"]
    return EarlierRun(
        pk=run.pk,
        target_id=restored(run.version.target.target_id),
        fingerprint=restored(run.version.fingerprint),
        revision_pk=run.revision_id,
        status=run.status,
        target_name=execution.target_name if execution else None,
        request=execution.request if execution else None,
        repetitions=min((last or 0) + 1, 100),
    )


def get_run_of_choice(team: Team, pk: str) -> Run | None:
    """Return the run by whose outcome scenarios were chosen; ``pk`` is a text from a form."""
    try:
        return Run.objects.for_team(team).defer("head").filter(pk=uuid.UUID(pk)).first()
    except ValueError:
        return None


def scenarios_of_cases(run: Run, filters: CaseFilters) -> tuple[str, ...]:
    """Return the ids of the scenarios that have a case which fits, in the order of the report."""
    cases = filtered_cases(run, filters).order_by().values("variant__scenario_id").annotate(place=Min("position"))
    return tuple(restored(row["variant__scenario_id"]) for row in cases.order_by("place"))
