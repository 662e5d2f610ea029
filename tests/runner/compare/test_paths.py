from typing import Any

import pytest
from evalrunner.compare.paths import Step, Wild, member_path, parse_path, parse_pattern, path_text
from evalrunner.errors import PathTextError
from hypothesis import given
from hypothesis import strategies as st

STEPS = st.lists(st.text(max_size=6) | st.integers(0, 999_999_999), max_size=6)


@given(STEPS)
def test_what_is_written_is_read_again(steps: list[str | int]) -> None:
    text = path_text(steps)

    assert parse_path(text) == tuple(steps)
    assert "\0" not in text
    text.encode()  # can be stored and sent


@given(st.text(alphabet='a.[]*"$0 \\\u00e9', max_size=12))
def test_any_text_is_a_pattern_or_refused_at_a_character_of_it(text: str) -> None:
    try:
        steps = parse_pattern(text)
    except PathTextError as error:
        assert 1 <= error.character <= len(text) + 1
        assert error.reason in str(error)
    else:
        assert steps


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("a", ("a",)),
        ("a.b", ("a", "b")),
        ("$.a", ("a",)),
        ('$["a.b"]', ("a.b",)),
        ("$", ("$",)),
        ("$ref", ("$ref",)),
        ("a[0].b", ("a", 0, "b")),
        ("a[*].b", ("a", Wild.ITEM, "b")),
        ("a[].b", ("a", Wild.ITEM, "b")),
        ("a.*.b", ("a", Wild.MEMBER, "b")),
        ("**.b", (Wild.LEVELS, "b")),
        ("a.**.**.b", ("a", Wild.LEVELS, "b")),
        ("headers.x-request-id", ("headers", "x-request-id")),
        ('a["b"].c', ("a", "b", "c")),
        ('a[""]', ("a", "")),
        ('["two words"][0]', ("two words", 0)),
        ('a["\\u0000"]', ("a", "\0")),
        ("[999999999]", (999_999_999,)),
        ("two words.b", ("two words", "b")),
    ],
)
def test_patterns(text: str, steps: tuple[Step, ...]) -> None:
    assert parse_pattern(text) == steps


@pytest.mark.parametrize(
    ("text", "character", "reason"),
    [
        ("", 1, "a path names at least one member"),
        (".a", 1, "a path does not begin with a dot"),
        ("a.", 3, "a member name is missing"),
        ("a..b", 3, "a member name is missing"),
        ("$.", 3, "a member name is missing"),
        ("a]", 2, "“]” closes no bracket"),
        ("]", 1, "a member name is missing"),
        ("a[0]b", 5, "a dot or a bracket is missing"),
        ("trace*", 6, "“*” is no part of a plain name"),
        ("***", 3, "“*” is no part of a plain name"),
        ('a"b"', 2, '“"” is no part of a plain name'),
        ("a[x]", 2, "brackets hold an item number"),
        ("a[0", 2, "brackets hold an item number"),
        ("a[-1]", 2, "brackets hold an item number"),
        ("a[1234567890]", 2, "brackets hold an item number"),
        ('a["b]', 3, "the name in quotation marks is no JSON text"),
    ],
)
def test_faults_name_their_character(text: str, character: int, reason: str) -> None:
    with pytest.raises(PathTextError) as caught:
        parse_pattern(text)

    assert caught.value.character == character
    assert reason in caught.value.reason


@pytest.mark.parametrize("text", ["a[*]", "a[]", "a.*", "**.a"])
def test_a_place_has_no_wildcard(text: str) -> None:
    with pytest.raises(PathTextError):
        parse_path(text)


@pytest.mark.parametrize(
    ("above", "label", "text"),
    [("", "a", "a"), ("a", "b", "a.b"), ("a", 0, "a[0]"), ("a", "0", 'a["0"]'), ("a", "\ud83d", 'a["\\ud83d"]')],
)
def test_a_member_is_appended(above: str, label: Any, text: str) -> None:
    assert member_path(above, label) == text
