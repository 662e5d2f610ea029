"""Canonical text and digests."""

from __future__ import annotations

import hashlib
import itertools
import json
import random
from collections.abc import Mapping
from typing import Any

import pytest
from evalrunner.canonical import MAX_CANONICAL_DEPTH, canonical_order, canonical_text, digest, number_text
from evalrunner.collation import ASCII_ORDER, collation_key
from evalrunner.data import freeze
from evalrunner.errors import EvaluationError
from hypothesis import given
from hypothesis import strategies as st

from tests.runner.documents import nest
from tests.runner.replay import read_corpus, read_member
from tests.runner.test_data import JSON


@pytest.mark.parametrize("vector", read_corpus("digests.json"), ids=lambda vector: vector["name"])
def test_the_text_and_digest_of_the_corpus(vector: Mapping[str, Any]) -> None:
    value = read_member(vector, "value")

    assert canonical_text(value) == vector["canonical"]
    assert digest(value) == vector["sha256"]


@given(JSON)
def test_canonical_text_can_be_read_back_and_written_again(value: Any) -> None:
    text = canonical_text(value)

    assert canonical_text(json.loads(text)) == text
    assert hashlib.sha256(text.encode()).hexdigest() == digest(freeze(value) if "__proto__" not in text else value)


@given(st.dictionaries(st.text(alphabet="aAbB1_-é", max_size=3), st.integers(), max_size=6), st.randoms())
def test_the_order_in_which_an_object_lists_its_members_does_not_matter(
    value: dict[str, int], chance: random.Random
) -> None:
    shuffled = list(value.items())
    chance.shuffle(shuffled)

    assert digest(dict(shuffled)) == digest(value)


# ---------------------------------------------------------------------------------------------------------------- keys


def in_order(*keys: str) -> bool:
    """Tell whether every two of these keys are put in this order, whichever stands first."""
    return all(canonical_order(pair) == (a, b) for a, b in itertools.combinations(keys, 2) for pair in ((a, b), (b, a)))


@pytest.mark.parametrize(
    "keys",
    [
        ("0", "9", "10", "4294967294", "4294967295", "4294967296"),
        ("5", "-1", "01", "1.5", "a"),
        ("", "_", "-", "a", "ab", "abc", "b"),
        ("ab", "aB", "Ab", "AB", "b"),
        ("AB0", "ab1", "aB1"),
        ("v1", "v10", "v9"),
        ("a\tb", "a\nb", "a b", "a_b", "ab"),
        ("e", "E", "é", "É", "ea", "f"),
        ("cote", "Cote", "COTE", "coté", "côte", "côté"),
        ("ad", "ae", "æ", "af", "o", "ø", "oe", "œ", "of", "ss", "ß", "st"),
        ("z", "λ", "и", "й", "к", "ключ", "מפתח", "مفتاح", "กา", "가", "あ", "ア", "か", "カ", "名"),
        ("_", "‘", "«", "→", "☎", "😀", "€", "01", "a"),
        ("一", "丁", "名", "\ue000"),
        ("ไก", "ข"),
    ],
)
def test_keys_are_sorted_as_the_icu_root_collation_sorts_them(keys: tuple[str, ...]) -> None:
    assert in_order(*keys)


@pytest.mark.parametrize("pair", [("a", "a\u0001"), ("é", "e\u0301"), ("", "\u0000"), ("ab", "a\u200db")])
def test_keys_that_are_equal_for_the_collation_keep_their_order(pair: tuple[str, str]) -> None:
    assert canonical_order(pair) == pair
    assert canonical_order(pair[::-1]) == pair[::-1]


def test_every_printable_ascii_character_has_its_place_and_control_characters_have_none() -> None:
    printable = {chr(code) for code in range(32, 127)} | set("\t\n\v\f\r")

    assert {character.lower() for character in printable} == set(ASCII_ORDER)
    assert collation_key("\0\x08\x0e\x1f\x7f", ascii_only=True) == collation_key("", ascii_only=True)


ASCII_TEXT = st.text(st.characters(max_codepoint=127), max_size=4)


@given(ASCII_TEXT, ASCII_TEXT)
def test_the_short_way_for_ascii_agrees_with_the_table(left: str, right: str) -> None:
    def order(ascii_only: bool) -> int:
        first, second = (collation_key(text, ascii_only=ascii_only) for text in (left, right))
        return (first > second) - (first < second)

    assert order(True) == order(False)


def test_a_member_named_proto_is_an_ordinary_key() -> None:
    assert canonical_text({"a": 1, "__proto__": 2}) == '{"__proto__":2,"a":1}'


# ------------------------------------------------------------------------------------------------- numbers and text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (-0.0, "0"),
        (1.0, "1"),
        (-1500.0, "-1500"),
        (1e16, "10000000000000000"),
        (1e20, "100000000000000000000"),
        (999999999999999900000.0, "999999999999999900000"),
        (1e21, "1e+21"),
        (1e-6, "0.000001"),
        (1.5e-6, "0.0000015"),
        (1e-7, "1e-7"),
        (1.5e300, "1.5e+300"),
        (-1.234e-7, "-1.234e-7"),
        (5e-324, "5e-324"),
        (0.1 + 0.2, "0.30000000000000004"),
        (123.456, "123.456"),
        (2**53 - 1, "9007199254740991"),
        (2**53 + 1, "9007199254740992"),
        (10**22, "1e+22"),
        (-(10**20), "-100000000000000000000"),
    ],
)
def test_numbers_are_written_as_javascript_writes_them(number: float, text: str) -> None:
    assert number_text(number) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_is_written_with_digits_that_give_it_back(number: float) -> None:
    assert float(number_text(number)) == number


@given(st.integers(min_value=-(2**53), max_value=2**53))
def test_whole_numbers_are_written_the_same_as_their_doubles(number: int) -> None:
    assert number_text(number) == number_text(float(number)) == str(number)


@given(st.text(st.characters(codec=None, categories=["Cs", "Ll", "So", "Cc"]), max_size=6))
def test_any_text_can_be_digested_with_paired_surrogates_joined(text: str) -> None:
    joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")

    assert digest(text) == digest(joined)
    assert json.loads(canonical_text(text)) == joined


@pytest.mark.parametrize("value", [float("nan"), [float("inf")], {"a": 10**400}, object(), {1: 2}, b"x", {1}])
def test_what_is_no_json_has_no_digest(value: object) -> None:
    with pytest.raises(EvaluationError) as caught:
        digest(value)

    assert caught.value.code == "EVALUATION_OBSERVATION_INVALID"


def test_a_value_is_refused_before_it_overruns_the_stack() -> None:
    cycle: dict[str, Any] = {}
    cycle["self"] = cycle

    assert digest(nest(MAX_CANONICAL_DEPTH + 1)) != digest(nest(MAX_CANONICAL_DEPTH))
    for value, code in [
        (nest(MAX_CANONICAL_DEPTH + 2), "EVALUATION_DATA_LIMIT"),
        (nest(50_000), "EVALUATION_DATA_LIMIT"),
        (cycle, "EVALUATION_DATA_CYCLE"),
    ]:
        with pytest.raises(EvaluationError) as caught:
            digest(value)
        assert caught.value.code == code
