"""Invisible characters are found and named."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.domain.unseen import is_unseen, mark_of, name_of, pieces, unstored
from reports.text import storable

ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()))


@pytest.mark.parametrize(
    ("character", "mark"),
    [
        ("\0", "\\0"),
        ("\n", "\\n"),
        ("\x1b", "\\x1b"),
        ("\x7f", "\\x7f"),
        ("\x85", "U+0085"),
        ("\u202e", "U+202E"),
        ("\u200b", "U+200B"),
        ("\ufeff", "U+FEFF"),
        ("\xa0", "U+00A0"),
        ("\xad", "U+00AD"),
        ("\ud83d", "\\ud83d"),
        ("\ufffe", "U+FFFE"),
        ("\U000e0041", "U+E0041"),
        ("\u3164", "U+3164"),
    ],
)
def test_an_invisible_character_has_a_mark(character: str, mark: str) -> None:
    assert is_unseen(character)
    assert mark_of(character) == mark
    assert name_of(character).startswith("U+")


@pytest.mark.parametrize("character", [*"aß漢ع€é ", "\U0001f600", "\u0301"])
def test_what_can_be_seen_is_left_alone(character: str) -> None:
    assert not is_unseen(character)


@given(ANY_TEXT)
def test_pieces_hold_the_whole_text(text: str) -> None:
    assert "".join(piece for piece, _ in pieces(text)) == text


@given(ANY_TEXT)
def test_no_visible_piece_holds_an_invisible_character(text: str) -> None:
    assert not any(is_unseen(character) for piece, is_mark in pieces(text) if not is_mark for character in piece)


@given(ANY_TEXT)
def test_stored_texts_are_shown_as_what_they_were(text: str) -> None:
    assert unstored(storable(text)) == text


def test_digits_after_a_noncharacter_are_no_escape() -> None:
    assert unstored("\ufffe0041") == "\ufffe0041"
