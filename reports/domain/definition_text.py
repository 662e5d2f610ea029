"""A scenario's definition as a reader wants it: what is said to the agent, and what is asked of its answers."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reports.domain.expressions import asks_in_words

_DEEPEST = 8  # levels of indentation; what is deeper stays at the last one


@dataclass(frozen=True, slots=True)
class AskLine:
    """One assertion, or one part of it; ``depth`` from 0. ``name`` is its label, else its id."""

    depth: int
    id: str
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class InputText:
    """What a step sends: ``variant`` is the id of the alternative, empty for the step's only input."""

    variant: str
    text: str


@dataclass(frozen=True, slots=True)
class StepText:
    number: int
    id: str
    inputs: tuple[InputText, ...]
    asked: tuple[AskLine, ...]


@dataclass(frozen=True, slots=True)
class ScenarioText:
    """A scenario, its texts as the definition has them (not in stored form)."""

    id: str
    name: str
    description: str
    tags: tuple[str, ...]
    write_policy: str
    skip_reason: str
    metadata: str
    steps: tuple[StepText, ...]
    asked: tuple[AskLine, ...]


def scenario_text(scenario: Mapping[str, Any]) -> ScenarioText:
    """Return the readable form of a scenario in wire format, which has been checked when it was stored."""
    return ScenarioText(
        id=scenario["id"],
        name=scenario["name"],
        description=scenario.get("description") or "",
        tags=tuple(scenario.get("tags") or ()),
        write_policy=scenario["writePolicy"],
        skip_reason=scenario.get("skipReason") or "",
        metadata=readable_json(scenario["metadata"]) if scenario.get("metadata") else "",
        steps=tuple(_step(number, step) for number, step in enumerate(scenario["steps"], 1)),
        asked=ask_lines(scenario.get("assertions") or ()),
    )


def ask_lines(assertions: Sequence[Mapping[str, Any]]) -> tuple[AskLine, ...]:
    """Return assertions as lines, children after their parent."""
    return tuple(line for assertion in assertions for line in _lines(assertion))


def readable_json(value: object) -> str:
    """Return a value as indented JSON; a text alone stands without quotes."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and set(value) == {"text"} and isinstance(value["text"], str):
        return value["text"]
    return json.dumps(value, indent=2, ensure_ascii=False)


def _step(number: int, step: Mapping[str, Any]) -> StepText:
    variants = step.get("variants") or ()
    own = (InputText("", readable_json(step["input"])),)
    alternatives = tuple(InputText(variant["id"], readable_json(variant["input"])) for variant in variants)
    return StepText(number, step["id"], alternatives or own, ask_lines(step.get("assertions") or ()))


def _lines(assertion: Mapping[str, Any]) -> Iterator[AskLine]:
    """Walk without recursion: a definition may be nested more deeply than a stack of calls should be."""
    waiting = [(0, assertion)]
    while waiting:
        depth, each = waiting.pop()
        yield AskLine(min(depth, _DEEPEST), each["id"], each.get("label") or each["id"], _text(each))
        parts = each.get("assertions") or ([each["assertion"]] if "assertion" in each else [])
        waiting.extend((depth + 1, part) for part in reversed(parts))


def _text(assertion: Mapping[str, Any]) -> str:
    words = asks_in_words(assertion)
    parameters = assertion.get("parameters")
    return f"{words} with {json.dumps(parameters, ensure_ascii=False)}" if parameters else words
