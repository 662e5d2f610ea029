"""The conversation inside inputs and observations.

Observations are free data: what a target calls its answer differs. The places where agents commonly put text are tried
in order; whatever is not text is summed up in blocks; where no text is found the page shows the JSON instead.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reports.domain.json_tree import scalar_text

Json = Any  # free data of a stored report

# Paths at which the text of a user's input or an agent's answer is commonly found, most specific first.
_INPUT_TEXTS = (
    ("text",),
    ("message",),
    ("message", "text"),
    ("message", "content"),
    ("prompt",),
    ("content",),
    ("question",),
    ("query",),
    ("input",),
)
_OUTPUT_TEXTS = (
    ("response", "message"),
    ("response", "text"),
    ("response", "content"),
    ("response", "message", "text"),
    ("response", "message", "content"),
    ("message", "text"),
    ("message", "content"),
    ("message",),
    ("text",),
    ("reply",),
    ("answer",),
    ("output",),
    ("output", "text"),
    ("content",),
    ("response",),
    ("finalMessage",),
)
_SHOWN_ITEMS = 6  # of one block


@dataclass(frozen=True, slots=True)
class Block:
    """A structured part in short: a title and a few lines; ``more`` counts the items left out."""

    title: str
    lines: tuple[str, ...]
    more: int = 0


@dataclass(frozen=True, slots=True)
class Utterance:
    """What one side said; ``text`` is None where nothing that reads like speech was found."""

    text: str | None
    blocks: tuple[Block, ...]


def user_utterance(data: Mapping[str, Json]) -> Utterance:
    """Return what the user said in a turn's input."""
    return Utterance(_first_text(data, _INPUT_TEXTS), _blocks(data, _INPUT_BLOCKS))


def agent_utterance(observation: Mapping[str, Json] | None) -> Utterance:
    """Return what the agent said in a turn's observation; nothing without one."""
    if observation is None:
        return Utterance(None, ())
    return Utterance(_first_text(observation, _OUTPUT_TEXTS), _blocks(observation, _OUTPUT_BLOCKS))


def _at(value: Json, path: Sequence[str]) -> Json:
    for name in path:
        if not isinstance(value, dict) or name not in value:
            return None
        value = value[name]
    return value


def _first_text(data: Json, paths: Sequence[Sequence[str]]) -> str | None:
    for path in paths:
        found = _at(data, path)
        if isinstance(found, str) and found.strip():
            return found
    return _last_message(data)


def _last_message(data: Json) -> str | None:
    messages = data.get("messages") if isinstance(data, dict) else None
    last = messages[-1] if isinstance(messages, list) and messages else None
    content = last.get("content") if isinstance(last, dict) else None
    return content if isinstance(content, str) and content.strip() else None


def _blocks(
    data: Mapping[str, Json], makers: Sequence[tuple[str, Sequence[str], Callable[[Json], list[str]]]]
) -> tuple[Block, ...]:
    blocks = []
    for title, path, lines_of in makers:
        found = _at(data, path)
        lines = lines_of(found) if found not in (None, "", [], {}) else []
        if lines:
            blocks.append(Block(title, tuple(lines[:_SHOWN_ITEMS]), max(0, len(lines) - _SHOWN_ITEMS)))
    return tuple(blocks)


def _pairs(value: Json) -> list[str]:
    if not isinstance(value, dict):
        return [scalar_text(value)]
    return [f"{name}: {_short(item)}" for name, item in value.items()]


def _short(value: Json) -> str:
    return value if isinstance(value, str) and len(value) <= 80 else scalar_text(value)


def _named_items(*names: str) -> Callable[[Json], list[str]]:
    """Make lines of a list of objects: the first of ``names`` that an item has, then what else it holds in short."""

    def lines(value: Json) -> list[str]:
        items = value if isinstance(value, list) else [value]
        return [_item_line(item, names) for item in items]

    return lines


def _item_line(item: Json, names: Sequence[str]) -> str:
    if not isinstance(item, dict):
        return _short(item)
    name = next((item[name] for name in names if isinstance(item.get(name), str)), "")
    rest = [f"{key} {_short(value)}" for key, value in item.items() if value != name or not isinstance(value, str)]
    return " · ".join(part for part in (name, ", ".join(rest)) if part)


def _options(value: Json) -> list[str]:
    options = value.get("options") if isinstance(value, dict) else None
    if not isinstance(options, list):
        return _pairs(value)
    return [_option_line(index, option) for index, option in enumerate(options)]


def _option_line(index: int, option: Json) -> str:
    label = option.get("label") or option.get("id") if isinstance(option, dict) else option
    return f"{index + 1}. {_short(label)}"


_INPUT_BLOCKS = (("Selection", ("selection",), _pairs),)
_OUTPUT_BLOCKS = (
    ("Status", ("response", "status"), lambda value: [_short(value)]),
    ("Reason", ("response", "reason"), lambda value: [_short(value)]),
    ("Choice", ("response", "interaction"), _options),
    ("Tool calls", ("toolCalls",), _named_items("name", "tool")),
    ("Tool calls", ("tool_calls",), _named_items("name", "tool")),
    ("Facts", ("checkpoint", "facts"), _named_items("type", "name", "id")),
    ("Effects", ("checkpoint", "effects"), _named_items("type", "name", "id")),
    ("Events", ("events",), _named_items("type", "name")),
    ("Usage", ("usage",), lambda value: [", ".join(_pairs(value))]),
)
