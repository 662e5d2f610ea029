"""Places in a JSON value, as text: ``response.facts[0].price``, and patterns of such places.

    path    = [ "$" ] step { step }
    step    = [ "." ] member | "[" item "]"          the first step of a path has no dot, behind "$" it has one
    member  = name | "*" | "**"                      "*": any one member; "**": any number of levels, none as well
    name    = one or more characters, none of . [ ] * "
    item    = digits | "*" | nothing | quoted        digits: the item of a list; "*" or nothing: any item of a list
    quoted  = a JSON text, for names of any characters: ["two words"]

What has neither "*" nor an empty item is one place. ``path_text`` writes places so that ``parse_path`` reads them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from enum import Enum
from typing import Final

from evalrunner.errors import PathTextError


class Wild(Enum):
    """A step of a pattern that stands for more than one place."""

    MEMBER = "*"
    ITEM = "[*]"
    LEVELS = "**"


Step = str | int | Wild

_NAME: Final = re.compile(r'[^.\[\]*"]+')
_INDEX: Final = re.compile(r"[0-9]{1,9}")
_LEVELS_END: Final = re.compile(r"\*\*?")


def member_path(path: str, label: str | int) -> str:
    """Append a member or item to the text of a path: ``a.b``, ``a[0]``, ``a["x y"]``.

    The text holds no control, no direction mark and no unpaired surrogate, whatever the name does.
    """
    if isinstance(label, int):
        return f"{path}[{label}]"
    if label.isidentifier():
        return f"{path}.{label}" if path else label
    return f"{path}[{quoted(label)}]"


def path_text(steps: Iterable[str | int]) -> str:
    """Return the text of a path; "" for the whole value."""
    path = ""
    for step in steps:
        path = member_path(path, step)
    return path


def quoted(name: str) -> str:
    """Return a name as a JSON text that can be stored, sent and read: what cannot be printed is escaped."""
    return json.dumps(name, ensure_ascii=not name.isprintable())


def parse_path(text: str) -> tuple[str | int, ...]:
    """Read the text of one place; "" is the whole value. PathTextError where it is none, or more than one."""
    steps = parse_pattern(text) if text else ()
    places = tuple(step for step in steps if not isinstance(step, Wild))
    if len(places) < len(steps):
        raise PathTextError("a place has no “*”; an item has its number in the brackets", 1)
    return places


def parse_pattern(text: str) -> tuple[Step, ...]:
    """Read a path that may hold wildcards; PathTextError names the character from which on it is none."""
    steps: list[Step] = []
    at = 1 if text.startswith(("$.", "$[")) else 0
    while at < len(text):
        if text[at] == "[":
            step, at = _bracket(text, at)
        else:
            step, at = _member(text, _behind_dot(text, at, is_first=at == 0))
        if not (step is Wild.LEVELS and steps and steps[-1] is Wild.LEVELS):
            steps.append(step)
    if not steps:
        raise PathTextError("a path names at least one member", 1)
    return tuple(steps)


def _behind_dot(text: str, at: int, *, is_first: bool) -> int:
    """Return where the member begins that must stand at a place."""
    if text[at] == ".":
        if is_first:
            raise PathTextError("a path does not begin with a dot", 1)
        return at + 1
    if is_first:
        return at
    if text[at] == "]":
        raise PathTextError("“]” closes no bracket", at + 1)
    if text[at] in '*"':
        raise PathTextError(f'“{text[at]}” is no part of a plain name; write the name as ["…"]', at + 1)
    raise PathTextError("a dot or a bracket is missing", at + 1)


def _member(text: str, at: int) -> tuple[Step, int]:
    wild = _LEVELS_END.match(text, at)
    if wild is not None:
        return Wild(wild.group()), wild.end()
    name = _NAME.match(text, at)
    if name is None:
        raise PathTextError("a member name is missing", at + 1)
    return name.group(), name.end()


def _bracket(text: str, at: int) -> tuple[Step, int]:
    step, end = _inside(text, at + 1)
    if not text.startswith("]", end):
        raise PathTextError(
            'brackets hold an item number, “*”, nothing, or a name in quotation marks: [0], ["name"]', at + 1
        )
    return step, end + 1


def _inside(text: str, at: int) -> tuple[Step, int]:
    if text.startswith('"', at):
        return read_quoted(text, at)
    if text.startswith("*", at):
        return Wild.ITEM, at + 1
    index = _INDEX.match(text, at)
    return (int(index.group()), index.end()) if index is not None else (Wild.ITEM, at)


def read_quoted(text: str, at: int) -> tuple[str, int]:
    """Read the JSON text that begins at a place; return it and where it ends."""
    try:
        value, end = json.JSONDecoder(strict=False).raw_decode(text, at)
    except json.JSONDecodeError:
        raise PathTextError("the name in quotation marks is no JSON text", at + 1) from None
    return str(value), end
