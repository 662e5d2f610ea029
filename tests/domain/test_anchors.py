"""Ids that addresses open at."""

from urllib.parse import unquote

import pytest
from evalrunner.compare import path_text
from hypothesis import given
from hypothesis import strategies as st

from reports.domain.anchors import criterion_anchor, criterion_path, numbered, part_anchor, path_anchor, turn_anchor

PATHS = st.lists(st.text(max_size=6) | st.integers(0, 99), max_size=5).map(tuple)


def test_anchors_read_like_what_they_name() -> None:
    assert turn_anchor(3) == "turn-3"
    assert turn_anchor(3, is_left=True) == "turn-left-3"
    assert path_anchor("turn-3", "response.facts[0].price") == "turn-3:response.facts[0].price"
    assert path_anchor(part_anchor("turn-3", "input"), "text") == "turn-3.input:text"
    assert path_anchor(part_anchor("turn-3", "observation"), "text") == "turn-3:text"
    assert criterion_anchor("turn-3", criterion_path("grounded", "cites", 1)) == "turn-3/grounded/cites"


@given(PATHS, PATHS)
def test_every_path_has_an_id_of_its_own_without_blanks(
    one: tuple[str | int, ...], other: tuple[str | int, ...]
) -> None:
    ids = [path_anchor("turn-1", path_text(path)) for path in (one, other)]

    assert (ids[0] == ids[1]) == (one == other)
    assert all(each.isascii() and each.isprintable() and " " not in each for each in ids)
    if len(ids[0]) < 600:
        assert unquote(ids[0]) == f"turn-1:{path_text(one)}"


@given(st.lists(st.text(max_size=4), min_size=1, max_size=5))
def test_criteria_beside_each_other_have_different_paths(ids: list[str]) -> None:
    paths = [criterion_path("above", *place) for place in numbered([*ids, *ids])]

    assert len(set(paths)) == len(paths)
    assert all(path.isascii() and " " not in path and path.count("/") == 1 for path in paths)


def test_a_long_path_is_named_by_its_digest() -> None:
    long, longer = path_anchor("turn-1", "a" * 601), path_anchor("turn-1", "a" * 602)

    assert path_anchor("turn-1", "a" * 600) == f"turn-1:{'a' * 600}"
    assert len(long) == len(longer) == len("turn-1:~") + 32
    assert long != longer


@pytest.mark.parametrize(("ids", "expected"), [("", []), ("aba", [("a", 1), ("b", 1), ("a", 2)])])
def test_equal_ids_are_counted(ids: str, expected: list[tuple[str, int]]) -> None:
    assert numbered(ids) == expected
