"""What ignore rules hide in the team's newest conversations, for the page that edits them."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from reports import payloads
from reports.models import Run, Team, Turn

TURNS_READ = 40
_RUNS_READ, _CASES_READ = 8, 3
_NODES_READ = 20_000
_LONGEST = 120


@dataclass(frozen=True, slots=True)
class Hidden:
    """A name that was found: how often, and its first place and value (as they came from outside)."""

    name: str
    number: int
    path: str
    value: str


@dataclass(frozen=True, slots=True)
class Preview:
    """``turns`` were looked at; ``absent`` are names that none of them has."""

    turns: int
    hidden: tuple[Hidden, ...]
    absent: tuple[str, ...]


def preview_of(*, team: Team, names: Iterable[str]) -> Preview:
    """Look for names in the inputs and observations of the first turns of the newest runs."""
    wanted = tuple(dict.fromkeys(names))
    turns = _newest_turns(team)
    found: dict[str, list[tuple[str, Any]]] = {}
    left = _NODES_READ
    for turn in turns:
        for member in ("input", "observation"):
            left = _look(turn.get(member), member, frozenset(wanted), found, left)
    hidden = (
        Hidden(name, len(found[name]), found[name][0][0], _short(found[name][0][1])) for name in wanted if name in found
    )
    return Preview(len(turns), tuple(hidden), tuple(name for name in wanted if name not in found))


def _newest_turns(team: Team) -> list[Mapping[str, Any]]:
    runs = Run.objects.for_team(team).newest_first().filter(generation__isnull=False)
    generations = list(runs.values_list("generation_id", flat=True)[:_RUNS_READ])
    first = Turn.objects.filter(case__generation_id__in=generations, case__position__lt=_CASES_READ)
    rows = first.order_by("-case__generation_id", "case__position", "position").values_list("payload", flat=True)
    return [payloads.unpack(payload) for payload in rows[:TURNS_READ]]


def _look(value: Any, path: str, wanted: frozenset[str], found: dict[str, list[tuple[str, Any]]], left: int) -> int:
    """Note the wanted members of a value, without recursion, at most ``left`` nodes of it; return what is left."""
    waiting = [(path, value)]
    while waiting and left > 0:
        place, node = waiting.pop()
        left -= 1
        if isinstance(node, Mapping):
            for name, item in node.items():
                if name in wanted:
                    found.setdefault(name, []).append((f"{place}.{name}", item))
                else:
                    waiting.append((f"{place}.{name}", item))
        elif isinstance(node, list):
            waiting += [(f"{place}.{index}", item) for index, item in enumerate(node)]
    return left


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
