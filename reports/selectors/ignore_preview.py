"""What ignore rules hide in the team's newest conversations, for the page that edits them."""

import json
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from evalrunner.compare import IgnoreRules, hidden_members, path_text

from reports import payloads
from reports.models import Run, Team, Turn

TURNS_READ = 40
EXAMPLES = 3  # of one rule, with different values where there are
_RUNS_READ, _CASES_READ = 8, 3
NODES_READ = 20_000
_LONGEST = 120
# Names count in these parts of a turn, paths in the observation alone.
_PARTS = ("input", "observation", "assertions")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a turn lies: its run, the place of its case in the report, and its own place in the case."""

    run: uuid.UUID
    case: int
    turn: int


@dataclass(frozen=True, slots=True)
class Example:
    """A hidden member: the part of the turn, the path in it, and the value, as JSON, shortened."""

    place: Place
    part: str
    path: str
    value: str


@dataclass(slots=True)
class Hidden:
    """What one rule hides: how often, and a few examples (as they came from outside)."""

    rule: str
    number: int = 0
    examples: list[Example] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Preview:
    """``turns`` were looked at, whole or in part; ``absent`` are rules that hide nothing in them."""

    turns: int
    hidden: tuple[Hidden, ...]
    absent: tuple[str, ...]


def preview_of(*, team: Team, rules: IgnoreRules) -> Preview:
    """Apply rules to the first turns of the newest runs, as the side by side would."""
    found: dict[str, Hidden] = {}
    turns, left = 0, NODES_READ
    for place, turn in _newest_turns(team):
        if left <= 0:
            break
        turns += 1
        for part in _PARTS:
            hidden, read = hidden_members(
                turn.get(part), rules, is_observation=part == "observation", most=max(left, 0)
            )
            left -= read
            for member in hidden:
                _note(found, member.rules, Example(place, part, path_text(member.steps), _short(member.value)))
    shown = tuple(found[rule] for rule in rules.texts if rule in found)
    return Preview(turns, shown, tuple(rule for rule in rules.texts if rule not in found))


def _note(found: dict[str, Hidden], rules: Iterable[str], example: Example) -> None:
    for rule in rules:
        hidden = found.setdefault(rule, Hidden(rule))
        hidden.number += 1
        if len(hidden.examples) < EXAMPLES and all(each.value != example.value for each in hidden.examples):
            hidden.examples.append(example)


def _newest_turns(team: Team) -> list[tuple[Place, Mapping[str, Any]]]:
    newest = Run.objects.for_team(team).newest_first().filter(generation__isnull=False)
    runs = dict(newest.values_list("generation_id", "pk")[:_RUNS_READ])
    first = Turn.objects.filter(case__generation_id__in=runs, case__position__lt=_CASES_READ)
    columns = ("case__generation_id", "case__position", "position", "payload")
    rows = first.order_by("-case__generation_id", "case__position", "position").values_list(*columns)
    return [
        (Place(runs[generation], case, position), payloads.unpack(payload))
        for generation, case, position, payload in rows[:TURNS_READ]
    ]


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
