"""What counts as decided, and the pass rate: one rule for pages, API, command line and stored counts.

A case is decided when it passed, failed or ended in an error. Everything else (skipped, blocked, cancelled, running,
pending) is undecided: never counted as passed, and always shown beside the rate.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from evalrunner.models import CaseStatus

STATUS_ORDER: Final[tuple[CaseStatus, ...]] = (
    CaseStatus.PASSED,
    CaseStatus.FAILED,
    CaseStatus.ERROR,
    CaseStatus.SKIPPED,
    CaseStatus.BLOCKED,
    CaseStatus.CANCELLED,
    CaseStatus.RUNNING,
    CaseStatus.PENDING,
)
"""The order in which statuses stand in every matrix, bar and list."""

DECIDED: Final[frozenset[CaseStatus]] = frozenset({CaseStatus.PASSED, CaseStatus.FAILED, CaseStatus.ERROR})


@dataclass(frozen=True, slots=True)
class Tally:
    """Numbers of cases: ``passed`` of ``decided``, and the ``undecided`` beside them."""

    passed: int = 0
    decided: int = 0
    undecided: int = 0

    @property
    def total(self) -> int:
        return self.decided + self.undecided

    @property
    def rate(self) -> float | None:
        """Return passed ÷ decided in [0, 1]; None when nothing was decided."""
        return self.passed / self.decided if self.decided else None

    @property
    def words(self) -> str:
        """Return both numbers and the undecided: "2 of 5 decided, 5 undecided"."""
        counted = f"{self.passed} of {self.decided} decided" if self.decided else "none decided"
        return f"{counted}, {self.undecided} undecided" if self.undecided else counted

    @property
    def short_words(self) -> str:
        """Return the same for narrow places, where "decided" is understood: "2 of 5, 5 undecided"; "no case"."""
        parts = [f"{self.passed} of {self.decided}"] if self.decided else []
        parts += [f"{self.undecided} undecided"] if self.undecided else []
        return ", ".join(parts) or "no case"

    @property
    def percent(self) -> str:
        """Return the rate as text with at most one decimal, or "–"; never "100%" or "0%" unless it is exactly so."""
        if not self.decided:
            return "–"
        return percent_text(self.passed, self.decided)

    def __add__(self, other: Tally) -> Tally:
        return Tally(self.passed + other.passed, self.decided + other.decided, self.undecided + other.undecided)


def percent_text(part: int, whole: int) -> str:
    """Return ``part`` of ``whole`` (> 0) in percent; shares near the ends are rounded away from them."""
    share = 100 * part / whole
    rounded = min(99.9, max(0.1, round(share, 1))) if 0 < part < whole else share
    return f"{math.floor(rounded)}%" if rounded == math.floor(rounded) else f"{rounded:.1f}%"


def fraction_text(fraction: float) -> str:
    """Return a fraction that somebody asked for in percent, all its digits kept: 0.95 is "95%", 0.999 "99.9%"."""
    return f"{100 * fraction:.10g}%"


def tally(counts: Mapping[str, int]) -> Tally:
    """Count cases given as numbers by status; statuses that are missing count as zero."""
    passed = counts.get(CaseStatus.PASSED, 0)
    decided = sum(counts.get(status, 0) for status in DECIDED)
    return Tally(passed=passed, decided=decided, undecided=sum(counts.values()) - decided)


def tally_statuses(statuses: Iterable[str]) -> Tally:
    """Count cases given one status each."""
    return tally(Counter(statuses))
