"""The from/to matrix: every case of either side, paired by rank inside its scenario variant.

Rows are statuses of the baseline, columns those of the candidate. What has no partner pairs with *missing*, so that the
sum of a row is the baseline's number of cases with that status, and the sum of a column the candidate's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import Final, TypeAlias

from evalrunner.compare.tally import STATUS_ORDER

MISSING: Final = "missing"
MATRIX_ORDER: Final[tuple[str, ...]] = (*(str(status) for status in STATUS_ORDER), MISSING)

Cell: TypeAlias = tuple[str, str]
Matrix: TypeAlias = Mapping[Cell, int]


def paired(baseline: Sequence[str], candidate: Sequence[str]) -> Counter[Cell]:
    """Count the pairs of one scenario variant; statuses are given in rank order."""
    return Counter(zip_longest(baseline, candidate, fillvalue=MISSING))


def matrix_of(pairs: Iterable[tuple[Sequence[str], Sequence[str]]]) -> Counter[Cell]:
    """Add up the pairs of all scenario variants. Variants that look the same are paired once."""
    alike = Counter((tuple(baseline), tuple(candidate)) for baseline, candidate in pairs)
    cells: Counter[Cell] = Counter()
    for (baseline, candidate), times in alike.items():
        for cell, count in paired(baseline, candidate).items():
            cells[cell] += count * times
    return cells
