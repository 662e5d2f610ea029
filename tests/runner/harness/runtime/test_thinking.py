"""Thoughts are taken out of answers, however they arrive."""

from __future__ import annotations

import re

import pytest
from evalrunner.harness.runtime.thinking import ThinkFilter
from hypothesis import given
from hypothesis import strategies as st


def filtered(pieces: list[str]) -> str:
    thinking = ThinkFilter()
    return "".join(thinking.feed(piece) for piece in pieces) + thinking.end()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<think>hm</think>Hello", "Hello"),
        ("a<think>1</think>b<think>2</think>c", "abc"),
        ("a<think>never closed", "a"),
        ("a <thin b", "a <thin b"),
        ("a</think>b", "a</think>b"),
        ("<think><think>x</think>y", "y"),
        ("1 < 2", "1 < 2"),
    ],
)
def test_blocks_are_removed_and_everything_else_stays(text: str, shown: str) -> None:
    assert filtered([text]) == shown
    assert filtered(list(text)) == shown


def test_text_before_a_possible_mark_is_shown_at_once() -> None:
    assert ThinkFilter().feed("Hello <th") == "Hello "


pieces = st.lists(st.sampled_from(["<think>", "</think>", "<thi", "nk>", "</", "think>", "<", "a", " "]), max_size=12)


@given(pieces)
def test_it_makes_no_difference_how_a_text_is_cut(parts: list[str]) -> None:
    text = "".join(parts)

    assert filtered(parts) == filtered([text]) == re.sub(r"<think>.*?(</think>|\Z)", "", text, flags=re.DOTALL)
