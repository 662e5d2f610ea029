"""How a scenario variant fared over the versions of a target: one definition of each word, for grid, strip and lists.

A version is *good* where every decided case passed, *bad* where one did not, and *open* where none was decided (or the
variant was absent). Open versions neither end nor begin anything.

* *failing since*: the first version of the unbroken row of bad ones that reaches the newest decided version;
* *last good*: the newest good version;
* *flips*: how often good turned bad or bad turned good.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from evalrunner.compare import Tally


@dataclass(frozen=True, slots=True)
class History:
    """Places are indexes into the versions, oldest first; None where there is no such version."""

    failing_since: int | None
    last_good: int | None
    flips: int
    is_changed: bool


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
