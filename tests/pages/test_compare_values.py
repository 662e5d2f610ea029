"""Every line of two compared observations names a place that is there, and no two lines the same one."""

from typing import Any

from evalrunner.compare import ignore_rules, parse_path, same_value
from hypothesis import given
from hypothesis import strategies as st

from reports.domain.json_tree import at_path, scalar_text
from reports.pages.compare_values import ValueLine, value_pair

OWNERS = ("turn-left-1", "turn-1")
ITEMS = st.fixed_dictionaries({"id": st.integers(0, 3), "v": st.integers(0, 2)})
VALUES = st.recursive(
    st.integers(0, 3) | st.sampled_from(["", "x", "two words"]) | ITEMS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["a", "b", "x y", "0", ""]), inner, max_size=3)
        | st.fixed_dictionaries({"id": st.integers(0, 3), "in": inner})
    ),
    max_leaves=12,
)


def lines_of(left: Any, right: Any, **members: Any) -> tuple[ValueLine, ...]:
    found = value_pair(left, right, ignored=ignore_rules([]), owners=OWNERS, **members)
    return found.lines if found else ()


def place_of(line: ValueLine) -> tuple[str | int, ...]:
    return () if line.path == "the whole value" else parse_path(line.path)


@given(VALUES, VALUES)
def test_every_line_names_a_place_of_its_own_that_is_there(left: Any, right: Any) -> None:
    lines = lines_of(left, right)

    assert len({line.anchor for line in lines}) == len(lines)
    for line in lines:
        is_of_baseline = line.anchor.startswith("turn-left-1:")
        assert is_of_baseline == (line.kind in ("removed", "moved"))
        held = at_path(left if is_of_baseline else right, place_of(line))
        assert (line.left if is_of_baseline else line.right) == scalar_text(held)
        if line.baseline_path:
            assert line.left == scalar_text(at_path(left, parse_path(line.baseline_path)))
        elif line.kind == "changed":
            assert line.left == scalar_text(at_path(left, place_of(line)))


@given(VALUES, VALUES)
def test_the_lines_are_empty_only_where_the_values_are_the_same(left: Any, right: Any) -> None:
    assert (lines_of(left, right) == ()) == same_value(left, right)


@given(VALUES, VALUES, st.data())
def test_an_asked_path_stands_among_the_lines_once(left: Any, right: Any, data: st.DataObject) -> None:
    lines = lines_of(left, right)
    elsewhere = [(), ("a",), ("a", 0), ("nothing", "here")]
    asked = data.draw(st.sampled_from([*map(place_of, lines), *elsewhere]))

    found = value_pair(left, right, ignored=ignore_rules([]), owners=OWNERS, asked=asked)

    assert found is not None
    shown = [*found.lines, *([found.asked] if found.asked else [])]
    assert len({line.anchor for line in shown}) == len(shown)
    assert {place_of(line) for line in shown if line.is_asked} == {asked}
    assert found.lines == lines or any(line.is_asked for line in found.lines)
