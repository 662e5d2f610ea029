"""JSON values as bounded trees."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.domain.json_tree import JsonNode, at_path, json_tree, readable_path, scalar_text, steps_of_pointer

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=40,
)


def nodes(tree: JsonNode) -> list[JsonNode]:
    return [tree, *(found for child in tree.children for found in nodes(child))]


@given(VALUES, st.integers(1, 30))
def test_a_tree_never_holds_more_nodes_than_its_budget_and_counts_what_it_hides(value: Any, budget: int) -> None:
    tree = json_tree(value, budget=budget)

    found = nodes(tree)
    assert len(found) <= budget
    assert all(node.size == len(node.children) + node.hidden for node in found if node.is_container)


@given(VALUES)
def test_every_node_is_found_again_at_its_pointer(value: Any) -> None:
    for node in nodes(json_tree(value, budget=500)):
        held = at_path(value, steps_of_pointer(value, node.pointer))
        if node.is_container:
            assert isinstance(held, dict | list) and len(held) == node.size
        elif node.kind == "text":
            assert held == node.text


@given(VALUES, st.integers(1, 30), st.data())
def test_what_is_sought_is_in_the_tree_whatever_the_budget(value: Any, budget: int, data: st.DataObject) -> None:
    places = [steps_of_pointer(value, node.pointer) for node in nodes(json_tree(value, budget=500))]
    steps = data.draw(st.sampled_from(places))

    found = nodes(json_tree(value, budget=budget, sought=steps))

    (sought,) = [node for node in found if node.is_sought]
    assert steps_of_pointer(value, sought.pointer) == steps
    assert sum(node.is_on_way for node in found) == len(steps)
    assert len(found) <= budget + len(steps)
    assert all(node.size == len(node.children) + node.hidden for node in found if node.is_container)


def test_a_sought_item_stands_behind_the_first_ones_of_a_long_list() -> None:
    (rows,) = json_tree({"rows": list(range(5_000))}, sought=("rows", 4_000)).children

    assert [child.label for child in rows.children[-2:]] == ["98", "4000"]
    assert (rows.children[-1].text, rows.hidden) == ("4000", 4_900)


def test_a_number_is_a_member_of_an_object_and_an_item_of_a_list() -> None:
    assert steps_of_pointer({"a": [{"0": [1]}]}, "/a/0/0/0") == ("a", 0, "0", 0)
    with pytest.raises(KeyError):
        at_path({"0": 1}, (0,))
    with pytest.raises(KeyError):
        at_path([1], ("0",))


def test_outer_members_come_before_inner_ones() -> None:
    tree = json_tree({"deep": {"a": 1, "b": 2, "c": 3}, "last": True}, budget=4)

    assert [child.label for child in tree.children] == ["deep", "last"]
    assert tree.children[0].hidden == 2


def test_a_long_text_is_cut_and_says_how_long_it_is() -> None:
    node = json_tree("x" * 5_000)

    assert (len(node.text), node.size, node.is_cut) == (2_000, 5_000, True)


@pytest.mark.parametrize("pointer", ["/b", "/a/9", "/a/-1", "/a/01x", "nonsense", "/a/0/x"])
def test_a_pointer_to_nothing_is_a_key_error(pointer: str) -> None:
    with pytest.raises(KeyError):
        steps_of_pointer({"a": [1]}, pointer)


def test_paths_read_like_code() -> None:
    assert readable_path(["response", "options", 0, "two words"]) == 'response.options[0]["two words"]'
    assert readable_path([]) == "the observation"


def test_the_five_empty_values_look_different() -> None:
    values: list[Any] = [0, False, "", [], None]
    assert len({scalar_text(value) for value in values}) == 5
