"""Where a path leads in an observation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from evalrunner.data import Json

ABSENT: Final = object()
"""What ``look_up`` gives for a path that leads nowhere; null is a value and therefore present."""

MAX_INDEX_DIGITS: Final = 16  # 2**53 - 1, the largest whole number a path may hold, has as many


def look_up(value: Json, path: Sequence[str | int]) -> object:
    """Follow a path and give what stands there, or ``ABSENT``.

    A segment names a member of an object (a number is written as text), or an item of a list by its canonical index.
    The text ``length`` on a list gives the number of its items. Nothing stands below a scalar.
    """
    here: object = value
    for segment in path:
        if isinstance(here, dict):
            here = here.get(segment if isinstance(segment, str) else str(segment), ABSENT)
        elif isinstance(here, list):
            here = _item(here, segment)
        else:
            return ABSENT
        if here is ABSENT:
            return ABSENT
    return here


def _item(items: list[object], segment: str | int) -> object:
    if segment == "length":
        return len(items)
    index = segment if isinstance(segment, int) else _canonical_index(segment)
    return items[index] if 0 <= index < len(items) else ABSENT


def _canonical_index(text: str) -> int:
    """Read ``0`` or digits without a leading zero; -1 for any other text (``01``, ``+1``, ``1.0``, Arabic digits)."""
    if not (text.isascii() and text.isdigit()) or len(text) > MAX_INDEX_DIGITS:
        return -1
    return int(text) if text == "0" or text[0] != "0" else -1
