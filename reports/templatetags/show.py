"""Filters that turn values into what a reader sees. All text from outside goes through ``visible`` or ``plain``."""

from datetime import datetime
from typing import Any

from django import template
from django.utils import timezone
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from reports.domain import wording
from reports.domain.grammar import Sign, sign_of
from reports.domain.unseen import mark_of, name_of, pieces, unstored
from reports.pages.parts import LongText

register = template.Library()
SHORT_FINGERPRINT = 12
_LONGEST_TITLE = 400
_HEX = frozenset("0123456789abcdef")


def now() -> datetime:
    """The one clock of the pages."""
    return timezone.now()


@register.filter
def visible(text: object, longest: int = 0) -> SafeString:
    """Show one line of text from outside, isolated in its direction, its invisible characters marked.

    With ``longest``, what is longer is cut there, the whole in the tooltip. Stored escapes are resolved.
    """
    whole = unstored(str(text))
    if longest and len(whole) > longest:
        return mark_safe(f'<bdi title="{escape(_titled(whole))}">{marked(whole[:longest])}…</bdi>')
    return mark_safe(f"<bdi>{marked(whole)}</bdi>")


@register.filter
def visible_block(text: object) -> SafeString:
    """Show text of several lines from a payload: line ends and tabs stay, what else is invisible is marked."""
    return marked(str(text), keep="\n\t")


@register.filter
def long_text(stored: object, longest: int = 200) -> LongText:
    """Fold a text that a person wrote, for ``components/long_text.html``: nothing of it is cut away."""
    return LongText.of(str(stored), longest)


@register.filter
def visible_raw(text: object) -> SafeString:
    """Like ``visible``, for a text that is not in stored form (it comes out of a payload)."""
    return mark_safe(f"<bdi>{marked(str(text))}</bdi>")


@register.filter
def plain(text: object) -> str:
    """Return text from outside for an attribute or a title: invisible characters as ASCII marks, nothing safe."""
    return "".join(mark_of(piece) if is_mark else piece for piece, is_mark in pieces(unstored(str(text))))


def marked(text: str, keep: str = "") -> SafeString:
    """Return escaped HTML in which each invisible character outside ``keep`` is a named mark."""
    return mark_safe(
        "".join(
            f'<span class="unseen" title="{escape(name_of(piece))}">{escape(mark_of(piece))}</span>'
            if is_mark
            else escape(piece)
            for piece, is_mark in pieces(text, keep=keep)
        )
    )


def _titled(text: str) -> str:
    return plain(text[:_LONGEST_TITLE]) + ("…" if len(text) > _LONGEST_TITLE else "")


@register.filter
def short(fingerprint: object) -> SafeString:
    """Show a fingerprint: a hash by its first twelve digits, other names up to 28 characters, the whole on hover."""
    whole = str(fingerprint)
    is_hash = len(whole) >= 20 and _HEX.issuperset(whole.lower().removeprefix("sha256:"))
    return visible(whole.removeprefix("sha256:") if is_hash else whole, SHORT_FINGERPRINT if is_hash else 28)


@register.filter
def duration(milliseconds: float | None) -> str:
    """Show milliseconds with a unit and two significant digits."""
    return wording.duration_in_words(milliseconds)


@register.filter
def moment(value: datetime | None) -> SafeString:
    """Show a moment as a ``time`` element: relative, the exact UTC moment in tooltip and ``datetime``."""
    if value is None:
        return mark_safe('<span class="absent">–</span>')
    exact = wording.exact_moment(value)
    machine = exact.removesuffix(" UTC").replace(" ", "T") + "Z"
    return mark_safe(f'<time datetime="{machine}" title="{exact}">{wording.moment_in_words(value, now())}</time>')


@register.filter
def exact(value: datetime | None) -> str:
    """Show a moment to the second with its zone."""
    return "–" if value is None else wording.exact_moment(value)


@register.filter
def percent(fraction: float | None) -> str:
    """Show a fraction as a percentage; its counts belong beside it."""
    return wording.percent_in_words(fraction)


@register.filter
def count(number: int | None) -> str:
    """Show a number with thousands separators."""
    return wording.count_in_words(number)


@register.filter
def noun(number: int, words: str) -> str:
    """Show a number with its noun: ``{{ 1|noun:"case,cases" }}`` is "1 case"."""
    one, many = words.split(",")
    return f"{number:,} {one if number == 1 else many}"


@register.filter
def sign(word: Any, kind: str = "") -> Sign:
    """Return how a status, outcome or change class is shown; ``kind`` is case, run, outcome or change."""
    return word if isinstance(word, Sign) else sign_of(str(word), kind)
