"""Which failures still need attention: the rule that applies notes to what failed. No clock, no database.

A note holds for a target, between its bounds of versions, until it is closed or expires. One on a signature covers the
failures with it. One on a scenario variant covers what it knows, and nothing else: the ways in which the variant failed
where the note was written, and that it was not decided if it was not decided there. Written where nothing failed it
knows no failure and covers none, unless it says that it covers every failure. Failing differently needs attention
again, and so does what was said to be fixed and still fails.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import Final

VersionPlace = tuple[datetime, datetime, int]
"""The order of versions: start of the first run, first seen, primary key."""

FIXED_VERIFY: Final = "fixed_verify"


class Standing(StrEnum):
    COVERED = "covered"
    STILL_FAILS = "still_fails"
    FAILS_DIFFERENTLY = "fails_differently"
    LOST = "lost"
    NEW = "new"
    PASSES = "passes"


@dataclass(frozen=True, slots=True)
class NoteFacts:
    """What of a note decides where it applies; ``variant`` or ``signature`` is a primary key, the other is None.

    ``known`` are the signatures that a note on a scenario variant covers; ``knows_undecided`` tells that it covers the
    variant's not being decided, ``every_failure`` that it covers whatever becomes of it.
    """

    pk: int
    target: int
    variant: int | None
    signature: int | None
    known: frozenset[int]
    state: str
    expires_on: date | None = None
    first: VersionPlace | None = None
    last: VersionPlace | None = None
    knows_undecided: bool = False
    every_failure: bool = False

    def holds(self, *, target: int, place: VersionPlace | None, today: date) -> bool:
        """Tell whether the note says anything about a version of a target; bounds and last day are included."""
        if target != self.target or (self.expires_on is not None and today > self.expires_on):
            return False
        if place is None:
            return self.first is None and self.last is None
        return (self.first is None or place >= self.first) and (self.last is None or place <= self.last)

    def knows(self, signature: int | None) -> bool:
        return self.every_failure or signature in self.known

    @property
    def knows_loss(self) -> bool:
        return self.every_failure or self.knows_undecided


@dataclass(frozen=True, slots=True)
class Found:
    """How a failure stands, and the note that says so (None where there is none)."""

    standing: Standing
    note: int | None = None

    @property
    def needs_attention(self) -> bool:
        return self.standing not in (Standing.COVERED, Standing.PASSES)

    @property
    def is_covered(self) -> bool:
        return self.standing is Standing.COVERED


def standing_of(variant: int, signature: int | None, notes: Iterable[NoteFacts]) -> Found:
    """Judge one failure by the notes that hold for its version."""
    found = Found(Standing.NEW)
    for note in notes:
        if signature is not None and note.signature == signature:
            matches = True
        elif note.variant == variant:
            matches = note.knows(signature)
        else:
            continue
        if matches and note.state != FIXED_VERIFY:
            return Found(Standing.COVERED, note.pk)
        if found.standing is not Standing.STILL_FAILS:
            found = Found(Standing.STILL_FAILS if matches else Standing.FAILS_DIFFERENTLY, note.pk)
    return found


def standing_without_failure(variant: int, notes: Iterable[NoteFacts], *, is_lost: bool) -> Found:
    """Judge a scenario variant of which nothing fails by the notes on it: it was lost, or there is nothing to cover."""
    found = Found(Standing.NEW)
    for note in notes:
        if note.variant != variant:
            continue
        if note.state != FIXED_VERIFY and (note.knows_loss or not is_lost):
            return Found(Standing.COVERED, note.pk)
        found = Found(Standing.LOST if is_lost else Standing.PASSES, note.pk)
    return found


@dataclass(frozen=True, slots=True)
class Attention:
    """Failing cases of a run, and how many of them notes cover."""

    failing: int
    covered: int

    @property
    def needed(self) -> int:
        return self.failing - self.covered

    @property
    def words(self) -> str:
        """Return "4 need attention", "none needs attention"; "" where nothing fails."""
        if not self.failing:
            return ""
        if not self.needed:
            return "none needs attention"
        return f"{self.needed:,} {'needs' if self.needed == 1 else 'need'} attention"

    @property
    def headline(self) -> str:
        """Return "4 of 13 failing cases need attention"; "" where nothing fails."""
        if not self.failing:
            return ""
        whole = f"{self.failing:,} failing case{'' if self.failing == 1 else 's'}"
        if not self.needed:
            return f"none of {whole} needs attention" if self.failing > 1 else f"the {whole[2:]} needs no attention"
        return f"{self.needed:,} of {whole} {'needs' if self.needed == 1 else 'need'} attention"
