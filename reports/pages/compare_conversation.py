"""The conversation of a side by side: the rail, pairs of turns in full, and stretches folded to one line."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any

from django.urls import reverse
from evalrunner.compare import IgnoreRules, TurnMark

from reports.pages.compare_frame import Address
from reports.pages.compare_turns import TurnPairView, entry_anchor, has_flipped, mark_words, rail_mark, turn_pair
from reports.selectors import compare_case as selector
from reports.selectors.compare_case import Asked, CaseSketch, Entry, TurnSketch

PAIRS_SHOWN = 12  # pairs in full in one view
_TURNS_NAMED = 12  # of a folded stretch
RAIL_OPEN = 40  # turns of a conversation whose rail folds nothing
_RAIL_FOLDED = 4  # the fewest equal turns that are folded in a longer one

Data = tuple[Mapping[int, dict[str, Any]], Mapping[int, dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class Stretch:
    """Consecutive turns that are equal, or that stand outside the window; folded to one line."""

    words: str
    turns: tuple["OutlineEntry", ...]
    more: int
    is_equal: bool


@dataclass(frozen=True, slots=True)
class Block:
    """A part of the conversation in order: a pair in full, or a stretch. One of both is None."""

    pair: TurnPairView | None
    stretch: Stretch | None


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """A turn in the rail. ``key`` is the digit that leads to it, "" for later ones; ``step_id`` in stored form."""

    number: str
    step_id: str
    mark: str
    mark_words: str
    href: str
    key: str
    is_first: bool
    is_current: bool


@dataclass(frozen=True, slots=True)
class RailPart:
    """A stretch of the rail: equal turns folded to the line ``words``, or one turn, whose ``words`` are ""."""

    words: str
    entries: tuple[OutlineEntry, ...]


@dataclass(frozen=True)  # without slots, for what is decided once
class ConversationView:
    """The aligned turns with what decides which of them are shown in full."""

    address: Address
    variant: str
    cases: tuple[CaseSketch | None, CaseSketch | None]
    entries: Sequence[Entry]
    scenarios: tuple[selector.Definition, selector.Definition]
    first: int | None
    asked: Asked
    ignored: IgnoreRules

    def href(self, **members: str) -> str:
        """Return the address of this pair with other members; arriving at the first divergence."""
        left, right = self.cases
        ranks = {"b": str(left.rank) if left else "", "c": str(right.rank) if right else ""}
        return f"{self.address.case(self.variant, **(ranks | members))}#divergence"

    @cached_property
    def base(self) -> str:
        """Return the address of this pair without a fragment."""
        return self.href().partition("#")[0]

    def first_href(self) -> str:
        if self.first is None or self.first in self.shown_places:
            return "#divergence"
        return self.href()

    def flip_href(self) -> str:
        """Return the address of the first pair that was judged otherwise, if it is not where the sides part."""
        flipped = next((place for place, entry in enumerate(self.entries) if has_flipped(entry)), None)
        return "" if flipped is None or flipped == self.first else self.outline_entry(flipped).href

    @cached_property
    def wanted(self) -> int:
        """Return the place at which the view opens: the asked turn, else the first divergence, else the beginning."""
        if self.asked.turn:
            at = (place for place, entry in enumerate(self.entries) if self.asked.turn in _turn_names(entry))
            return next(at, 0)
        return self.first or 0

    def has_asked_turn(self) -> bool:
        return not self.asked.turn or any(self.asked.turn in _turn_names(entry) for entry in self.entries)

    @cached_property
    def shown_places(self) -> frozenset[int]:
        """Return the places shown in full: the wanted turn, and changed ones around it, most of them behind it."""
        changed = [place for place, entry in enumerate(self.entries) if entry.mark is not TurnMark.EQUAL]
        wanted = self.wanted
        before = [place for place in changed if place < wanted][-2:]
        behind = [place for place in changed if place >= wanted][: PAIRS_SHOWN - len(before)]
        asked = [wanted] if self.asked.turn and self.entries and self.has_asked_turn() else []
        return frozenset([*before, *behind, *asked])

    def outline_entry(self, place: int) -> OutlineEntry:
        entry = self.entries[place]
        turn = entry.right or entry.left
        assert turn is not None  # an entry has at least one side
        is_shown = place in self.shown_places
        number = _number(entry)
        return OutlineEntry(
            number=number,
            step_id=turn.step_id,
            mark=rail_mark(entry),
            mark_words="judged otherwise" if has_flipped(entry) else mark_words(entry.mark),
            href=f"#{entry_anchor(entry)}" if is_shown else self._turn_href(entry),
            key=number if number.isdigit() and len(number) == 1 else "",
            is_first=place == self.first,
            is_current=place == self.wanted and (self.first is not None or bool(self.asked.turn)),
        )

    def rail(self) -> tuple[RailPart, ...]:
        """Return all turns in order; in a long conversation stretches of equal ones that are not shown are folded."""
        outline = [self.outline_entry(place) for place in range(len(self.entries))]
        if len(outline) <= RAIL_OPEN:
            return tuple(RailPart("", (entry,)) for entry in outline)
        shown = self.shown_places
        parts: list[RailPart] = []
        for is_folded, places in groupby(range(len(outline)), lambda at: self._is_equal(at) and at not in shown):
            entries = tuple(outline[place] for place in places)
            if is_folded and len(entries) >= _RAIL_FOLDED:
                words = f"{entries[0].number}–{entries[-1].number}: {len(entries)} equal turns"
                parts.append(RailPart(words, entries))
            else:
                parts += [RailPart("", (entry,)) for entry in entries]
        return tuple(parts)

    def _turn_href(self, entry: Entry) -> str:
        return f"{self.turn_base(entry)}#{entry_anchor(entry)}"

    def turn_base(self, entry: Entry) -> str:
        """Return the address that shows a pair in full, without a fragment."""
        return f"{self.base}&turn={entry_anchor(entry).removeprefix('turn-')}"

    def blocks(self) -> tuple[Block, ...]:
        """Return the conversation in order: pairs in full, everything else folded into stretches."""
        shown = self.shown_places
        data = self._data(shown)
        blocks: list[Block] = []
        run: list[int] = []
        for place, entry in enumerate(self.entries):
            if place in shown:
                blocks += self._stretches(run)
                run = []
                blocks.append(Block(self._pair(place, entry, data), None))
            else:
                run.append(place)
        return (*blocks, *self._stretches(run))

    def _data(self, shown: frozenset[int]) -> Data:
        left, right = self.cases
        entries = [self.entries[place] for place in sorted(shown)]
        return (
            selector.turn_data(left.pk if left else None, [e.left.position for e in entries if e.left]),
            selector.turn_data(right.pk if right else None, [e.right.position for e in entries if e.right]),
        )

    def _pair(self, place: int, entry: Entry, data: Data) -> TurnPairView:
        left, right = self.cases
        return turn_pair(
            entry,
            (
                data[0].get(entry.left.position) if entry.left else None,
                data[1].get(entry.right.position) if entry.right else None,
            ),
            self.scenarios,
            (_turn_of_case(left, entry.left), _turn_of_case(right, entry.right)),
            is_first=place == self.first,
            follows=self.first is not None and place > self.first and entry.mark is not TurnMark.EQUAL,
            ignored=self.ignored,
            asked=self.asked.path if place == self.wanted else None,
            base=self.turn_base(entry),
        )

    def _stretches(self, places: Sequence[int]) -> list[Block]:
        """Fold consecutive unshown turns, equal ones apart from those that differ."""
        folded: list[Block] = []
        run: list[int] = []
        for place in [*places, -1]:
            is_end = place < 0
            if run and (is_end or self._is_equal(place) != self._is_equal(run[-1])):
                folded.append(Block(None, self._stretch(run)))
                run = []
            if not is_end:
                run.append(place)
        return folded

    def _is_equal(self, place: int) -> bool:
        return self.entries[place].mark is TurnMark.EQUAL

    def _stretch(self, places: Sequence[int]) -> Stretch:
        is_equal = self._is_equal(places[0])
        words = f"{len(places)} {'equal' if is_equal else 'further differing'} turn{'' if len(places) == 1 else 's'}"
        named = tuple(self.outline_entry(place) for place in places[:_TURNS_NAMED])
        return Stretch(words, named, len(places) - len(named), is_equal)


def _turn_names(entry: Entry) -> tuple[str, ...]:
    """Return the names by which an address may ask for a pair."""
    right = (str(entry.right.position + 1),) if entry.right is not None else ()
    return (*right, f"left-{entry.left.position + 1}") if entry.left is not None else right


def _number(entry: Entry) -> str:
    if entry.right is not None:
        return str(entry.right.position + 1)
    return f"–{entry.left.position + 1}" if entry.left is not None else ""


def _turn_of_case(case: CaseSketch | None, turn: TurnSketch | None) -> str:
    if case is None or turn is None:
        return ""
    number = turn.position + 1
    return f"{reverse('case', args=[case.run, case.position])}?turn={number}#turn-{number}"
