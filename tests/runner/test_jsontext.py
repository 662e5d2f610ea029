"""Strict reading of JSON text."""

from __future__ import annotations

import json
import math
from typing import Any, cast

import pytest
from evalrunner.errors import JsonTextError
from evalrunner.jsontext import parse_json
from hypothesis import given
from hypothesis import strategies as st

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)


@given(JSON)
def test_what_json_writes_is_read_back(value: object) -> None:
    assert parse_json(json.dumps(value).encode()) == value


@given(st.binary(max_size=40))
def test_any_bytes_are_read_or_refused_with_a_sentence(content: bytes) -> None:
    try:
        parse_json(content)
    except JsonTextError as error:
        assert str(error)


@pytest.mark.parametrize(
    ("content", "line", "column", "reason"),
    [
        (b"", 1, 1, "empty, no JSON value"),
        (b" \n ", 2, 2, "empty, no JSON value"),
        (b'["a",]', 1, 6, "not JSON: "),
        (b'{"a": 1\n"b": 2}', 2, 1, "not JSON: expecting ',' delimiter"),
        (b'["NaN", "\\"NaN", NaN]', 1, 18, "NaN is not JSON"),
        (b"[1,\n -Infinity]", 2, 2, "-Infinity is not JSON"),
        (b"\xff", 1, 1, "not UTF-8 text (byte 0)"),
        (b'"ok"\n\n "\xc3"', 3, 3, "not UTF-8 text (byte 8)"),
        ("\ufeff{}".encode(), 1, 1, "starts with a byte order mark"),
        (b'"tab\t"', 1, 5, "not JSON: invalid control character at"),
    ],
)
def test_a_fault_is_told_with_line_and_column(content: bytes, line: int, column: int, reason: str) -> None:
    with pytest.raises(JsonTextError) as refusal:
        parse_json(content)

    assert (refusal.value.line, refusal.value.column) == (line, column)
    assert refusal.value.reason.startswith(reason)


@pytest.mark.parametrize("opening", [b"[", b'{"a":'])
def test_deep_nesting_is_refused_and_does_not_crash(opening: bytes) -> None:
    with pytest.raises(JsonTextError, match="nested too deeply"):
        parse_json(opening * 200_000)


def test_the_sign_of_zero_and_unpaired_surrogates_survive() -> None:
    zero, text = cast(list[Any], parse_json(b'[-0, "\\ud83d"]'))

    assert math.copysign(1, zero) == -1
    assert text == "\ud83d"


def test_a_number_of_any_length_is_read() -> None:
    assert parse_json(b"9" * 309) == int("9" * 309)
    assert parse_json(b"9" * 100_000) == math.inf
    assert parse_json(b"1e999") == math.inf
