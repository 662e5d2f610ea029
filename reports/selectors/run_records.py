"""Reads of the API: runs and cases as records with their true texts (not in stored form), page by page."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet
from evalrunner.compare import Tally, tally

from reports.domain.run_query import RunQuery
from reports.keys import text_key
from reports.models import CASE_STATUSES, Case, Run, Team
from reports.selectors.run import CaseFilters, cases_of, filtered_cases
from reports.selectors.runs import Cursor, matching_runs
from reports.selectors.stored_changes import CHANGE_COLUMNS, RunChangeRow, change_row
from reports.text import restored


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A run without its cases. ``run_id`` is "" until the first checkpoint; times are the report's own texts.

    ``change`` is how it stands against its baseline, None without one.
    """

    pk: uuid.UUID
    run_id: str
    resumed_from: str
    target_id: str
    fingerprint: str
    version_label: str
    suite_id: str
    suite_name: str
    suite_digest: str
    status: str
    is_passing: bool
    counts: Mapping[str, int]
    suite_assertions: int
    suite_assertions_failed: int
    compatibility_fingerprint: str
    started_at: str
    finished_at: str
    created_at: datetime
    updated_at: datetime
    origin: str
    file_name: str
    created_by: str
    ordered_at: datetime
    first_counts: Mapping[str, int] | None
    follow_up: str
    verb: str
    change: RunChangeRow | None

    @property
    def tally(self) -> Tally:
        """Return what rates count: the first decided attempts of a lineage."""
        return tally(self.counts if self.first_counts is None else self.first_counts)

    @property
    def after_retries(self) -> Tally:
        return tally(self.counts)


_RUN_TEXTS = {
    "run_id": "run_id",
    "resumed_from": "resumed_from",
    "target_id": "version__target__target_id",
    "fingerprint": "version__fingerprint",
    "version_label": "version__label",
    "suite_id": "revision__suite__suite_id",
    "suite_name": "revision__suite__name",
    "suite_digest": "revision__digest",
    "status": "status",
    "compatibility_fingerprint": "compatibility_fingerprint",
    "started_at": "started_text",
    "finished_at": "finished_text",
    "origin": "origin",
    "file_name": "file_name",
    "created_by": "created_by__username",
    "follow_up": "follow_up",
    "verb": "execution__verb",
}
_RUN_VALUES = (
    "pk",
    "is_passing",
    "suite_assertions",
    "suite_assertions_failed",
    "created_at",
    "updated_at",
    "ordered_at",
    "first_counts",
)


@dataclass(frozen=True, slots=True)
class CaseRecord:
    """A case without its conversation."""

    position: int
    scenario_id: str
    variants: Mapping[str, str]
    repetition: int
    name: str
    status: str
    error_code: str
    skip_reason: str
    duration_ms: float
    turn_count: int
    failing: str
    signature: str


_CASE_TEXTS = {
    "scenario_id": "variant__scenario_id",
    "name": "name",
    "status": "status",
    "error_code": "error_code",
    "skip_reason": "skip_reason",
    "failing": "failing",
    "signature": "signature__key",
}
_CASE_VALUES = ("position", "repetition", "duration_ms", "turn_count")


@dataclass(frozen=True, slots=True)
class CaseQuery:
    """What a list of cases is narrowed to: any of the statuses, a scenario id, a text; texts in stored form."""

    statuses: Sequence[str] = ()
    scenario_id: str = ""
    text: str = ""


def list_run_records(
    *, team: Team, query: RunQuery, after: Cursor | None, limit: int
) -> tuple[tuple[RunRecord, ...], Cursor | None]:
    """Return the newest runs that fit, those after the cursor, and the cursor of the next page if there is one."""
    runs = matching_runs(team, query).newest_first()
    if after is not None:
        runs = runs.filter(Q(ordered_at__lt=after.ordered_at) | Q(ordered_at=after.ordered_at, pk__lt=after.pk))
    found = _run_records(runs[: limit + 1])
    shown = found[:limit]
    return shown, Cursor(shown[-1].ordered_at, shown[-1].pk) if len(found) > limit else None


def get_run_record(*, team: Team, pk: uuid.UUID) -> RunRecord | None:
    return next(iter(_run_records(Run.objects.for_team(team).filter(pk=pk))), None)


def get_run_to_export(*, team: Team, pk: uuid.UUID) -> Run | None:
    """Return a run of the team with all that its report is made of, except its cases."""
    return Run.objects.for_team(team).select_related("revision").filter(pk=pk).first()


def get_run_of_cases(*, team: Team, pk: uuid.UUID) -> Run | None:
    """Return a run of the team as the reads of its cases need it."""
    return Run.objects.for_team(team).with_names().filter(pk=pk).first()


def list_case_records(
    run: Run, query: CaseQuery, *, after: int | None, limit: int
) -> tuple[tuple[CaseRecord, ...], int | None]:
    """Return the cases that fit, in the order of the report, and the place after which the next page begins."""
    cases = filtered_cases(run, CaseFilters(text=query.text)).order_by("position")
    if query.statuses:
        cases = cases.filter(status__in=query.statuses)
    if query.scenario_id:
        cases = cases.filter(variant__scenario_key=text_key(restored(query.scenario_id)))
    if after is not None:
        cases = cases.filter(position__gt=after)
    found = _case_records(cases[: limit + 1])
    shown = found[:limit]
    return shown, shown[-1].position if len(found) > limit else None


def get_case_record(run: Run, position: int) -> CaseRecord | None:
    return next(iter(_case_records(cases_of(run).filter(position=position))), None)


def _run_records(runs: QuerySet[Run]) -> tuple[RunRecord, ...]:
    rows = runs.values(*_RUN_TEXTS.values(), *_RUN_VALUES, *CHANGE_COLUMNS, *CASE_STATUSES)
    return tuple(
        RunRecord(
            **_texts(row, _RUN_TEXTS),
            **{name: row[name] for name in _RUN_VALUES},
            counts={status: row[status] for status in CASE_STATUSES},
            change=change_row(row["pk"], row),
        )
        for row in rows
    )


def _case_records(cases: QuerySet[Case]) -> tuple[CaseRecord, ...]:
    rows = cases.values(*_CASE_TEXTS.values(), *_CASE_VALUES, "variant__variants")
    return tuple(
        CaseRecord(
            **_texts(row, _CASE_TEXTS),
            **{name: row[name] for name in _CASE_VALUES},
            variants={restored(step): restored(variant) for step, variant in row["variant__variants"].items()},
        )
        for row in rows
    )


def _texts(row: Mapping[str, Any], columns: Mapping[str, str]) -> dict[str, Any]:
    return {name: restored(row[column] or "") for name, column in columns.items()}
