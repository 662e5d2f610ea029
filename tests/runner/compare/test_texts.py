from time import process_time

import pytest
from evalrunner.compare import Piece, PieceKind, text_difference
from hypothesis import given
from hypothesis import strategies as st

texts = st.text(st.sampled_from("ab \n"), max_size=40)
EQUAL, CHANGED = PieceKind.EQUAL, PieceKind.CHANGED


def written(pieces: tuple[Piece, ...]) -> str:
    return "".join(f"[{piece.text}]" if piece.kind is CHANGED else piece.text for piece in pieces)


@given(texts, texts)
def test_pieces_give_both_texts_again(left: str, right: str) -> None:
    before, after = text_difference(left, right)

    assert ("".join(piece.text for piece in before), "".join(piece.text for piece in after)) == (left, right)


@given(texts, texts)
def test_equal_pieces_are_the_same_on_both_sides(left: str, right: str) -> None:
    before, after = text_difference(left, right)

    shared = ["".join(piece.text for piece in side if piece.kind is EQUAL) for side in (before, after)]
    assert shared[0] == shared[1]


@given(texts)
def test_a_text_against_itself_has_no_change(text: str) -> None:
    assert all(piece.kind is EQUAL for side in text_difference(text, text) for piece in side)


def test_the_unit_is_the_word() -> None:
    before, after = text_difference("Your flight leaves at 9:40.", "Your train leaves at 9:45.")

    assert written(before) == "Your [flight ]leaves at [9:40.]"
    assert written(after) == "Your [train ]leaves at [9:45.]"


def test_a_text_that_goes_on_keeps_its_last_word() -> None:
    before, after = text_difference("How long was the delay?", "How long was the delay? Anything else?")

    assert written(before) == "How long was the delay?"
    assert written(after) == "How long was the delay?[ Anything else?]"


def test_long_equal_stretches_are_folded_with_their_length() -> None:
    long = "word " * 1_000

    before, _after = text_difference(f"{long}one", f"{long}two")

    assert [piece.kind for piece in before] == [PieceKind.FOLDED, EQUAL, CHANGED]
    assert sum(piece.length for piece in before) == len(long) + 3


def test_both_sides_show_what_stands_around_a_place_that_only_one_of_them_filled() -> None:
    before, after = text_difference("word " * 1_000 + "end " * 1_000, "word " * 1_000 + "NEW " + "end " * 1_000)

    assert [piece.kind for piece in before] == [PieceKind.FOLDED, EQUAL, EQUAL, PieceKind.FOLDED]
    assert [piece.kind for piece in after] == [PieceKind.FOLDED, EQUAL, CHANGED, EQUAL, PieceKind.FOLDED]
    assert [piece for piece in after if piece.kind is not CHANGED] == list(before)


@pytest.mark.parametrize("unit", ["a ", "a\n", "a"])
def test_huge_texts_are_compared_in_bounded_time(unit: str) -> None:
    left, right = unit * 1_000_000, ("b" + unit) * 700_000

    begun = process_time()
    text_difference(left, right)

    assert process_time() - begun < 10
