"""Which failures still need attention: the rule that applies notes to what failed. No clock, no database.

A note holds for a target, between its bounds of versions, until it is closed or expires. It covers a failure with its
signature, or of its scenario variant in one of the ways that were known when it was written. Failing differently needs
attention again, and so does what was said to be fixed and still fails.
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
    NEW = "new"


@dataclass(frozen=True, slots=True)
class NoteFacts:
    """What of a note decides where it applies; ``variant`` or ``signature`` is a primary key, the other is None."""

    pk: int
    target: int
    variant: int | None
    signature: int | None
    known: frozenset[int]
    state: str
    expires_on: date | None = None
    first: VersionPlace | None = None
    last: VersionPlace | None = None

    def holds(self, *, target: int, place: VersionPlace | None, today: date) -> bool:
        """Tell whether the note says anything about a version of a target; bounds and last day are included."""
        if target != self.target or (self.expires_on is not None and today > self.expires_on):
            return False
        if place is None:
            return self.first is None and self.last is None
        return (self.first is None or place >= self.first) and (self.last is None or place <= self.last)

    def knows(self, signature: int | None) -> bool:
        return not self.known or signature in self.known


@dataclass(frozen=True, slots=True)
class Found:
    """How a failure stands, and the note that says so (None where there is none)."""

    standing: Standing
    note: int | None = None

    @property
    def needs_attention(self) -> bool:
        return self.standing is not Standing.COVERED


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


def is_covered_without_signature(variant: int, notes: Iterable[NoteFacts]) -> bool:
    """Tell whether a note stands on a scenario variant that was lost: it did not fail in any way."""
    return any(note.variant == variant and note.state != FIXED_VERIFY for note in notes)


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
