"""What components are given."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.domain.grammar import CASE_STATUSES
from reports.pages.parts import Bar, OutsideText, Pips, size_in_words


@given(st.dictionaries(st.sampled_from(list(CASE_STATUSES)), st.integers(0, 10**9)), st.booleans())
def test_a_bar_is_full_and_hides_nothing(counts: dict[str, int], is_tall: bool) -> None:
    bar = Bar.of(counts, is_tall=is_tall)

    assert bar.total == sum(counts.values())
    assert {segment.sign.key: segment.count for segment in bar.segments} == {k: n for k, n in counts.items() if n}
    assert all(segment.width > 0 for segment in bar.segments)
    assert not bar.segments or bar.segments[-1].x + bar.segments[-1].width == bar.width


def test_a_bar_says_its_counts_and_leads_to_them() -> None:
    bar = Bar.of({"failed": 1_200, "passed": 3}, href=lambda status: f"?status={status}")

    assert bar.text == "3 passed, 1,200 failed"
    assert [segment.href for segment in bar.segments] == ["?status=passed", "?status=failed"]


def test_many_repetitions_show_the_first_ones() -> None:
    pips = Pips.of(["passed"] * 100, text="100 of 100")

    assert (len(pips.marks), pips.text) == (24, "100 of 100 (first 24 shown)")


@pytest.mark.parametrize(
    ("text", "words"),
    [("", "empty text"), ("a", "1 character"), ("a" * 1_204, "1,204 characters"), ("a\nb", "3 characters, 2 lines")],
)
def test_the_length_of_a_text_is_stated(text: str, words: str) -> None:
    assert size_in_words(text) == words


def test_a_short_text_stands_open() -> None:
    shown = OutsideText.of("Hello")

    assert (shown.shown, shown.folded, shown.is_cut) == ("Hello", "", False)


def test_a_long_text_is_folded_whole() -> None:
    text = "line\n" * 5_000

    shown = OutsideText.of(text)

    assert shown.folded == text
    assert len(shown.shown) < 2_001


def test_a_huge_text_is_offered_at_its_own_address() -> None:
    shown = OutsideText.of("a" * 2_000_000, whole_href="/raw/")

    assert (shown.folded, shown.whole_href, len(shown.shown)) == ("", "/raw/", 2_000)
