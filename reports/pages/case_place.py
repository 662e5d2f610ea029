"""The place at which the page of a case is asked to open: a JSON path of one of its parts."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evalrunner.compare import path_text

from reports.domain.json_tree import Steps, at_path
from reports.models import Run
from reports.pages.case_raw import RawTree, raw_tree
from reports.pages.path_links import raw_href
from reports.selectors.case import PartValue, WholeCase

_MEMBERS = (
    ("Input", "input"),
    ("Observation", "observation"),
    ("Checkpoint", "checkpoint"),
    ("Assertions", "assertions"),
)


@dataclass(frozen=True, slots=True)
class AskedPath:
    """A path: the part that holds it, the turn counted from 1 (None for parts of the case), and its steps."""

    part: str
    turn: int | None
    steps: Steps

    def where(self) -> str:
        """Say which part it is: "the observation of turn 3"."""
        if self.turn is None:
            return {"case": "the case", "scenario": "the definition of the scenario"}[self.part]
        return f"the {self.part} of turn {self.turn}"


@dataclass(frozen=True, slots=True)
class RawPart:
    """A part whose JSON is loaded when asked for; ``raw`` is its tree where the page opens in it."""

    title: str
    href: str
    raw: RawTree | None


def turn_parts(
    run: Run, position: int, turn: int, data: Mapping[str, Any], asked: AskedPath | None
) -> tuple[RawPart, ...]:
    """Return the parts of a turn, counted from 0, with its ``data``."""
    is_here = asked is not None and asked.turn == turn + 1
    return tuple(
        _part(run, position, title, f"{turn}.{member}", data[member], asked if is_here else None, member)
        for title, member in _MEMBERS
        if member in data
    )


def case_parts(run: Run, case: WholeCase, asked: AskedPath | None) -> tuple[RawPart, ...]:
    """Return the parts of the case itself: all but its turns, and the definition of its scenario."""
    parts = [_part(run, case.position, "Raw JSON of the case", "case", case.data, asked, "case")]
    if case.scenario:
        title = "Definition of the scenario"
        parts.append(_part(run, case.position, title, "scenario", case.scenario, asked, "scenario"))
    return tuple(parts)


def _part(
    run: Run, position: int, title: str, part: str, value: object, asked: AskedPath | None, member: str
) -> RawPart:
    href = raw_href(run, position, part)
    if asked is None or asked.part != member or not is_there(value, asked.steps):
        return RawPart(title, href, None)
    return RawPart(title, href, raw_tree(run, position, part, PartValue("", (), value), sought=asked.steps))


def is_there(value: object, steps: Steps) -> bool:
    try:
        at_path(value, steps)
    except KeyError:
        return False
    return True


def missing_words(asked: AskedPath | None, parts: tuple[RawPart, ...]) -> tuple[str, ...]:
    """Say that nothing is at the asked path; () where it was found among the parts that are shown."""
    if asked is None or any(part.raw is not None for part in parts):
        return ()
    return (f"There is no “{path_text(asked.steps)}” in {asked.where()}.",)
