"""Strict JSON in which nothing gets lost: repeated keys, the order of keys, the form of numbers.

``json.loads`` keeps the last of repeated keys, takes NaN and Infinity and reads ``-0`` as an integer. Scenario files
and reports are judged by what stands in the file, so objects come out as their members in the order written.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, NoReturn

# No number that is asked for here has more digits; int() refuses very long texts anyway.
_LONGEST_WHOLE: Final = 400


class Members(list[tuple[str, Any]]):
    """The members of a JSON object, in the order written, repeated ones too."""


class StrictJsonError(ValueError):
    """Text that is no JSON; the text says what is wrong and in which column."""


def parse_strict(text: str) -> object:
    """Read one JSON value, with ``Members`` for objects; StrictJsonError."""
    try:
        return json.loads(
            text, object_pairs_hook=Members, parse_int=_whole_number, parse_constant=_refuse_constant, strict=True
        )
    except json.JSONDecodeError as error:
        raise StrictJsonError(f"{_reason(text, error)} at column {error.pos + 1}") from None
    except RecursionError:
        raise StrictJsonError("recursion limit exceeded: lists and objects are nested too deeply") from None


def members_of(value: object) -> Members | None:
    """Give the members of an object, parsed here or plain; None for anything else."""
    if isinstance(value, Members):
        return value
    return Members(value.items()) if isinstance(value, Mapping) else None


def plain(value: Any) -> Any:
    """Give a parsed value with dicts for objects; the last of repeated keys counts."""
    if isinstance(value, Members):
        return {key: plain(member) for key, member in value}
    return [plain(entry) for entry in value] if isinstance(value, list) else value


def has_lone_surrogate(text: str) -> bool:
    """Tell whether an escape for half a character was left alone; such text cannot be written as UTF-8."""
    return not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text)


def _reason(text: str, error: json.JSONDecodeError) -> str:
    if text.startswith("\ufeff"):
        return "byte order mark, which JSON does not allow,"
    words = error.msg.removesuffix(" at")  # some of json's messages end so, others do not
    return words[0].lower() + words[1:]


def _refuse_constant(name: str) -> NoReturn:
    raise StrictJsonError(f"{name} is not JSON")


def _whole_number(digits: str) -> int | float:
    if digits == "-0":
        return -0.0
    return int(digits) if len(digits) <= _LONGEST_WHOLE else float(digits)
