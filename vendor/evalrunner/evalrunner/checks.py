"""The small checks that suites and reports are made of.

A check adds one location to ``findings`` for each fault and goes on, so that a reader learns every fault at once.
``where`` is the location of the object that holds a member, "" for the top. Why not pydantic: the exact locations,
their order and repetitions, and the two sorts of findings in assertions are part of the format, and one report has
millions of values; these checks are several times cheaper than a validation that is then translated.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Set
from typing import Any, Final, TypeAlias

from evalrunner.data import MAX_WHOLE, PROTO, as_double, freeze_bounded, is_number, whole_number
from evalrunner.errors import NotJsonError

Findings: TypeAlias = list[str]
Object: TypeAlias = Mapping[str, Any]

MISSING: Final = object()
MAX_ID: Final = 160
MAX_ARRAY_INDEX: Final = 2**32 - 2

# What JavaScript's trim() removes; Python's strip() also takes U+0085 and U+001C–001F, and leaves U+FEFF.
BLANKS: Final = (
    "\t\n\v\f\r \u00a0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000\ufeff"
)

_is_id = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]*").fullmatch
_is_index_text = re.compile(r"0|[1-9][0-9]{0,9}").fullmatch


def trim(text: str) -> str:
    """Remove blanks at both ends as JavaScript does."""
    return text.strip(BLANKS)


def at(where: str, name: object) -> str:
    """Give the location of a member or item."""
    return f"{where}.{name}" if where else str(name)


def is_object(value: object) -> bool:
    return value.__class__ is dict or isinstance(value, Mapping)


def is_list(value: object) -> bool:
    return isinstance(value, list | tuple)


def is_array_index(key: str) -> bool:
    """Tell whether JavaScript lists a key among the numeric ones, before all others."""
    return _is_index_text(key) is not None and int(key) <= MAX_ARRAY_INDEX


def in_listing_order(value: Mapping[str, Any]) -> Iterator[str]:
    """Give the keys as JavaScript lists them: array indexes in numeric order, then the rest as they came."""
    indexes = [key for key in value if isinstance(key, str) and is_array_index(key)]
    yield from sorted(indexes, key=int)
    known = set(indexes)
    yield from (key for key in value if key not in known)


# ---------------------------------------------------------------------------------------------------------------- text


def check_text(
    holder: Object,
    name: str,
    where: str,
    findings: Findings,
    *,
    minimum: int = 1,
    maximum: int | None = None,
    optional: bool = False,
    trimmed: bool = False,
) -> None:
    """Check a text member; lengths count characters, after trimming if the format trims this member."""
    value = holder.get(name, MISSING)
    if value is MISSING:
        if not optional:
            findings.append(at(where, name))
        return
    if value.__class__ is str and maximum is None and len(value) >= minimum:
        return  # most members of a report: nothing but the length to look at
    measured = trim(value) if trimmed and isinstance(value, str) else value
    check_text_value(measured, at(where, name), findings, minimum, maximum)


def check_text_value(value: object, path: str, findings: Findings, minimum: int, maximum: int | None) -> None:
    if not isinstance(value, str):
        findings.append(path)
    check_length(value, path, findings, minimum, maximum)


def check_length(value: object, path: str, findings: Findings, minimum: int, maximum: int | None) -> None:
    """Check the length of a text or list, whichever of the two was asked for: a wrong type may be too long as well."""
    if isinstance(value, str | list | tuple) and not (
        minimum <= len(value) and (maximum is None or len(value) <= maximum)
    ):
        findings.append(path)


def check_id(holder: Object, name: str, where: str, findings: Findings) -> None:
    value = holder.get(name, MISSING)
    path = at(where, name)
    check_text_value(value, path, findings, 1, MAX_ID)
    if isinstance(value, str) and _is_id(value) is None:
        findings.append(path)


def check_choice(holder: Object, name: str, where: str, findings: Findings, choices: Container[str]) -> None:
    value = holder.get(name)
    if not (isinstance(value, str) and value in choices):
        findings.append(at(where, name))


# ------------------------------------------------------------------------------------------------------------- numbers


def check_whole(holder: Object, name: str, where: str, findings: Findings) -> None:
    """Check a whole number from 0 to 2^53 - 1."""
    number = _finite_whole(holder.get(name))
    if number is None:
        findings.append(at(where, name))
    else:
        check_whole_range(number, at(where, name), findings)


def _finite_whole(value: object) -> int | None:
    return whole_number(value) if value.__class__ is int or is_finite(value) else None


def check_whole_range(number: int, path: str, findings: Findings) -> None:
    """Add a finding for a number below 0 or above the safe integers, two for one below the safe integers."""
    if abs(number) > MAX_WHOLE:
        findings.append(path)
    if number < 0:
        findings.append(path)


def is_finite(value: Any) -> bool:
    """Tell whether a value is a number that is finite as a double."""
    return is_number(value) and abs(as_double(value)) != float("inf") and value == value


# ------------------------------------------------------------------------------------------------- lists and objects


def check_list(
    holder: Object,
    name: str,
    where: str,
    findings: Findings,
    check_item: Callable[[Any, str, Findings], None],
    *,
    minimum: int = 0,
    maximum: int | None = None,
    optional: bool = False,
) -> None:
    """Check a list member: its items one by one, then its length."""
    value = holder.get(name, MISSING)
    path = at(where, name)
    if value is MISSING:
        if not optional:
            findings.append(path)
        return
    if is_list(value):
        for index, item in enumerate(value):
            check_item(item, f"{path}.{index}", findings)
    else:
        findings.append(path)
    check_length(value, path, findings, minimum, maximum)


def check_no_others(value: Object, where: str, findings: Findings, known: Set[str]) -> None:
    """Add one finding for an object that has any unknown member."""
    if not value.keys() <= known:
        findings.append(where)


def check_data(holder: Object, name: str, where: str, findings: Findings, *, optional: bool = False) -> None:
    """Check free data whose bounds are known to hold; a bad value is found at the first key below the data object."""
    value = holder.get(name, MISSING)
    path = at(where, name)
    if value is MISSING and optional:
        return
    if not isinstance(value, Mapping):
        findings.append(path)
        return
    findings.extend(at(path, key) for key in _bad_keys(value))


def _bad_keys(value: Mapping[str, Any]) -> Iterable[str]:
    for key in in_listing_order(value):
        if key != PROTO and not (isinstance(key, str) and is_json(value[key])):
            yield key


def is_json(value: object) -> bool:
    """Tell whether a value with known bounds is JSON throughout."""
    try:
        freeze_bounded(value)
    except NotJsonError:
        return False
    return True
