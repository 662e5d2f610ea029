"""Canonical JSON text and its digest: the identity of suites, cases, runs and turns.

The text is what JavaScript's ``JSON.stringify`` writes for a value whose objects list their keys in canonical order:
array indexes in numeric order, then all other keys as the ICU root collation sorts them (``collation``); keys that
the collation cannot tell apart keep the order in which the object lists them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache, partial
from hashlib import sha256
from json import encoder
from typing import Any, Final

from evalrunner.checks import is_array_index
from evalrunner.collation import collation_key
from evalrunner.data import MAX_WHOLE, check_bounds, finite_number
from evalrunner.errors import DATA_LIMIT, EvaluationError, NotJsonError

# Deeper than any value that holds a suite, a case or a turn id; only there to refuse before Python's own limit.
MAX_CANONICAL_DEPTH: Final = 200
# Orders of more keys than this are not remembered: such objects are data, not records that come again and again.
MAX_REMEMBERED_KEYS: Final = 32

_write_text = encoder.encode_basestring
_lone_surrogate = re.compile("[\ud800-\udfff]")


def digest(value: object) -> str:
    """Give the sha-256 of a JSON value's canonical text as 64 lower-case hex digits.

    Raises NotJsonError for what is no JSON, and EVALUATION_DATA_CYCLE or EVALUATION_DATA_LIMIT for a value that is
    cyclic or deeper than MAX_CANONICAL_DEPTH.
    """
    return sha256(canonical_text(value).encode("utf-8")).hexdigest()


def canonical_text(value: object) -> str:
    """Write a JSON value canonically; the text can always be encoded as UTF-8. Raises as ``digest`` does."""
    parts: list[str] = []
    try:
        _write(value, parts, 0)
    except EvaluationError as error:
        if error.code == DATA_LIMIT:
            check_bounds(value)  # tells a cycle from a deep value
        raise
    return _escape_surrogates("".join(parts))


def _escape_surrogates(text: str) -> str:
    """Join surrogates that form a pair, and escape all others, which UTF-8 cannot hold."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
        return _lone_surrogate.sub(lambda found: f"\\u{ord(found[0]):04x}", joined)
    return text


def _write(value: Any, parts: list[str], depth: int) -> None:
    if isinstance(value, str):
        parts.append(_write_text(value))
    elif value is None:
        parts.append("null")
    elif isinstance(value, bool):
        parts.append("true" if value else "false")
    elif isinstance(value, int | float):
        parts.append(number_text(value))
    elif depth > MAX_CANONICAL_DEPTH:
        raise EvaluationError(DATA_LIMIT)
    elif isinstance(value, Mapping):
        _write_members(value, parts, depth)
    elif isinstance(value, list | tuple):
        _write_items(value, parts, depth)
    else:
        raise NotJsonError


def _write_members(value: Mapping[Any, Any], parts: list[str], depth: int) -> None:
    separator = "{"
    for key in canonical_order(tuple(value)):
        parts.append(f"{separator}{_write_text(key)}:")
        _write(value[key], parts, depth + 1)
        separator = ","
    parts.append("{}" if separator == "{" else "}")


def _write_items(value: list[Any] | tuple[Any, ...], parts: list[str], depth: int) -> None:
    separator = "["
    for item in value:
        parts.append(separator)
        _write(item, parts, depth + 1)
        separator = ","
    parts.append("[]" if separator == "[" else "]")


# ---------------------------------------------------------------------------------------------------------------- keys


def canonical_order(keys: tuple[Any, ...]) -> tuple[str, ...]:
    """Sort the keys of one object, given as it lists them; NotJsonError for a key that is no text."""
    return _remembered_order(keys) if len(keys) <= MAX_REMEMBERED_KEYS else _order(keys)


def _order(keys: tuple[Any, ...]) -> tuple[str, ...]:
    if not all(isinstance(key, str) for key in keys):
        raise NotJsonError
    indexes = sorted((key for key in keys if is_array_index(key)), key=int)
    others = [key for key in keys if not is_array_index(key)]
    if len(others) > 1:
        others.sort(key=partial(collation_key, ascii_only="".join(others).isascii()))
    return (*indexes, *others)


_remembered_order = lru_cache(maxsize=4096)(_order)


# ------------------------------------------------------------------------------------------------------------- numbers


def number_text(value: int | float) -> str:
    """Write a number as JavaScript does: the shortest digits that give back the double, 1.0 as 1, -0 as 0."""
    if isinstance(value, int):
        if -MAX_WHOLE <= value <= MAX_WHOLE:
            return int.__repr__(value)
        finite_number(value)
    return _double_text(float(finite_number(value)))


def _double_text(value: float) -> str:
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    digits, point = _shortest_digits(abs(value))
    return sign + (_plain_notation(digits, point) if -6 < point <= 21 else _exponent_notation(digits, point - 1))


def _shortest_digits(value: float) -> tuple[str, int]:
    """Give digits without zeros at either end, and the place of the decimal point counted from their start."""
    mantissa, _, exponent = repr(value).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))
    return digits.rstrip("0"), point


def _plain_notation(digits: str, point: int) -> str:
    if point <= 0:
        return "0." + "0" * -point + digits
    if len(digits) <= point:
        return digits + "0" * (point - len(digits))
    return f"{digits[:point]}.{digits[point:]}"


def _exponent_notation(digits: str, exponent: int) -> str:
    fraction = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{digits[0]}{fraction}e{exponent:+d}"
