"""The eight operators of a check. The actual value may be ``ABSENT``; the expected one is a JSON value.

Numbers are IEEE doubles. ``equals``, ``matches`` and ``contains`` keep -0 and 0 apart, the ordering operators do not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from evalrunner.assertions.paths import ABSENT
from evalrunner.data import (
    as_double,
    deep_equal,
    is_number,
    same_scalar,
    utf16_contains,
    utf16_length,
    whole_number,
)
from evalrunner.models import Operator

Test: TypeAlias = Callable[[Any, Any], bool]


def _exists(actual: Any, expected: Any) -> bool:
    return actual is not ABSENT


def _absent(actual: Any, expected: Any) -> bool:
    return actual is ABSENT


def _equals(actual: Any, expected: Any) -> bool:
    return actual is not ABSENT and deep_equal(actual, expected)


def matches(actual: Any, expected: Any) -> bool:
    """Compare partially: an expected object asks only for its own members; lists are compared item by item."""
    if isinstance(expected, dict):
        return isinstance(actual, dict) and all(
            key in actual and matches(actual[key], value) for key, value in expected.items()
        )
    if isinstance(expected, list):
        return isinstance(actual, list) and len(actual) == len(expected) and all(map(matches, actual, expected))
    return actual is not ABSENT and same_scalar(actual, expected)


def _contains(actual: Any, expected: Any) -> bool:
    if isinstance(actual, list):
        return any(matches(item, expected) for item in actual)
    return isinstance(actual, str) and isinstance(expected, str) and utf16_contains(actual, expected)


def _gte(actual: Any, expected: Any) -> bool:
    return is_number(actual) and as_double(actual) >= as_double(expected)


def _lte(actual: Any, expected: Any) -> bool:
    return is_number(actual) and as_double(actual) <= as_double(expected)


def _length(actual: Any, expected: Any) -> bool:
    if isinstance(actual, list):
        return len(actual) == whole_number(expected)
    return isinstance(actual, str) and utf16_length(actual) == whole_number(expected)


TESTS: Final[dict[Operator, Test]] = {
    Operator.EXISTS: _exists,
    Operator.ABSENT: _absent,
    Operator.EQUALS: _equals,
    Operator.MATCHES: matches,
    Operator.CONTAINS: _contains,
    Operator.GTE: _gte,
    Operator.LTE: _lte,
    Operator.LENGTH: _length,
}
