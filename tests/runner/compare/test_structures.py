import json
from typing import Any

import pytest
from evalrunner.compare import DifferenceKind, Node, same_value, structural_difference
from hypothesis import given
from hypothesis import strategies as st

scalars = st.one_of(st.none(), st.booleans(), st.integers(-3, 3), st.sampled_from(["", "a", "b"]))
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.sampled_from("abid"), inner, max_size=3)),
    max_leaves=12,
)


def difference(left: Any, right: Any) -> Node:
    found = structural_difference(left, right)
    assert found is not None
    return found


def told(node: Node) -> list[tuple[str, str]]:
    return [(child.label, child.kind.value) for child in node.children]


@given(values)
def test_a_value_does_not_differ_from_itself(value: Any) -> None:
    assert structural_difference(value, json.loads(json.dumps(value))) is None


@given(values, values)
def test_a_difference_is_found_just_where_values_are_not_the_same(left: Any, right: Any) -> None:
    assert (structural_difference(left, right) is None) == same_value(left, right)


@given(values, values)
def test_what_is_inside_holds_at_least_one_difference(left: Any, right: Any) -> None:
    waiting = [node for node in [structural_difference(left, right)] if node is not None]
    while waiting:
        node = waiting.pop()
        assert node.kind is not DifferenceKind.INSIDE or node.children or node.hidden
        waiting += node.children


@pytest.mark.parametrize(
    ("left", "right", "same"), [(1, 1.0, True), (True, 1, False), ("1", 1, False), (None, 0, False)]
)
def test_numbers_compare_as_doubles_and_types_stay_apart(left: Any, right: Any, same: bool) -> None:
    assert same_value(left, right) is same
    assert same_value({"a": [left]}, {"a": [right]}) is same


def test_members_are_changed_added_and_removed() -> None:
    node = difference({"a": 1, "b": 2, "c": 3}, {"a": 1, "b": 5, "d": 4})

    assert told(node) == [("b", "changed"), ("c", "removed"), ("d", "added")]
    assert node.equal == 1


def test_an_item_that_stands_elsewhere_has_moved() -> None:
    node = difference(["a", "b", "c"], ["c", "a", "b"])

    assert [(child.label, child.kind, child.moved_to) for child in node.children] == [("2", DifferenceKind.MOVED, "0")]
    assert node.equal == 2


def test_an_item_with_the_same_id_is_compared_inside() -> None:
    left, right = [{"id": 1, "name": "x"}, {"id": 2}], [{"id": 0}, {"id": 1, "name": "y"}, {"id": 2}]

    node = difference(left, right)

    assert told(node) == [("0", "added"), ("1", "inside")]
    assert told(node.children[1]) == [("name", "changed")]


def test_what_exceeds_the_budget_is_counted() -> None:
    node = structural_difference(
        dict.fromkeys(map(str, range(500)), 0), dict.fromkeys(map(str, range(500)), 1), nodes=50
    )

    assert node is not None
    assert len(node.children) + node.hidden == 500
    assert len(node.children) < 50
