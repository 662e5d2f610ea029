"""Which rows changed? Fisher's exact test for one scenario variant, adjusted over all rows.

Sources: R. A. Fisher, J. R. Stat. Soc. 85 (1922) 87-94. Y. Benjamini, Y. Hochberg, J. R. Stat. Soc. B 57 (1995)
289-300.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
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


def adjusted(p_values: Sequence[float]) -> list[float]:
    """Return p values adjusted by Benjamini and Hochberg, in the given order: the false discovery rate of each row."""
    order = sorted(range(len(p_values)), key=lambda place: p_values[place], reverse=True)
    result = [1.0] * len(p_values)
    smallest = 1.0
    for done, place in enumerate(order):
        rank = len(p_values) - done
        smallest = min(smallest, p_values[place] * len(p_values) / rank)
        result[place] = smallest
    return result
