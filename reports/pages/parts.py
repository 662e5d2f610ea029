"""What components are given: small frozen values in which words, classes, addresses and order are decided."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from reports.domain.grammar import CASE_STATUSES, Sign, sign_of
from reports.domain.unseen import unstored

_WIDTH, _TALL_WIDTH = 100, 1000
_SMALLEST_SEGMENT = 0.012  # of the width: one failure among ten thousand stays visible
_MOST_PIPS = 24
_SHOWN_CHARACTERS, _SHOWN_LINES = 2_000, 30
_MOST_FOLDED = 200_000  # characters; what is longer is only offered as an address of its own


@dataclass(frozen=True, slots=True)
class Segment:
    """One status in a bar: ``x`` and ``width`` in the bar's own units."""

    sign: Sign
    count: int
    x: int
    width: int
    text: str
    href: str


@dataclass(frozen=True, slots=True)
class Bar:
    """Counts of cases by status as a stacked bar, ``width`` units wide; ``text`` says the same in words.

    A silent bar has its counts beside it (``counts.html``): a screen reader would only say them twice.
    """

    segments: tuple[Segment, ...]
    total: int
    text: str
    width: int
    has_links: bool
    is_tall: bool
    is_silent: bool

    @classmethod
    def of(
        cls,
        counts: Mapping[str, int],
        *,
        href: Callable[[str], str] | None = None,
        is_tall: bool = False,
        is_silent: bool = False,
    ) -> "Bar":
        """Make the bar of counts by case status; ``href`` gives a status the address of what it counts."""
        present = [(sign, counts.get(sign.key, 0)) for sign in CASE_STATUSES.values() if counts.get(sign.key, 0) > 0]
        whole = _TALL_WIDTH if is_tall else _WIDTH
        widths = _widths([number for _, number in present], whole)
        segments, x = [], 0
        for (sign, number), width in zip(present, widths, strict=True):
            text = f"{number:,} {sign.word}"
            segments.append(Segment(sign, number, x, width, text, href(sign.key) if href else ""))
            x += width
        words = ", ".join(segment.text for segment in segments) or "no cases"
        total = sum(number for _, number in present)
        return cls(tuple(segments), total, words, whole, href is not None, is_tall, is_silent)


def _widths(counts: Sequence[int], whole: int) -> list[int]:
    """Share the bar out by count, none narrower than can be seen; the widths add up to the whole."""
    total = sum(counts)
    if not total:
        return []
    smallest = math.ceil(_SMALLEST_SEGMENT * whole)
    widths = [max(smallest, round(number / total * whole)) for number in counts]
    widest = widths.index(max(widths))
    widths[widest] += whole - sum(widths)
    return widths


@dataclass(frozen=True, slots=True)
class Pip:
    sign: Sign
    text: str
    href: str


@dataclass(frozen=True, slots=True)
class Pips:
    """One mark per repetition, in order, the first 24 of them; ``text`` counts all ("2 of 3")."""

    marks: tuple[Pip, ...]
    text: str

    @classmethod
    def of(cls, statuses: Iterable[str], *, text: str, hrefs: Iterable[str] | None = None, first: int = 1) -> "Pips":
        """Make pips of case statuses in the order of their repetitions, the first of which is shown as ``first``."""
        known = list(statuses)
        addresses = list(hrefs) if hrefs is not None else [""] * len(known)
        marks = []
        for place, (status, href) in enumerate(zip(known[:_MOST_PIPS], addresses[:_MOST_PIPS], strict=True)):
            sign = sign_of(status, "case")
            marks.append(Pip(sign, f"repetition {place + first}: {sign.word}", href))
        more = len(known) - _MOST_PIPS
        return cls(tuple(marks), f"{text} (first {_MOST_PIPS} shown)" if more > 0 else text)


@dataclass(frozen=True, slots=True)
class VersionName:
    """A target at a fingerprint; all three texts in stored form."""

    target_id: str
    fingerprint: str
    label: str = ""
    href: str = ""

    @property
    def text(self) -> str:
        """The name in one line, for labels of buttons and titles."""
        return f"{self.target_id} @ {self.fingerprint}"


@dataclass(frozen=True, slots=True)
class Crumb:
    """A step of the breadcrumb; ``text`` may come from outside (stored form)."""

    text: str
    href: str = ""
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Fact:
    """A named value; ``text`` may come from outside (stored form); an empty one is shown as absent."""

    name: str
    text: str = ""
    href: str = ""
    at: datetime | None = None
    is_mono: bool = False


@dataclass(frozen=True, slots=True)
class Action:
    """A link that looks like a button. ``icon`` names a symbol. The frame holds the one filled button."""

    text: str
    href: str
    icon: str = ""


@dataclass(frozen=True, slots=True)
class Empty:
    """What an empty page or list says, and what to do next."""

    title: str
    text: str = ""
    actions: tuple[Action, ...] = ()


@dataclass(frozen=True, slots=True)
class Pager:
    """Paging by cursor. ``text`` says how many there are; empty addresses are not offered."""

    text: str
    first_href: str = ""
    next_href: str = ""
    next_text: str = "Older"


@dataclass(frozen=True, slots=True)
class Choice:
    """One entry of a chip's menu; ``text`` may come from outside (stored form)."""

    text: str
    href: str
    is_chosen: bool = False
    sign: Sign | None = None
    count: int | None = None


@dataclass(frozen=True, slots=True)
class Chip:
    """A filter: its name, its value when set, what its menu offers, and the address without it."""

    name: str
    value: str
    choices: tuple[Choice, ...]
    remove_href: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class OutsideText:
    """A text from a payload (not in stored form), ready to be shown whole or folded.

    ``shown`` is what stands open, ``folded`` the whole text when it is longer than that; what is too long for a page
    is offered at ``whole_href`` only.
    """

    shown: str
    folded: str
    size_text: str
    label: str
    whole_href: str
    is_cut: bool

    @classmethod
    def of(cls, text: str, *, label: str = "", whole_href: str = "") -> "OutsideText":
        head = "\n".join(text[:_SHOWN_CHARACTERS].split("\n")[:_SHOWN_LINES])
        is_cut = len(head) < len(text)
        fits = len(text) <= _MOST_FOLDED or not whole_href
        return cls(
            shown=head,
            folded=text if is_cut and fits else "",
            size_text=size_in_words(text),
            label=label,
            whole_href="" if fits else whole_href,
            is_cut=is_cut,
        )


def settings_crumbs(team_name: str, *further: Crumb) -> tuple[Crumb, ...]:
    """Return the breadcrumb of a page of the team's settings; the name is in stored form."""
    return (Crumb(f"Settings of {team_name}"), *further)


@dataclass(frozen=True, slots=True)
class LongText:
    """A text that a person wrote: ``shown`` stands open, and ``folded`` the whole where it is longer ("" otherwise)."""

    shown: str
    folded: str
    size_text: str

    @classmethod
    def of(cls, stored: str, longest: int) -> "LongText":
        """Fold a text in stored form at its first line end or ``longest`` characters; the members are not stored."""
        text = unstored(stored)
        head = text[:longest].split("\n")[0]
        return cls(head, text if len(head) < len(text) else "", size_in_words(text))


def size_in_words(text: str) -> str:
    """Return the length of a text: "empty text", "18 characters", "1,204 characters, 18 lines"."""
    if not text:
        return "empty text"
    characters = f"{len(text):,} character{'' if len(text) == 1 else 's'}"
    lines = text.count("\n") + 1
    return f"{characters}, {lines:,} lines" if lines > 1 else characters
