"""JSON values: their bounds, immutable copies, equality and the ways JavaScript counts text.

Bounds are counted before anything else looks at a value: the top value has depth 0, every object, list and scalar
counts one. The count goes level by level and so needs no recursion; everything that recurses runs only on values that
have passed it, or counts its own depth. A cyclic value never ends by itself, so it overruns a bound, and only then
is the exact, slower walk made that tells a cycle from a value that is merely too large.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import copysign, inf, isfinite
from sys import float_info
from typing import Any, Final, NoReturn, Self, TypeAlias, TypeVar

from evalrunner.errors import DATA_CYCLE, DATA_LIMIT, EvaluationError, NotJsonError

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
JsonObject: TypeAlias = "Mapping[str, Json]"
PlainObject: TypeAlias = "dict[str, Json]"

MAX_DEPTH: Final = 60
MAX_VALUES: Final = 500_000
MAX_WHOLE: Final = 2**53 - 1
PROTO: Final = "__proto__"

V = TypeVar("V")


# ------------------------------------------------------------------------------------------------ immutable containers


def _refuse(self: object, *args: object, **kwargs: object) -> NoReturn:
    raise TypeError("this value is immutable; thaw() gives a copy that can be changed")


class FrozenDict(dict[str, V]):
    """A dict that refuses every change; it reads, compares and serialises like any other dict."""

    __slots__ = ()
    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (dict(self),)


class FrozenList(list[V]):
    """A list that refuses every change; it reads, compares and serialises like any other list."""

    __slots__ = ()
    __setitem__ = __delitem__ = __iadd__ = __imul__ = append = clear = extend = insert = pop = remove = _refuse
    reverse = sort = _refuse

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (list(self),)


FreeData: TypeAlias = FrozenDict[Json]

_DICTS: Final = frozenset[object]((dict, FrozenDict))
_LISTS: Final = frozenset[object]((list, tuple, FrozenList))
_TEXT: Final = frozenset[object]((str,))
_NUMBERS: Final = frozenset[object]((int, float))
_SCALARS: Final = _TEXT | _NUMBERS | {bool, type(None)}
_SURE: Final = _SCALARS | _DICTS | _LISTS


# -------------------------------------------------------------------------------------------------------------- bounds


def check_bounds(value: object) -> None:
    """Refuse a value that is nested too deeply, too large (EVALUATION_DATA_LIMIT) or cyclic (EVALUATION_DATA_CYCLE)."""
    if not _is_within_bounds(value):
        _explain_bounds(value)


def _is_within_bounds(value: object) -> bool:
    holders = _holders([value])
    count = 1
    for _ in range(MAX_DEPTH):
        if not holders:
            return True
        children = _children(holders)
        count += len(children)
        if count > MAX_VALUES:
            return False
        holders = _holders(children)
    return not _children(holders)


def _holders(values: list[Any]) -> list[Any]:
    """Give the values that may hold others: all but plain scalars."""
    return [value for value in values if value.__class__ not in _SCALARS]


def _children(holders: list[Any]) -> list[Any]:
    children: list[Any] = []
    for holder in holders:
        if holder.__class__ in _DICTS:
            children += holder.values()
        elif holder.__class__ in _LISTS:
            children += holder
        else:
            children += _items_of_odd_type(holder)
        # One list may be held many times over: stop before the copies fill the memory.
        if len(children) > MAX_VALUES:
            break
    return children


def _items_of_odd_type(value: object) -> Sequence[object]:
    """Give what a value of a derived type holds; what is no container, also text, holds nothing."""
    if isinstance(value, Mapping):
        return list(value.values())
    return list(value) if isinstance(value, list | tuple) else ()


def _explain_bounds(value: object) -> NoReturn:
    """Walk in document order and raise for the first thing out of bounds."""
    _Explorer().visit(value, 0)
    raise EvaluationError(DATA_LIMIT)


class _Explorer:
    def __init__(self) -> None:
        self.count = 1
        self.above: set[int] = set()

    def visit(self, holder: object, depth: int) -> None:
        if id(holder) in self.above:
            raise EvaluationError(DATA_CYCLE)
        children = _children([holder])
        self.count += len(children)
        if depth > MAX_DEPTH or self.count > MAX_VALUES:
            raise EvaluationError(DATA_LIMIT)
        self.above.add(id(holder))
        for child in _holders(children):
            self.visit(child, depth + 1)
        self.above.discard(id(holder))


# ------------------------------------------------------------------------------------------------------------ freezing


def freeze(value: object) -> Json:
    """Copy a JSON value into a detached, immutable one; bounds are checked first.

    ``__proto__`` members are dropped at any depth. Raises NotJsonError for numbers that are not finite as doubles and
    for anything JSON does not know. A value that is frozen already is given back as it is.
    """
    if value.__class__ not in (FrozenDict, FrozenList):
        check_bounds(value)
    return freeze_bounded(value)


def freeze_object(value: object) -> FreeData:
    """Freeze free data: as ``freeze``, but the top value must be an object (else NotJsonError)."""
    if value.__class__ is not FrozenDict:
        check_bounds(value)
    return freeze_bounded_object(value)


def freeze_bounded_object(value: object) -> FreeData:
    """Freeze free data whose bounds were checked with its holder's."""
    if not isinstance(value, Mapping):
        raise NotJsonError
    frozen = freeze_bounded(value)
    assert isinstance(frozen, FrozenDict)
    return frozen


def freeze_bounded(value: Any) -> Json:
    """Freeze a value whose bounds were checked before; it is refused for anything else that ``freeze`` refuses."""
    kind = value.__class__
    if kind is str or value is None or kind is bool or kind is FrozenDict or kind is FrozenList:
        return value  # type: ignore[no-any-return]
    if kind is dict:
        return _freeze_members(value)
    if kind is list or kind is tuple:
        return FrozenList([freeze_bounded(item) for item in value])
    if kind is int or kind is float:
        return finite_number(value)
    return _freeze_odd_type(value)


def _freeze_members(value: Mapping[Any, Any]) -> FreeData:
    members = {}
    for key, item in value.items():
        if key.__class__ is not str:
            key = _plain_key(key)
        if key != PROTO:
            members[key] = freeze_bounded(item)
    return FrozenDict(members)


def _plain_key(key: object) -> str:
    if not isinstance(key, str):
        raise NotJsonError
    return str.__str__(key)


def _freeze_odd_type(value: object) -> Json:
    """Reduce a value of a derived type (an enum member, an ordered dict …) to the JSON value it stands for."""
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, Mapping):
        return _freeze_members(value)
    if isinstance(value, list | tuple):
        return FrozenList([freeze_bounded(item) for item in value])
    if isinstance(value, int | float):
        return finite_number(int(value) if isinstance(value, int) else float(value))
    raise NotJsonError


def finite_number(value: int | float) -> int | float:
    """Give back a number that is finite as a double, else raise NotJsonError."""
    if not isfinite(as_double(value)):
        raise NotJsonError
    return value


def check_object(value: object) -> None:
    """Check free data exactly as ``freeze_object`` does, without making a copy (EvaluationError as there)."""
    if value.__class__ is FrozenDict:
        return
    if value.__class__ is not dict or not _is_surely_sound([value]):
        check_bounds(value)
        freeze_bounded_object(value)


def _is_surely_sound(holders: list[Any]) -> bool:
    """Look at bounds and kinds in one go; False asks for the exact walks (also for ``__proto__`` and odd types)."""
    count = 1
    for _ in range(MAX_DEPTH):
        children = _children(holders)
        count += len(children)
        if count > MAX_VALUES or not _holds_only_json(holders, children):
            return False
        holders = _holders(children)
        if not holders:
            return True
    return False


def _holds_only_json(holders: list[Any], children: list[Any]) -> bool:
    key_kinds: set[object] = set()
    for holder in holders:
        if holder.__class__ is dict:
            key_kinds.update(map(type, holder))
            if PROTO in holder:
                return False
    kinds: set[object] = set(map(type, children))
    if not (key_kinds <= _TEXT and kinds <= _SURE):
        return False
    numbers: list[float] = [child for child in children if child.__class__ in _NUMBERS] if kinds & _NUMBERS else []
    return all(-float_info.max <= number <= float_info.max for number in numbers)


def thaw(value: Json) -> Any:
    """Copy a frozen (or plain, bounded) JSON value into plain dicts and lists that nobody else holds."""
    if isinstance(value, dict):
        return {key: thaw(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [thaw(item) for item in value]
    return value


# ------------------------------------------------------------------------------------------------------------- numbers


def is_number(value: object) -> bool:
    """Tell whether a value is a JSON number; true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def as_double(value: int | float) -> float:
    """Give the IEEE double a number stands for; an integer beyond the range becomes an infinity, as in JavaScript."""
    try:
        return float(value)
    except OverflowError:
        return inf if value > 0 else -inf


def whole_number(value: object) -> int | None:
    """Give a whole number as int (1.0 is 1), or None for anything else; true and fractions are not whole."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    return int(value) if isinstance(value, float) and value.is_integer() else None


def same_number(left: int | float, right: int | float) -> bool:
    """Compare as doubles, but keep -0 and 0 apart (``Object.is`` of JavaScript)."""
    first, second = as_double(left), as_double(right)
    return first == second and (first != 0 or copysign(1, first) == copysign(1, second))


# ------------------------------------------------------------------------------------------------------------ equality


def deep_equal(left: Json, right: Json) -> bool:
    """Compare two bounded JSON values.

    Types must agree (true is not 1, a list is no object), the order of keys does not matter, text is compared without
    Unicode normalisation, numbers as doubles with -0 and 0 apart.
    """
    if isinstance(left, dict) and isinstance(right, dict):
        return len(left) == len(right) and all(
            key in right and deep_equal(item, right[key]) for key, item in left.items()
        )
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(map(deep_equal, left, right))
    return same_scalar(left, right)


def same_scalar(left: Json, right: Json) -> bool:
    """Compare two scalars as ``deep_equal`` does; False as soon as one is an object or a list."""
    if isinstance(left, str) and isinstance(right, str):
        return left == right or (_has_surrogates(left + right) is not None and utf16(left) == utf16(right))
    if isinstance(left, bool) or isinstance(right, bool) or left is None or right is None:
        return left is right
    if isinstance(left, int | float) and isinstance(right, int | float):
        return same_number(left, right)
    return False


# ---------------------------------------------------------------------------------------------------------------- text

_has_surrogates = re.compile("[\ud800-\udfff]").search


def utf16(text: str) -> bytes:
    """Give the UTF-16 units of a text, two bytes each; unpaired surrogates stay as they are."""
    return text.encode("utf-16-le", "surrogatepass")


def utf16_length(text: str) -> int:
    """Count UTF-16 units, as JavaScript's ``length`` does."""
    return len(text) if text.isascii() else len(utf16(text)) // 2


def utf16_contains(text: str, part: str) -> bool:
    """Search on UTF-16 units: half of a surrogate pair is found inside an emoji."""
    if part in text:
        return True
    return _has_surrogates(text + part) is not None and _contains_units(utf16(text), utf16(part))


def _contains_units(text: bytes, part: bytes) -> bool:
    found = text.find(part)
    while found % 2 == 1:  # between two units; -1 is odd too
        if found == -1:
            return False
        found = text.find(part, found + 1)
    return True
