"""Definitions in readable form, and what changed between two of them."""

from hypothesis import given
from hypothesis import strategies as st

from reports.domain.definition_changes import MOST_CHANGES, member_changes
from reports.domain.definition_text import ask_lines, scenario_text
from tests.factories import scenario

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=10,
)


def test_assertions_become_lines_with_their_parts_below_them() -> None:
    check = {"id": "status", "kind": "check", "path": ["response", "status"], "operator": "equals", "value": "done"}
    both = {
        "id": "both",
        "label": "Both hold",
        "kind": "all",
        "assertions": [check, {"id": "no", "kind": "not", "assertion": check}],
    }

    lines = ask_lines([both])

    assert [(line.depth, line.id) for line in lines] == [(0, "both"), (1, "status"), (1, "no"), (2, "status")]
    assert lines[0].name == "Both hold"
    assert lines[1].text == 'response.status equals "done"'


def test_deeply_nested_assertions_need_no_deep_stack() -> None:
    nested: dict[str, object] = {"id": "leaf", "kind": "check", "path": ["a"], "operator": "exists"}
    for level in range(5_000):
        nested = {"id": f"level-{level}", "kind": "not", "assertion": nested}

    assert len(ask_lines([nested])) == 5_001


def test_a_step_shows_its_variants_in_place_of_its_own_input() -> None:
    made = scenario("greet")
    made["steps"][0]["variants"] = [{"id": "short", "input": {"text": "Hi"}}, {"id": "long", "input": {"a": 1}}]

    step = scenario_text(made).steps[0]

    assert [(each.variant, each.text) for each in step.inputs] == [("short", "Hi"), ("long", '{\n  "a": 1\n}')]


def test_members_are_matched_by_id_and_not_by_place() -> None:
    before, after = scenario("greet"), scenario("greet")
    after["steps"] = [{"id": "first", "input": {}}, *before["steps"]]

    changes = member_changes(before, after)

    assert [(change.kind, change.path) for change in changes] == [("added", "steps[first]")]


def test_a_new_order_is_a_change() -> None:
    before = {"steps": [{"id": "a"}, {"id": "b"}]}

    changes = member_changes(before, {"steps": [{"id": "b"}, {"id": "a"}]})

    assert [change.path for change in changes] == ["order of steps"]


def test_true_and_one_differ() -> None:
    (change,) = member_changes({"value": True}, {"value": 1})

    assert (change.before, change.after) == ("true", "1")


@given(JSON)
def test_nothing_differs_from_itself(value: object) -> None:
    assert member_changes(value, value) == ()


@given(JSON, JSON)
def test_there_are_as_many_changes_there_and_back(before: object, after: object) -> None:
    assert len(member_changes(before, after)) == len(member_changes(after, before))


def test_changes_are_bounded() -> None:
    many = {f"member-{number}": number for number in range(500)}

    assert len(member_changes({}, many)) == MOST_CHANGES
