"""Filters that show values, text from outside above all."""

from datetime import UTC, datetime
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.templatetags import show
from reports.text import storable

ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()))


class Tags(HTMLParser):
    """Collect the elements of a piece of HTML."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.seen: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)


@given(ANY_TEXT)
def test_no_text_becomes_an_element_or_breaks_the_encoding(text: str) -> None:
    stored = storable(text)
    for shown in (
        show.visible(stored),
        show.visible(stored, 3),
        show.visible_raw(text),
        show.visible_block(text),
    ):
        assert Tags(shown).seen <= {"bdi", "span"}
        shown.encode("utf-8")
    show.plain(stored).encode("utf-8")


def test_markup_is_text() -> None:
    assert show.visible("<img src=x onerror=alert(1)>") == "<bdi>&lt;img src=x onerror=alert(1)&gt;</bdi>"


@pytest.mark.parametrize("text", ["\ud83d", "\0", "\u202e"])
def test_stored_escapes_are_shown_as_the_character_they_stand_for(text: str) -> None:
    assert show.visible(storable(text)) == show.visible_raw(text)
    assert 'class="unseen"' in show.visible(storable(text))


def test_a_cut_text_keeps_the_whole_in_its_tooltip() -> None:
    assert show.visible("abcdef", 3) == '<bdi title="abcdef">abc…</bdi>'


def test_blocks_keep_their_lines() -> None:
    assert show.visible_block("a\n\tb\r") == 'a\n\tb<span class="unseen" title="U+000D control character">\\r</span>'


def test_hashes_are_short_and_names_are_whole() -> None:
    assert show.short("sha256:" + "ab" * 32).startswith('<bdi title="' + "ab" * 32 + '">abababababab…')
    assert show.short("2026.02.4-rc1") == "<bdi>2026.02.4-rc1</bdi>"


def test_a_moment_carries_its_exact_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(show, "now", lambda: datetime(2026, 3, 2, 12, 5, tzinfo=UTC))

    shown = show.moment(datetime(2026, 3, 2, 9, 5, tzinfo=UTC))

    assert shown == '<time datetime="2026-03-02T09:05:00Z" title="2026-03-02 09:05:00 UTC">3 hours ago</time>'


def test_no_moment_is_a_dash() -> None:
    assert "–" in show.moment(None)


def test_nouns_agree_with_their_number() -> None:
    assert (show.noun(1, "case,cases"), show.noun(1_200, "case,cases")) == ("1 case", "1,200 cases")
