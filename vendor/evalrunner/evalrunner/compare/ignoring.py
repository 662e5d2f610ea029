"""Ignore rules: which members a comparison of two turns leaves out.

A rule is one of two things:

- a name, ``threadId``: the members of this name at any depth of inputs, observations and criteria. A name with a
  character of the grammar of ``compare.paths``, with one that cannot be seen, or with a blank at its ends stands in
  quotation marks: ``"a.b"``.
- a path, ``response.meta.traceId`` or ``events[*].at``: from the root of the observation, with the wildcards of
  ``compare.paths``. A path of one member begins with ``$``: ``$.id`` is the ``id`` at the top alone.

A rule ends with a member, never with an item of a list: without one of its items a list would count anew, and every
place behind it would be another. Paths are kept as a tree, so that the cost of a walk does not grow with their number.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from evalrunner.compare.paths import Step, Wild, parse_pattern, quoted, read_quoted
from evalrunner.errors import PathTextError

DEFAULT_IGNORED: Final[frozenset[str]] = frozenset(
    {
        "checkpointId",
        "checkpoint_id",
        "completionTokens",
        "completion_tokens",
        "createdAt",
        "created_at",
        "durationMs",
        "duration_ms",
        "elapsedMs",
        "elapsed_ms",
        "finishedAt",
        "finished_at",
        "inputTokens",
        "input_tokens",
        "latencyMs",
        "latency_ms",
        "messageId",
        "message_id",
        "outputTokens",
        "output_tokens",
        "promptTokens",
        "prompt_tokens",
        "requestId",
        "request_id",
        "responseId",
        "response_id",
        "runId",
        "run_id",
        "spanId",
        "span_id",
        "startedAt",
        "started_at",
        "threadId",
        "thread_id",
        "timestamp",
        "timestamps",
        "tokens",
        "totalTokens",
        "total_tokens",
        "traceId",
        "trace_id",
        "turnId",
        "turn_id",
        "updatedAt",
        "updated_at",
    }
)
"""The usual rules. Ids, times and token counts: members that differ from run to run whatever the agent does."""


@dataclass(slots=True, eq=False)
class _Place:
    """A point in the tree of paths. ``rules`` end here; ``is_deep`` holds at this and every deeper level."""

    is_deep: bool = False
    rules: list[str] = field(default_factory=list)
    behind: dict[Step, _Place] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """Rules ready to be used: ``texts`` as they were written, sorted; ``names`` with the rules that they come from."""

    texts: tuple[str, ...]
    names: Mapping[str, Sequence[str]]
    _root: _Place

    @property
    def _places(self) -> tuple[_Place, ...]:
        return _closed([self._root]) if self._root.behind else ()


@dataclass(frozen=True, slots=True)
class RuleFault:
    """A rule that cannot be read: its place in the list from 0, its text, and why with the character from 1."""

    number: int
    text: str
    character: int
    reason: str


def ignore_rules(texts: Iterable[str]) -> IgnoreRules:
    """Read rules; PathTextError for the first that is none."""
    return _read(frozenset(texts))


@lru_cache(maxsize=64)
def _read(texts: frozenset[str]) -> IgnoreRules:
    names: dict[str, list[str]] = {}
    root = _Place()
    for text in sorted(texts):
        name = _name(text)
        if name is None:
            _plant(root, text)
        else:
            names.setdefault(name, []).append(text)
    return IgnoreRules(tuple(sorted(texts)), names, root)


def rule_faults(texts: Sequence[str]) -> tuple[RuleFault, ...]:
    """Return what is wrong with each rule that cannot be read, in order."""
    faults = []
    for number, text in enumerate(texts):
        try:
            if _name(text) is None:
                _steps(text)
        except PathTextError as error:
            faults.append(RuleFault(number, text, error.character, error.reason))
    return tuple(faults)


def rule_of_name(name: str) -> str:
    """Return the rule that leaves out the members of a name at any depth: the name, in quotation marks where needed."""
    try:
        is_plain = _name(name) == name
    except PathTextError:
        is_plain = False
    return name if is_plain else quoted(name)


def _name(text: str) -> str | None:
    """Return the name that a rule holds for at any depth; None where it is a path."""
    _refuse_unseen(text)
    if text.startswith('"'):
        name, end = read_quoted(text, 0)
        if end < len(text):
            raise PathTextError('inside a path a name in quotation marks stands in brackets: a["b.c"]', end + 1)
        return name
    steps = _steps(text)
    is_name = len(steps) == 1 and isinstance(steps[0], str) and not text.startswith(("$.", "["))
    return str(steps[0]) if is_name else None


def _refuse_unseen(text: str) -> None:
    """A rule is one line that shows all it holds, so that lists of rules can be written and read line by line."""
    unseen = next((at for at, sign in enumerate(text) if not sign.isprintable()), None)
    if unseen is not None:
        raise PathTextError("what cannot be seen stands escaped, in a name in quotation marks", unseen + 1)
    if text != text.strip():
        at = 1 if text[0] == " " else len(text)
        raise PathTextError("a name that begins or ends with a blank stands in quotation marks", at)


def _steps(text: str) -> tuple[Step, ...]:
    steps = parse_pattern(text)
    if steps[-1] is Wild.LEVELS:
        raise PathTextError("behind “**” stands the member to be left out", len(text))
    if isinstance(steps[-1], int) or steps[-1] is Wild.ITEM:
        raise PathTextError("a rule ends with a member; an item cannot be left out of its list", len(text))
    return steps


def _plant(root: _Place, text: str) -> None:
    place = root
    for step in _steps(text):
        place = place.behind.setdefault(step, _Place(is_deep=step is Wild.LEVELS))
    place.rules.append(text)


# ------------------------------------------------------------------------------------------------------------ applying


def without(value: Any, rules: IgnoreRules, *, is_observation: bool = False) -> Any:
    """Return a JSON value without the members to be left out; paths count in observations only."""
    return _without(value, rules.names, rules._places if is_observation else ())


def _without(value: Any, names: Mapping[str, object], places: tuple[_Place, ...]) -> Any:
    if isinstance(value, Mapping):
        kept = {}
        for name, item in value.items():
            inner = _behind(places, name) if places else ()
            if name not in names and not any(place.rules for place in inner):
                kept[name] = _without(item, names, inner)
        return kept
    if isinstance(value, list | tuple):
        return [_without(item, names, _behind(places, index) if places else ()) for index, item in enumerate(value)]
    return value


@dataclass(frozen=True, slots=True)
class HiddenMember:
    """A member that is left out: by which rules, where, and what it holds."""

    rules: Sequence[str]
    steps: tuple[str | int, ...]
    value: Any


def hidden_members(
    value: Any, rules: IgnoreRules, *, is_observation: bool = False, most: int = 1_000_000
) -> tuple[list[HiddenMember], int]:
    """Return in order what ``without`` leaves out of a value, without recursion, and how many nodes were looked at.

    Below a hidden member nothing else is looked for; behind ``most`` nodes neither.
    """
    found: list[HiddenMember] = []
    waiting: list[tuple[tuple[str | int, ...], Any, tuple[_Place, ...]]] = [
        ((), value, rules._places if is_observation else ())
    ]
    read = 0
    while waiting and read < most:
        steps, node, places = waiting.pop()
        read += 1
        deeper = []
        for step, item in _parts(node):
            inner = _behind(places, step) if places else ()
            hiding = [*_named(rules, step), *(rule for place in inner for rule in place.rules)]
            if hiding:
                found.append(HiddenMember(hiding, (*steps, step), item))
            else:
                deeper.append(((*steps, step), item, inner))
        waiting += reversed(deeper)
    return found, read


def _named(rules: IgnoreRules, step: str | int) -> Sequence[str]:
    return rules.names.get(step, ()) if isinstance(step, str) else ()


def _parts(node: Any) -> Iterable[tuple[str | int, Any]]:
    if isinstance(node, Mapping):
        return node.items()
    return enumerate(node) if isinstance(node, list | tuple) else ()


def _behind(places: Iterable[_Place], step: str | int) -> tuple[_Place, ...]:
    """Return the points that a member (by name) or item (by number) of a value leads to."""
    wild = Wild.MEMBER if isinstance(step, str) else Wild.ITEM
    found = []
    for place in places:
        found += [reached for key in (step, wild) if (reached := place.behind.get(key)) is not None]
        if place.is_deep:
            found.append(place)
    return _closed(found)


def _closed(places: Iterable[_Place]) -> tuple[_Place, ...]:
    """Add what "**" reaches without a step; each point once."""
    found: dict[int, _Place] = {}
    for place in places:
        found[id(place)] = place
        deep = place.behind.get(Wild.LEVELS)
        if deep is not None:
            found[id(deep)] = deep
    return tuple(found.values())
