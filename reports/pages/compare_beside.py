"""Marks of comparison rows for what never counts in their rates: "1 passed on retry", "follow-up: 2 of 3"."""

from collections.abc import Mapping, Sequence

from evalrunner.compare import Tally

from reports.models import Team
from reports.selectors.compare_beside import Beside, beside_rows
from reports.selectors.compare_sides import Side

Marks = Mapping[int, tuple[str, ...]]


def beside_marks(team: Team, sides: tuple[Side, Side], variants: Sequence[int]) -> Marks:
    """Return the marks of rows, by scenario variant; the side is named where the baseline has them."""
    found = beside_rows(team=team, sides=sides, variants=variants)
    return {variant: (*_words(before, "baseline: "), *_words(after, "")) for variant, (before, after) in found.items()}


def _words(beside: Beside, whose: str) -> tuple[str, ...]:
    retried = (f"{whose}{beside.retried:,} passed on retry",) if beside.retried else ()
    return (*retried, *_follow_up_words(beside.follow_ups, whose))


def _follow_up_words(counted: Tally | None, whose: str) -> tuple[str, ...]:
    return () if counted is None else (f"{whose}follow-up: {counted.short_words}",)
