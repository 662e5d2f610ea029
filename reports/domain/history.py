"""How a scenario variant fared over the versions of a target: one definition of each word, for grid, strip and lists.

The words are defined in ``WORDS``, which pages show as it stands.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Final

from evalrunner.compare import Tally

WORDS: Final = (
    (
        "Good, bad",
        "a version is good where every decided case passed, bad where one did not; where none was decided, or "
        "the scenario variant is absent, it is neither and neither begins nor ends anything",
    ),
    ("Fails", "bad in the newest version that is good or bad"),
    (
        "Failing since",
        "the first of the bad versions in a row that reaches that one, also where no version before is good",
    ),
    ("Last good", "the newest good version"),
    ("Flips", "how often good turned bad or bad turned good"),
)


@dataclass(frozen=True, slots=True)
class History:
    """Places are indexes into the versions, oldest first; None where there is no such version.

    ``is_changed``: rates differ, or some versions are open and others are not.
    """

    failing_since: int | None
    last_good: int | None
    flips: int
    is_changed: bool

    @property
    def is_failing(self) -> bool:
        return self.failing_since is not None


def is_good(tally: Tally | None) -> bool | None:
    """Tell whether a version is good; None where it is open."""
    if tally is None or not tally.decided:
        return None
    return tally.passed == tally.decided


def history_of(tallies: Sequence[Tally | None]) -> History:
    """Sum up the versions of one scenario variant, oldest first; None stands for a version without it."""
    decided = [(place, good) for place, tally in enumerate(tallies) if (good := is_good(tally)) is not None]
    flips = sum(before != after for (_, before), (_, after) in pairwise(decided))
    rates = {Fraction(tally.passed, tally.decided) for tally in tallies if tally and tally.decided}
    open_ones = sum(is_good(tally) is None for tally in tallies)
    return History(
        failing_since=_failing_since(decided),
        last_good=next((place for place, good in reversed(decided) if good), None),
        flips=flips,
        is_changed=len(rates) > 1 or 0 < open_ones < len(tallies),
    )


def _failing_since(decided: Sequence[tuple[int, bool]]) -> int | None:
    since = None
    for place, good in reversed(decided):
        if good:
            break
        since = place
    return since
