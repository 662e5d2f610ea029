"""How one scenario variant changed from baseline to candidate: the classes, decided from passed and decided counts."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from evalrunner.compare.tally import Tally


class Change(StrEnum):
    """The classes in the order in which a reader wants to see them."""

    BROKEN = "broken"
    LOST = "lost"
    UNSTABLE = "unstable"
    WORSE = "worse"
    FAILING_DIFFERENTLY = "failing_differently"
    FIXED = "fixed"
    STABILISED = "stabilised"
    BETTER = "better"
    GAINED = "gained"
    ADDED = "added"
    REMOVED = "removed"
    FAILING = "failing"
    UNDECIDED = "undecided"
    STEADY = "steady"


REGRESSIONS: Final = frozenset({Change.BROKEN, Change.UNSTABLE, Change.WORSE})
IMPROVEMENTS: Final = frozenset({Change.FIXED, Change.STABILISED, Change.BETTER})

MIRROR: Final[dict[Change, Change]] = {
    Change.BROKEN: Change.FIXED,
    Change.UNSTABLE: Change.STABILISED,
    Change.WORSE: Change.BETTER,
    Change.LOST: Change.GAINED,
    Change.ADDED: Change.REMOVED,
}
MIRROR.update({right: left for left, right in MIRROR.items()})
MIRROR.update({change: change for change in Change if change not in MIRROR})
"""What each class becomes when baseline and candidate change places."""


def classify(baseline: Tally, candidate: Tally, *, shares_signature: bool) -> Change:
    """Name the change of one scenario variant; a side with no case at all does not have it.

    ``shares_signature`` tells whether both sides failed in some common way; it matters only where both always failed.
    ValueError when neither side has a case.
    """
    if not (baseline.total and candidate.total):
        return _one_sided(baseline, candidate)
    if not (baseline.decided and candidate.decided):
        return _undecided(baseline, candidate)
    if not (baseline.passed or candidate.passed):
        return Change.FAILING if shares_signature else Change.FAILING_DIFFERENTLY
    return _rated(baseline, candidate)


def _one_sided(baseline: Tally, candidate: Tally) -> Change:
    if not (baseline.total or candidate.total):
        raise ValueError("a scenario variant without a case on either side has no change")
    return Change.REMOVED if baseline.total else Change.ADDED


def _undecided(baseline: Tally, candidate: Tally) -> Change:
    if baseline.decided:
        return Change.LOST
    return Change.GAINED if candidate.decided else Change.UNDECIDED


def _rated(baseline: Tally, candidate: Tally) -> Change:
    """Name a change where both sides have a rate and at least one of them is above 0."""
    rise = candidate.passed * baseline.decided - baseline.passed * candidate.decided
    if rise == 0:
        return Change.STEADY
    if rise < 0:
        return _fall(baseline, candidate)
    return MIRROR[_fall(candidate, baseline)]


def _fall(high: Tally, low: Tally) -> Change:
    if high.passed < high.decided:
        return Change.WORSE
    return Change.UNSTABLE if low.passed else Change.BROKEN


class Group(StrEnum):
    """The groups of rows of a comparison, in order. ``REDEFINED`` holds what is measured otherwise than before."""

    BROKEN = "broken"
    LOST = "lost"
    UNSTABLE_AND_WORSE = "unstable_and_worse"
    FAILING_DIFFERENTLY = "failing_differently"
    FIXED = "fixed"
    STABILISED = "stabilised"
    BETTER = "better"
    GAINED = "gained"
    ADDED = "added"
    REMOVED = "removed"
    REDEFINED = "redefined"
    FAILING = "failing"
    UNDECIDED = "undecided"
    STEADY = "steady"


FOLDED: Final = frozenset({Group.FAILING, Group.UNDECIDED, Group.STEADY})
"""Groups of rows that did not change: counted, and shown only when asked for."""


def group_of(change: Change, *, is_redefined: bool) -> Group:
    """Return the group in which a row stands."""
    if is_redefined:
        return Group.REDEFINED
    if change in (Change.UNSTABLE, Change.WORSE):
        return Group.UNSTABLE_AND_WORSE
    return Group(change.value)
