"""JSON values: bounds, freezing, equality, and the ways in which JavaScript counts text."""

from __future__ import annotations

import copy
import json
import math
import pickle
from collections import OrderedDict
from collections.abc import Callable
from enum import IntEnum, StrEnum
from typing import Any

import pytest
from evalrunner.data import (
    FrozenDict,
    FrozenList,
    check_bounds,
    check_object,
    deep_equal,
    freeze,
    freeze_object,
    thaw,
    utf16_contains,
    utf16_length,
    whole_number,
)
from evalrunner.errors import EvaluationError, NotJsonError
from hypothesis import given
from hypothesis import strategies as st

from tests.runner.documents import count_calls, nest

NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.text(max_size=3), JSON, max_size=4)
ANYTHING: st.SearchStrategy[Any] = st.recursive(
    JSON | st.floats() | st.binary(max_size=2) | st.just(10**400) | st.sets(st.integers(), max_size=2),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(st.sampled_from(["a", "__proto__"]) | st.integers(), inner, max_size=3)
    ),
    max_leaves=8,
)


def code_of(work: Callable[[], object]) -> str | None:
    try:
        work()
    except EvaluationError as error:
        return error.code
    return None


# -------------------------------------------------------------------------------------------------------------- bounds


def nest_lists(depth: int) -> Any:
    leaf: Any = []
    for _ in range(depth):
        leaf = [leaf]
    return leaf


@pytest.mark.parametrize("check", [check_bounds, freeze_object, check_object])
def test_the_deepest_value_may_lie_at_depth_60(check: Callable[[object], object]) -> None:
    assert code_of(lambda: check(nest(60))) is None
    assert code_of(lambda: check(nest(61))) == "EVALUATION_DATA_LIMIT"


@pytest.mark.parametrize("check", [check_bounds, freeze_object, check_object])
def test_an_empty_container_counts_its_depth_like_a_scalar(check: Callable[[object], object]) -> None:
    assert code_of(lambda: check(nest(60, {}))) is None
    assert code_of(lambda: check(nest(61, {}))) == "EVALUATION_DATA_LIMIT"
    assert code_of(lambda: check({"a": nest_lists(59)})) is None
    assert code_of(lambda: check({"a": nest_lists(60)})) == "EVALUATION_DATA_LIMIT"


@pytest.mark.parametrize("check", [check_bounds, freeze_object, check_object])
def test_a_value_may_hold_500_000_values(check: Callable[[object], object]) -> None:
    assert code_of(lambda: check({"list": [0] * 499_998})) is None
    assert code_of(lambda: check({"list": [0] * 499_999})) == "EVALUATION_DATA_LIMIT"


@pytest.mark.parametrize("check", [check_bounds, freeze_object, check_object])
def test_a_value_that_repeats_itself_without_end_in_size_is_refused_quickly(check: Callable[[object], object]) -> None:
    bomb: Any = ["lol"] * 10
    for _ in range(20):
        bomb = [bomb] * 10

    calls = count_calls(lambda: code_of(lambda: check({"bomb": bomb})))

    assert code_of(lambda: check({"bomb": bomb})) == "EVALUATION_DATA_LIMIT"
    assert calls < 3_000_000


@pytest.mark.parametrize("check", [check_bounds, freeze_object, check_object])
@pytest.mark.parametrize("period", [1, 2, 60])
def test_a_cycle_is_told_from_a_value_that_is_too_deep(check: Callable[[object], object], period: int) -> None:
    top: dict[str, Any] = {}
    top["d"] = nest(period - 1, top)

    assert code_of(lambda: check(top)) == "EVALUATION_DATA_CYCLE"


def test_a_shared_object_is_no_cycle() -> None:
    shared = {"n": [1]}

    assert freeze_object({"a": shared, "b": [shared, shared]}) == {"a": {"n": [1]}, "b": [{"n": [1]}, {"n": [1]}]}


def test_bounds_are_checked_before_anything_else() -> None:
    assert code_of(lambda: freeze_object({"bad": math.nan, "deep": nest(61)})) == "EVALUATION_DATA_LIMIT"
    assert code_of(lambda: check_object({"bad": math.nan, "deep": nest(61)})) == "EVALUATION_DATA_LIMIT"
    assert code_of(lambda: freeze_object([0] * 500_000)) == "EVALUATION_DATA_LIMIT"


# ------------------------------------------------------------------------------------------------------------ freezing


@given(JSON)
def test_a_frozen_value_equals_what_it_was_made_of(value: Any) -> None:
    frozen = freeze(value)

    assert deep_equal(frozen, value) or "__proto__" in repr(value)
    assert json.loads(json.dumps(frozen)) == json.loads(json.dumps(thaw(frozen)))


@given(OBJECTS)
def test_a_thawed_value_is_plain_and_its_own(value: dict[str, Any]) -> None:
    frozen = freeze_object(value)
    thawed = thaw(frozen)
    before = copy.deepcopy(thawed)

    thawed["written"] = True

    assert type(thawed) is dict
    assert thaw(frozen) == before


@given(ANYTHING)
def test_checking_without_a_copy_agrees_with_freezing(value: Any) -> None:
    assert code_of(lambda: check_object(value)) == code_of(lambda: freeze_object(value))
    assert code_of(lambda: check_object({"a": value})) == code_of(lambda: freeze_object({"a": value}))


def test_members_named_proto_are_dropped_at_any_depth_and_others_stay() -> None:
    value = {"__proto__": {"x": math.nan}, "constructor": 1, "list": [{"__proto__": 2, "prototype": 3}]}

    assert freeze_object(value) == {"constructor": 1, "list": [{"prototype": 3}]}
    check_object(value)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 10**309, b"x", object(), {1}, {1: 2}, {None: 1}])
def test_what_json_does_not_know_is_refused_wherever_it_stands(bad: object) -> None:
    for value in ({"x": bad}, {"x": [{"y": bad}]}):
        with pytest.raises(NotJsonError):
            freeze_object(value)
        with pytest.raises(NotJsonError):
            check_object(value)


@pytest.mark.parametrize("value", [None, True, 1, "text", [], [{}]])
def test_free_data_is_an_object_at_the_top(value: object) -> None:
    for check in (freeze_object, check_object):
        with pytest.raises(NotJsonError) as caught:
            check(value)
        assert caught.value.code == "EVALUATION_OBSERVATION_INVALID"


def test_values_of_derived_types_become_the_json_they_stand_for() -> None:
    class Colour(StrEnum):
        RED = "red"

    class Size(IntEnum):
        SMALL = 1

    value = OrderedDict({Colour.RED: Colour.RED, "size": Size.SMALL, "pair": (1, 2)})
    frozen = freeze_object(value)

    check_object(value)
    assert json.dumps(frozen) == '{"red": "red", "size": 1, "pair": [1, 2]}'
    assert {type(key) for key in frozen} == {str} and type(frozen["size"]) is int


WRITES: list[Callable[[Any, Any], object]] = [
    lambda o, items: o.__setitem__("a", 1),
    lambda o, items: o.__delitem__("items"),
    lambda o, items: o.update(a=1),
    lambda o, items: o.__ior__({"a": 1}),
    lambda o, items: o.setdefault("a", 1),
    lambda o, items: o.pop("items"),
    lambda o, items: o.popitem(),
    lambda o, items: o.clear(),
    lambda o, items: items.__setitem__(0, 9),
    lambda o, items: items.__setitem__(slice(0, 1), []),
    lambda o, items: items.__delitem__(0),
    lambda o, items: items.__iadd__([1]),
    lambda o, items: items.__imul__(2),
    lambda o, items: items.append(1),
    lambda o, items: items.extend([1]),
    lambda o, items: items.insert(0, 1),
    lambda o, items: items.pop(),
    lambda o, items: items.remove(1),
    lambda o, items: items.clear(),
    lambda o, items: items.reverse(),
    lambda o, items: items.sort(),
]


@pytest.mark.parametrize("write", WRITES, ids=range(len(WRITES)))
def test_a_frozen_value_refuses_every_change(write: Callable[[Any, Any], object]) -> None:
    frozen = freeze_object({"items": [1, 2]})

    with pytest.raises(TypeError):
        write(frozen, frozen["items"])

    assert frozen == {"items": [1, 2]}


def test_copies_of_a_frozen_value_are_itself_and_pickles_are_equal() -> None:
    frozen = freeze_object({"items": [1, {"a": None}]})

    assert copy.copy(frozen) is frozen
    assert copy.deepcopy(frozen) is frozen
    assert pickle.loads(pickle.dumps(frozen)) == frozen
    assert isinstance(pickle.loads(pickle.dumps(frozen))["items"], FrozenList)


def test_freezing_again_shares_what_is_frozen() -> None:
    inner = freeze_object({"a": [1]})

    assert freeze_object(inner) is inner
    assert freeze_object({"inner": inner})["inner"] is inner


def test_what_is_made_from_a_frozen_value_is_plain() -> None:
    frozen = freeze_object({"items": [1]})

    assert type(frozen | {"b": 2}) is dict
    assert type(frozen.copy()) is dict
    assert type(frozen) is FrozenDict


# ------------------------------------------------------------------------------------------------------------ equality


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [
        (1, 1.0, True),
        (1, True, False),
        (0, False, False),
        (None, False, False),
        ("1", 1, False),
        ([], {}, False),
        ([1, 2], [2, 1], False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ({"a": None}, {}, False),
        (0.0, -0.0, False),
        (0, -0.0, False),
        (0, 0.0, True),
        (2**53, 2**53 + 1, True),
        (12345678901234567890, 12345678901234567000.0, True),
        ("é", "e\u0301", False),
        ("\ud83d\ude00", "😀", True),
        ("\ud83d", "\ude00", False),
        ([[{"a": [1.0]}]], [[{"a": [1]}]], True),
    ],
)
def test_deep_equality_is_that_of_json_values(left: Any, right: Any, equal: bool) -> None:
    assert deep_equal(left, right) is equal
    assert deep_equal(right, left) is equal
    assert deep_equal(freeze([left]), [right]) is equal


@given(JSON)
def test_every_value_equals_itself(value: Any) -> None:
    assert deep_equal(value, copy.deepcopy(value))


@pytest.mark.parametrize(
    ("value", "whole"),
    [(1, 1), (1.0, 1), (-2, -2), (1.5, None), (True, None), ("1", None), (None, None), (math.inf, None)],
)
def test_a_whole_number_may_be_spelled_as_a_fraction_of_nothing(value: object, whole: int | None) -> None:
    assert whole_number(value) == whole
    assert type(whole_number(value)) is type(whole)


# ---------------------------------------------------------------------------------------------------------------- text


@pytest.mark.parametrize(("text", "length"), [("", 0), ("abc", 3), ("é", 1), ("😀", 2), ("\ud83d", 1), ("a😀b", 4)])
def test_length_counts_utf16_units(text: str, length: int) -> None:
    assert utf16_length(text) == length


@pytest.mark.parametrize(
    ("text", "part", "found"),
    [
        ("abc", "bc", True),
        ("abc", "", True),
        ("a😀", "\ud83d", True),
        ("a😀", "\ude00", True),
        ("a😀", "\ude01", False),
        ("\ud83d\ude00", "😀", True),
        ("ab", "ba", False),
        # The units 0x6100 0x6200 hold the bytes of 0x0062 across their border.
        ("\u6100\u6200", "\u0062", False),
        ("\ud861\ud862", "\u61d8", False),
    ],
)
def test_search_works_on_utf16_units(text: str, part: str, found: bool) -> None:
    assert utf16_contains(text, part) is found


@given(st.text(), st.text(max_size=2))
def test_search_agrees_with_python_where_no_surrogate_is_unpaired(text: str, part: str) -> None:
    assert utf16_contains(text, part) is (part in text)
