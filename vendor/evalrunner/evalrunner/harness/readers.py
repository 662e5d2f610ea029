"""Readers of JSON values: each gives a value of the asked type or says what is wrong, and where.

The texts follow the original's (Rust's serde): ``missing field `NAME` ``, ``duplicate field `NAME` ``,
``unknown variant `VALUE`, expected one of …``, ``invalid type: …, expected …``, after the place in the row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

from evalrunner.harness.strictjson import Members, has_lone_surrogate, members_of

U64: Final = (0, 2**64 - 1)
U32: Final = (0, 2**32 - 1)
I32: Final = (-(2**31), 2**31 - 1)
_NAMES: Final = {U64: "u64", U32: "u32", I32: "i32"}
_LONGEST_SHOWN: Final = 60


class ReadError(ValueError):
    """A value is not what is expected; the text names place, value and expectation."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a value stands; ``unknown_keys`` collects the places of keys that nobody reads."""

    name: str = ""
    unknown_keys: list[str] = field(default_factory=list)

    def __truediv__(self, key: str | int) -> Place:
        name = f"{self.name}[{key}]" if isinstance(key, int) else f"{self.name}.{key}" if self.name else key
        return replace(self, name=name)

    def error(self, text: str) -> ReadError:
        return ReadError(f"{self.name}: {text}" if self.name else text)

    def wrong_type(self, value: object, expected: str) -> ReadError:
        return self.error(f"invalid type: {_describe(value)}, expected {expected}")


Reader: TypeAlias = Callable[[object, Place], Any]


def _describe(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return f"boolean `{str(value).lower()}`"
    if isinstance(value, int):
        return f"integer `{value}`"
    if isinstance(value, float):
        return f"floating point `{value}`"
    if isinstance(value, str):
        return f"string `{value[:_LONGEST_SHOWN]}`"
    return "map" if members_of(value) is not None else "sequence"


# ------------------------------------------------------------------------------------------------------------- scalars


def text(value: object, at: Place) -> str:
    if not isinstance(value, str):
        raise at.wrong_type(value, "a string")
    if has_lone_surrogate(value):
        raise at.error("lone surrogate in a string")
    return value


def boolean(value: object, at: Place) -> bool:
    if not isinstance(value, bool):
        raise at.wrong_type(value, "a boolean")
    return value


def number(value: object, at: Place) -> float:
    """Read any JSON number as a double."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise at.wrong_type(value, "f64")
    try:
        return float(value)
    except OverflowError:
        raise at.error("number out of range, expected f64") from None


def whole(bounds: tuple[int, int]) -> Reader:
    """Read an integer within bounds; one with a point or exponent is none."""
    least, most = bounds

    def read(value: object, at: Place) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise at.wrong_type(value, _NAMES[bounds])
        if not least <= value <= most:
            raise at.error(f"invalid value: integer `{value}`, expected {_NAMES[bounds]}")
        return value

    return read


def variant(names: Sequence[str], aliases: Mapping[str, str] | None = None) -> Reader:
    """Read one of some names; an alias stands for the name it maps to."""

    def read(value: object, at: Place) -> str:
        given = text(value, at)
        name = (aliases or {}).get(given, given)
        if name not in names:
            raise at.error(f"unknown variant `{given}`, expected one of {', '.join(f'`{name}`' for name in names)}")
        return name

    return read


# ------------------------------------------------------------------------------------------------------------ compounds


def optional(reader: Reader) -> Reader:
    """Read null as None."""

    def read(value: object, at: Place) -> Any:
        return None if value is None else reader(value, at)

    return read


def anything(value: object, at: Place) -> object:
    return value


def list_of(reader: Reader) -> Reader:
    """Read a list as a tuple."""

    def read(value: object, at: Place) -> tuple[Any, ...]:
        if not isinstance(value, list | tuple) or isinstance(value, Members):
            raise at.wrong_type(value, "a sequence")
        return tuple(reader(entry, at / index) for index, entry in enumerate(value))

    return read


def map_of(reader: Reader) -> Reader:
    """Read an object of any keys as a dict; the last of repeated keys counts, at the place of the first."""

    def read(value: object, at: Place) -> dict[str, Any]:
        members = members_of(value)
        if members is None:
            raise at.wrong_type(value, "a map")
        return {text(key, at): reader(member, at / key) for key, member in members}

    return read


def object_of(fields: Mapping[str, Reader], required: Sequence[str] = (), *, allow_unknown: bool = False) -> Reader:
    """Read an object with these fields as a dict of those that are there.

    A field must not stand twice; required ones are missed in the order given. Other keys are ignored, and noted unless
    ``allow_unknown``.
    """

    def read(value: object, at: Place) -> dict[str, Any]:
        members = members_of(value)
        if members is None:
            raise at.wrong_type(value, "a map")
        found: dict[str, Any] = {}
        for key, member in members:
            if key in found:
                raise at.error(f"duplicate field `{key}`")
            if key in fields:
                found[key] = fields[key](member, at / key)
            elif not allow_unknown:
                at.unknown_keys.append((at / text(key, at)).name)
        for key in required:
            if key not in found:
                raise at.error(f"missing field `{key}`")
        return found

    return read
