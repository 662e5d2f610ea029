"""Reads for the page of one case: the whole conversation in windows, and its neighbours."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from evalrunner.compare.outcomes import FAILING_STATUSES

from reports import payloads
from reports.domain.json_tree import Steps, at_path, steps_of_pointer
from reports.keys import text_key
from reports.models import Case, Run, Scenario, Turn
from reports.selectors.run import CaseFilters, Pip, cases_of, filtered_cases
from reports.text import restored

TURNS_A_WINDOW = 25


@dataclass(frozen=True, slots=True)
class TurnRow:
    """One turn in the outline: light, for all turns of the case."""

    position: int
    step_id: str
    status: str
    error_code: str
    duration_ms: float


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Places of the next and previous case, by filter and by failure; None at the ends."""

    previous: int | None
    next: int | None
    previous_failure: int | None
    next_failure: int | None


@dataclass(frozen=True, slots=True)
class WholeCase:
    """A case: ``data`` is the report's case without its turns, ``scenario`` its definition if the suite has one."""

    pk: int
    position: int
    scenario_id: str
    variant_key: str
    variant_id: int
    variants: Mapping[str, str]
    name: str
    repetition: int
    status: str
    error_code: str
    skip_reason: str
    failing: str
    duration_ms: float
    data: Mapping[str, Any]
    scenario: Mapping[str, Any] | None
    outline: tuple[TurnRow, ...]


def get_case(run: Run, position: int) -> WholeCase | None:
    """Return the case at a place of the run's report, or None."""
    case = cases_of(run).select_related("variant").filter(position=position).first()
    if case is None:
        return None
    return WholeCase(
        pk=case.pk,
        position=case.position,
        scenario_id=case.variant.scenario_id,
        variant_key=case.variant.key,
        variant_id=case.variant_id,
        variants=case.variant.variants,
        name=case.name,
        repetition=case.repetition,
        status=case.status,
        error_code=case.error_code,
        skip_reason=case.skip_reason,
        failing=case.failing,
        duration_ms=case.duration_ms,
        data=payloads.unpack(case.payload),
        scenario=_scenario(run, case),
        outline=_outline(case),
    )


def _scenario(run: Run, case: Case) -> Mapping[str, Any] | None:
    key = text_key(restored(case.variant.scenario_id))
    definition = (
        Scenario.objects.filter(revision_id=run.revision_id, key=key).values_list("definition", flat=True).first()
    )
    found: Mapping[str, Any] | None = payloads.unpack(definition) if definition else None
    return found


def _outline(case: Case) -> tuple[TurnRow, ...]:
    turns = Turn.objects.filter(case=case).order_by("position")
    return tuple(TurnRow(**row) for row in turns.values("position", "step_id", "status", "error_code", "duration_ms"))


def turn_window(outline: Sequence[TurnRow], *, at: int | None) -> range:
    """Return the places of the turns to show: the window that holds turn ``at``, else the first one that failed.

    Windows begin at multiples of ``TURNS_A_WINDOW``, so that each has one address.
    """
    failed = next((turn.position for turn in outline if turn.status in FAILING_STATUSES), 0)
    wanted = failed if at is None else min(max(at, 0), max(len(outline) - 1, 0))
    start = wanted - wanted % TURNS_A_WINDOW
    return range(start, min(start + TURNS_A_WINDOW, len(outline)))


def turn_data(case_pk: int, window: range) -> list[Mapping[str, Any]]:
    """Return the whole turns of a window as the report holds them."""
    turns = Turn.objects.filter(case_id=case_pk, position__gte=window.start, position__lt=window.stop)
    return [payloads.unpack(payload) for payload in turns.order_by("position").values_list("payload", flat=True)]


@dataclass(frozen=True, slots=True)
class PartValue:
    """A JSON value of a case: where in its part it stands, as a JSON pointer and as steps, and the value."""

    pointer: str
    steps: Steps
    value: object


def part_of(case: WholeCase, part: str, pointer: str = "") -> PartValue:
    """Return the JSON value of a part at a JSON pointer; KeyError where there is none.

    ``part`` is "case" (the report's case without its turns), "scenario" (its definition), or the place of a turn and
    the name of one of its members: "3.observation".
    """
    whole = _whole_part(case, part)
    steps = steps_of_pointer(whole, pointer)
    return PartValue(pointer, steps, at_path(whole, steps))


def _whole_part(case: WholeCase, part: str) -> object:
    place, _, member = part.partition(".")
    if part == "case":
        return case.data
    if part == "scenario" and case.scenario is not None:
        return case.scenario
    if not (place.isascii() and place.isdigit() and len(place) < 10 and int(place) < len(case.outline)):
        raise KeyError(part)
    (turn,) = turn_data(case.pk, range(int(place), int(place) + 1))
    return turn[member] if member else turn


def repetitions(run: Run, variant_id: int, limit: int = 100) -> tuple[Pip, ...]:
    """Return the repetitions of a scenario variant in this run, in order."""
    cases = cases_of(run).filter(variant_id=variant_id).order_by("repetition", "position")
    return tuple(Pip(*row) for row in cases.values_list("position", "repetition", "status")[:limit])


def neighbours(run: Run, position: int, filters: CaseFilters) -> Neighbours:
    """Return what ``j``, ``k`` and the failure links lead to, in the order of the report."""
    fitting = filtered_cases(run, filters)
    failing = cases_of(run).filter(status__in=FAILING_STATUSES)
    return Neighbours(
        previous=_before(fitting, position),
        next=_behind(fitting, position),
        previous_failure=_before(failing, position),
        next_failure=_behind(failing, position),
    )


def _before(cases: QuerySet[Case], position: int) -> int | None:
    return cases.filter(position__lt=position).order_by("-position").values_list("position", flat=True).first()


def _behind(cases: QuerySet[Case], position: int) -> int | None:
    return cases.filter(position__gt=position).order_by("position").values_list("position", flat=True).first()


def case_run(*, team_id: int, pk: uuid.UUID) -> Run | None:
    """Return a run of the team with the names that its case pages show."""
    runs = Run.objects.filter(team_id=team_id, pk=pk).select_related("team", "version__target", "revision__suite")
    return runs.defer("head", "revision__definition").first()
