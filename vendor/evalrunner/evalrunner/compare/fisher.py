"""Which rows changed? Fisher's exact test for one scenario variant, adjusted over all rows.

Sources: R. A. Fisher, J. R. Stat. Soc. 85 (1922) 87-94. Y. Benjamini, Y. Hochberg, J. R. Stat. Soc. B 57 (1995)
289-300.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache

from evalrunner.compare.redealing import Pair

_ALIKE = 1 + 1e-7  # tables as likely as the observed one up to rounding count as extreme


@lru_cache(maxsize=65_536)
def fisher_exact(pair: Pair) -> float:
    """Return the two-sided p value: the share of tables with these margins that are no likelier than the observed."""
    passed, baseline, candidate = pair.key
    lowest, highest = max(0, passed - baseline), min(passed, candidate)
    ways = [math.comb(candidate, dealt) * math.comb(baseline, passed - dealt) for dealt in range(lowest, highest + 1)]
    observed = ways[pair.candidate_passed - lowest]
    return min(1.0, sum(count for count in ways if count <= observed * _ALIKE) / sum(ways))


def adjusted(counted: Mapping[float, int]) -> dict[float, float]:
    """Adjust p values by Benjamini and Hochberg: the false discovery rate at each of them.

    ``counted`` tells how many rows have each p value; rows that share one share what it is adjusted to.
    """
    whole = rank = sum(counted.values())
    result: dict[float, float] = {}
    smallest = 1.0
    for p_value in sorted(counted, reverse=True):
        smallest = min(smallest, p_value * whole / rank)
        result[p_value] = smallest
        rank -= counted[p_value]
    return result
