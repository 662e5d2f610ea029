import copy
from collections.abc import Mapping
from typing import Any

import pytest
from evalrunner.compare import DEFAULT_IGNORED, hidden_members, ignore_rules, path_text, rule_faults, without
from evalrunner.compare.ignoring import rule_of_name
from evalrunner.errors import PathTextError
from hypothesis import given
from hypothesis import strategies as st

NAMES = st.sampled_from(["a", "b", "at", "x y", "a.b"])
VALUES = st.recursive(
    st.integers(0, 3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=20,
)
RULES = st.sampled_from(
    ["a", "at", '"a.b"', "a.b", "a[*].at", "a[0].b", "$.b", "*.at", "**.at", "a.**.b", "*", '["x y"].a', "**[1].a"]
)


def left_of(value: Any, *rules: str, is_observation: bool = True) -> Any:
    return without(value, ignore_rules(rules), is_observation=is_observation)


def removed(value: Any, steps: tuple[str | int, ...]) -> None:
    for step in steps[:-1]:
        value = value[step]
    del value[steps[-1]]


@given(VALUES, st.lists(RULES, max_size=4))
def test_what_is_told_to_be_hidden_is_what_is_left_out(value: Any, texts: list[str]) -> None:
    rules = ignore_rules(texts)

    found, _read = hidden_members(value, rules, is_observation=True)

    cut = copy.deepcopy(value)
    for member in found:
        removed(cut, member.steps)
    assert without(value, rules, is_observation=True) == cut


@given(VALUES, RULES)
def test_a_second_time_nothing_is_left_to_hide(value: Any, text: str) -> None:
    once = left_of(value, text)

    assert left_of(once, text) == once


@pytest.mark.parametrize(
    ("rule", "left"),
    [
        ("at", {"id": 1, "list": [{"id": 2}], "deep": {"list": [{"b": 2}]}}),
        ("$.at", {"id": 1, "list": [{"id": 2, "at": 3}], "deep": {"list": [{"at": 3, "b": 2}]}}),
        ("list[*].at", {"id": 1, "at": 3, "list": [{"id": 2}], "deep": {"list": [{"at": 3, "b": 2}]}}),
        ("list[].at", {"id": 1, "at": 3, "list": [{"id": 2}], "deep": {"list": [{"at": 3, "b": 2}]}}),
        ("list[0].at", {"id": 1, "at": 3, "list": [{"id": 2}], "deep": {"list": [{"at": 3, "b": 2}]}}),
        ("list[1].at", {"id": 1, "at": 3, "list": [{"id": 2, "at": 3}], "deep": {"list": [{"at": 3, "b": 2}]}}),
        ("deep.**.at", {"id": 1, "at": 3, "list": [{"id": 2, "at": 3}], "deep": {"list": [{"b": 2}]}}),
        ("**.at", {"id": 1, "list": [{"id": 2}], "deep": {"list": [{"b": 2}]}}),
        ("list[*].*", {"id": 1, "at": 3, "list": [{}], "deep": {"list": [{"at": 3, "b": 2}]}}),
        ("*", {}),
        ("list", {"id": 1, "at": 3, "deep": {}}),
        ("deep.list", {"id": 1, "at": 3, "list": [{"id": 2, "at": 3}], "deep": {}}),
        ("other.at", {"id": 1, "at": 3, "list": [{"id": 2, "at": 3}], "deep": {"list": [{"at": 3, "b": 2}]}}),
    ],
)
def test_what_a_rule_leaves(rule: str, left: Mapping[str, Any]) -> None:
    value = {"id": 1, "at": 3, "list": [{"id": 2, "at": 3}], "deep": {"list": [{"at": 3, "b": 2}]}}

    assert left_of(value, rule) == left


def test_paths_count_in_observations_only_and_names_everywhere() -> None:
    value = {"meta": {"at": 1, "b": 2}}

    assert left_of(value, "meta.at", is_observation=False) == value
    assert left_of(value, "at", is_observation=False) == {"meta": {"b": 2}}


def test_a_name_in_quotation_marks_holds_at_any_depth_and_a_path_at_its_place() -> None:
    value = {"a.b": 1, "c": {"a.b": 2, "a": {"b": 3}}, "a": {"b": 4}}

    assert left_of(value, '"a.b"') == {"c": {"a": {"b": 3}}, "a": {"b": 4}}
    assert left_of(value, "a.b") == {"a.b": 1, "c": {"a.b": 2, "a": {"b": 3}}, "a": {}}
    assert left_of(value, '["a.b"]') == {"c": {"a.b": 2, "a": {"b": 3}}, "a": {"b": 4}}


@given(st.text(min_size=1, max_size=20))
def test_a_rule_of_a_name_leaves_out_that_name_alone(name: str) -> None:
    other = f"{name}!"

    assert left_of({name: 1, "in": [{name: 2, other: 3}]}, rule_of_name(name)).get("in", [{other: 3}]) == [{other: 3}]
    assert name not in left_of({name: 1}, rule_of_name(name))


@given(st.text(min_size=1, max_size=20) | st.sampled_from(["a\nb", "a\u2028b", "a\x85b", " id", "id ", "  ", "\xa0"]))
def test_a_rule_of_a_name_is_one_line_as_it_stands(name: str) -> None:
    rule = rule_of_name(name)

    assert rule.splitlines() == [rule] and rule.strip() == rule


def test_the_usual_rules_are_names() -> None:
    assert {rule_of_name(name) for name in DEFAULT_IGNORED} == DEFAULT_IGNORED
    assert not rule_faults(sorted(DEFAULT_IGNORED))


@pytest.mark.parametrize(
    ("rule", "character", "reason"),
    [
        ("events[0]", 9, "a rule ends with a member; an item cannot be left out of its list"),
        ("events[*]", 9, "a rule ends with a member; an item cannot be left out of its list"),
        ("a.**", 4, "behind “**” stands the member to be left out"),
        ('"a"b', 4, "inside a path a name in quotation marks stands in brackets"),
        ('"a', 1, "the name in quotation marks is no JSON text"),
        ("", 1, "a path names at least one member"),
        ("a\nb", 2, "what cannot be seen stands escaped"),
        ("a.b\u2028", 4, "what cannot be seen stands escaped"),
        ('"a\tb"', 3, "what cannot be seen stands escaped"),
        (" id", 1, "begins or ends with a blank"),
        ("a.id ", 5, "begins or ends with a blank"),
    ],
)
def test_faults_say_which_rule_where_and_why(rule: str, character: int, reason: str) -> None:
    (fault,) = rule_faults(["fine", rule, "a.b"])

    assert (fault.number, fault.text, fault.character) == (1, rule, character)
    assert reason in fault.reason
    with pytest.raises(PathTextError):
        ignore_rules([rule])


def test_hidden_members_are_told_in_order_with_every_rule_that_hides_them() -> None:
    rules = ignore_rules(["at", "**.at", "list[1].b"])

    found, read = hidden_members({"list": [{"at": 1}, {"b": 2}], "at": 3}, rules, is_observation=True)

    assert [(path_text(each.steps), list(each.rules), each.value) for each in found] == [
        ("at", ["at", "**.at"], 3),
        ("list[0].at", ["at", "**.at"], 1),
        ("list[1].b", ["list[1].b"], 2),
    ]
    assert read == 4


def test_what_lies_behind_the_most_nodes_is_not_looked_at() -> None:
    value = [{"at": number} for number in range(10)]

    found, read = hidden_members(value, ignore_rules(["at"]), most=4)

    assert ([each.value for each in found], read) == ([0, 1, 2], 4)


def test_a_deep_value_is_looked_at_without_recursion() -> None:
    value: Any = {"at": 1}
    for _level in range(5_000):
        value = {"a": value}

    found, _read = hidden_members(value, ignore_rules(["**.at"]), is_observation=True)

    assert [len(each.steps) for each in found] == [5_001]


def test_a_thousand_paths_cost_as_much_as_one_to_apply() -> None:
    """The points reached are counted, not the time: each member leads to its own and no other."""
    rules = ignore_rules([f"m{number}.x.at" for number in range(1_000)])
    value = {f"m{number}": {"x": {"at": 1, "kept": number}} for number in range(1_000)}

    left = without(value, rules, is_observation=True)

    assert left == {f"m{number}": {"x": {"kept": number}} for number in range(1_000)}
