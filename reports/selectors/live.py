"""Reads about one run that is executed here: how far it is, what goes on, what happened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Any

from django.db.models import Count, Max

from reports.domain.run_options import RunOptions
from reports.models import Case, Execution, Run, RunEvent, Shard, SuiteRevision
from reports.payloads import unpack

RUNNING_SHOWN = 32  # as many as can run at once in one worker
MOST_CASES_BY_SCENARIO = 5_000  # beyond, counting them by scenario each second costs too much


@dataclass(frozen=True, slots=True)
class ExecutionRow:
    """The execution of a run. ``last_sequence`` is that of its newest event, 0 before the first.

    ``shards`` counts by state the shards of a run that is split, which has begun; ``heartbeat_at`` is then the newest
    sign of life of any of them.
    """

    target_name: str
    verb: str
    planned_cases: int
    planned_turns: int
    options: RunOptions
    claimed_at: datetime | None
    heartbeat_at: datetime | None
    cancel_requested_at: datetime | None
    cancel_requested_by: str
    stop_reason: str
    error_code: str
    error_paths: Sequence[str]
    last_sequence: int
    shards: Mapping[str, int] = field(default_factory=dict)


def execution_row(run: Run) -> ExecutionRow | None:
    """Return how this site executes a run; None for a run that it only imported."""
    row = Execution.objects.select_related("cancel_requested_by").filter(pk=run.pk).first()
    if row is None:
        return None
    last = RunEvent.objects.filter(run_id=run.pk).aggregate(last=Max("sequence"))["last"]
    request: Mapping[str, Any] = row.request
    options = RunOptions.from_data(request)
    shards, heard_at = _shards_of(run) if options.shards > 1 else ({}, None)
    return ExecutionRow(
        target_name=row.target_name,
        verb=row.verb,
        planned_cases=int(request.get("planned_cases", 0)),
        planned_turns=int(request.get("planned_turns", 0)),
        options=options,
        claimed_at=row.claimed_at,
        heartbeat_at=max(filter(None, (row.heartbeat_at, heard_at)), default=None),
        cancel_requested_at=row.cancel_requested_at,
        cancel_requested_by=row.cancel_requested_by.username if row.cancel_requested_by else "",
        stop_reason=row.stop_reason,
        error_code=row.error_code,
        error_paths=tuple(row.error_paths),
        last_sequence=last or 0,
        shards=shards,
    )


def _shards_of(run: Run) -> tuple[Mapping[str, int], datetime | None]:
    """Count the shards of a run by state; the moment is the newest sign of life of any."""
    rows = Shard.objects.filter(execution=run.pk).values_list("state").annotate(n=Count("pk"), at=Max("heartbeat_at"))
    found = list(rows.order_by("state"))
    heard = [at for _, _, at in found if at is not None]
    return {state: number for state, number, _ in found}, max(heard, default=None)


def is_executed_here(run: Run) -> bool:
    return Execution.objects.filter(pk=run.pk).exists()


@dataclass(frozen=True, slots=True)
class RunningCase:
    """A case that goes on: ``turn_count`` turns are done, ``step_id`` is being executed; texts in stored form."""

    position: int
    name: str
    scenario_id: str
    variants: Mapping[str, str]
    repetition: int
    turn_count: int
    step_count: int
    step_id: str


def running_cases(run: Run) -> Sequence[RunningCase]:
    """Return the cases that go on, in the order of the report."""
    cases = Case.objects.filter(generation_id=run.generation_id or 0, status="running").order_by("position")
    columns = ("position", "name", "variant__scenario_id", "variant__variants", "repetition", "turn_count")
    rows = list(cases.values_list(*columns)[:RUNNING_SHOWN])
    shapes = scenario_shapes(run) if rows else {}
    return [_running_case(row, shapes) for row in rows]


def _running_case(row: tuple[Any, ...], shapes: Mapping[str, ScenarioShape]) -> RunningCase:
    position, name, scenario_id, variants, repetition, turn_count = row
    steps = shapes[scenario_id].steps if scenario_id in shapes else ()
    step_id = steps[turn_count] if turn_count < len(steps) else ""
    return RunningCase(position, name, scenario_id, variants, repetition, turn_count, len(steps), step_id)


@dataclass(frozen=True, slots=True)
class ScenarioShape:
    """What a run's progress needs to know of a scenario; ``steps`` are the ids of its steps in order."""

    steps: Sequence[str]
    is_skipped: bool
    writes_outside: bool

    def turns(self, *, may_write: bool) -> int:
        """Return how many turns a case holds; none where it is skipped, or blocked before it begins."""
        return 0 if self.is_skipped or (self.writes_outside and not may_write) else len(self.steps)


def scenario_shapes(run: Run) -> Mapping[str, ScenarioShape]:
    """Return the scenarios of the run's suite in their order, by id."""
    return _shapes_of(run.revision_id, run.revision.digest)


@lru_cache(maxsize=16)
def _shapes_of(revision_pk: int, digest: str) -> Mapping[str, ScenarioShape]:
    """Return the shapes of a revision's scenarios; its content never changes."""
    definition = SuiteRevision.objects.values_list("definition", flat=True).get(pk=revision_pk)
    return {
        scenario["id"]: ScenarioShape(
            steps=tuple(step["id"] for step in scenario["steps"]),
            is_skipped="skipReason" in scenario,
            writes_outside=scenario.get("writePolicy") == "external",
        )
        for scenario in unpack(definition)["scenarios"]
    }


@dataclass(frozen=True, slots=True)
class VariantProgress:
    """The cases of one scenario variant, counted by status; ``key`` is the variant's."""

    scenario_id: str
    key: str
    counts: Mapping[str, int]


def progress_by_variant(run: Run) -> Sequence[VariantProgress]:
    """Return the cases by scenario variant and status, in the order of the suite; nothing for a very large run."""
    if run.total > MOST_CASES_BY_SCENARIO:
        return ()
    cases = Case.objects.filter(generation_id=run.generation_id or 0)
    rows = cases.values("variant__scenario_id", "variant__key", "status").annotate(
        number=Count("id"), place=Max("position")
    )
    counts: dict[tuple[str, str], dict[str, int]] = {}
    for row in rows.order_by("place"):
        of_variant = counts.setdefault((row["variant__scenario_id"], row["variant__key"]), {})
        of_variant[row["status"]] = row["number"]
    order = {scenario_id: place for place, scenario_id in enumerate(scenario_shapes(run))}
    found = (VariantProgress(scenario_id, key, counted) for (scenario_id, key), counted in counts.items())
    return sorted(found, key=lambda row: order.get(row.scenario_id, len(order)))


@dataclass(frozen=True, slots=True)
class EventRow:
    """An event with what its case is called, and the status that it has by now; texts in stored form."""

    sequence: int
    type: str
    position: int | None
    step_id: str
    at: datetime
    case_name: str = ""
    case_status: str = ""
    variants: Mapping[str, str] = field(default_factory=dict)
    repetition: int = 0


def list_events(run: Run, *, after: int = 0, limit: int) -> Sequence[EventRow]:
    """Return the newest events behind a sequence number, newest last."""
    events = RunEvent.objects.filter(run_id=run.pk, sequence__gt=after).order_by("-sequence")
    rows = list(events.values_list("sequence", "type", "position", "step_id", "at")[:limit])[::-1]
    places = {position for _, _, position, _, _ in rows if position is not None}
    cases = Case.objects.filter(generation_id=run.generation_id or 0, position__in=places)
    columns = ("position", "name", "status", "variant__variants", "repetition")
    known = {position: rest for position, *rest in cases.values_list(*columns)}
    return [EventRow(*row, *known.get(row[2], ())) for row in rows]
