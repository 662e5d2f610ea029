"""What the verdict's two methods are expected to say once there are more cases or more scenarios.

Changes seen on few cases are partly chance, so more cases will show smaller ones. How much of them is real is told by
their size beside the noise: of the variants in which chance was seen at work (mixed results on a side, or another
rate), let d be the changes and v their noise, the sum over both sides of p(1 - p)/n with p = (passed + 1/2)/(decided +
1). The real changes then have a variance t near mean(d² - v), at least nought, and new cases are expected to change by
d t/(t + v). With r more cases on both sides

- the test sees the counts of now and r cases of each side at those rates, rounded to whole cases;
- the interval sees the mean changes of both together, and the noise of the new cases, p(1 - p) r/(n + r)² a side.

Either is expected to decide where it would in about four of five tries: where it is clear of its threshold by 0.84
standard deviations (for the test, a p value of 0.0065).

Sources: C. Stein, Proc. 3rd Berkeley Symp. 1 (1956) 197-206, and B. Efron, C. Morris, J. Am. Stat. Assoc. 70 (1975)
311-319 (shrinking by the noise); (passed + 1/2)/(decided + 1) is the mean by H. Jeffreys' prior.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from evalrunner.compare.engine import Row
from evalrunner.compare.intervals import imagined_squares, t_quantile
from evalrunner.compare.redealing import Pair, redeal
from evalrunner.compare.tally import Tally
from evalrunner.compare.verdict import Verdict, pair_of

V = TypeVar("V", bound=Hashable)
T = TypeVar("T")

LADDER: Final = (1, 2, 3, 5, 8, 12, 20, 30, 50)
MOST_SCENARIOS: Final = 10_000
_SPARE: Final = 0.8416  # standard deviations, for four of five tries
_SPARE_P: Final = 0.0065  # of 1.645 + 0.8416 standard deviations


@dataclass(frozen=True, slots=True)
class Outlook(Generic[V]):
    """The pairs of a comparison. ``moving`` are those in which chance was seen at work, by their scenario's place.

    ``still`` counts, for each scenario, its other pairs, which show no change.
    """

    moving: tuple[tuple[int, Row[V]], ...]
    still: tuple[int, ...]
    real: float
    margin: float

    @classmethod
    def of(
        cls, paired: Iterable[Row[V]], waiting: Iterable[Row[V]], scenario_of: Callable[[V], str], margin: float
    ) -> Outlook[V]:
        """Look at ``paired`` rows; ``waiting`` ones are taken to show no change once they are decided."""
        places: dict[str, int] = {}
        still: list[int] = []
        moving: list[tuple[int, Row[V]]] = []
        for is_paired, rows in ((True, paired), (False, waiting)):
            for row in rows:
                place = places.setdefault(scenario_of(row.variant), len(places))
                if place == len(still):
                    still.append(0)
                if is_paired and _moves(row):
                    moving.append((place, row))
                else:
                    still[place] += 1
        return cls(tuple(moving), tuple(still), _real_variance([row for _place, row in moving]), margin)

    @property
    def pairs(self) -> int:
        return len(self.moving) + sum(self.still)

    def first_decision(self) -> tuple[int, Verdict] | None:
        """Return the smallest number of the ladder that decides, and how; 0 where the waiting rows are enough."""
        for more in (0, *LADDER) if self.moving else (0,) if self.still else ():
            if self.p_value(more) <= _SPARE_P:
                return more, Verdict.REGRESSED
            if self.low(more) - self._spare(more) >= -self.margin:
                return more, Verdict.PASS
        return None

    def more_scenarios(self) -> int | None:
        """Return how many more scenarios like these would narrow the interval enough; None where none would."""
        count = len(self.still)
        if not count or self.low(0, times=MOST_SCENARIOS / count) < -self.margin:
            return None
        few, enough = count, MOST_SCENARIOS
        while enough - few > 1:
            middle = (few + enough) // 2
            is_enough = self.low(0, times=middle / count) >= -self.margin
            few, enough = (few, middle) if is_enough else (middle, enough)
        return enough - count

    def p_value(self, more: int) -> float:
        """Return the p value of the re-dealing test after ``more`` cases on both sides of the moving rows."""
        return redeal(_each(self._rows(), lambda row: self._predicted(row, more))).p_value

    def low(self, more: int, *, times: float = 1.0) -> float:
        """Return the lower end of the interval after ``more`` cases, or with the scenarios so many ``times``."""
        clusters = self._clusters(more)
        scenarios, pairs = len(clusters) * times, self.pairs * times
        if scenarios < 2:
            return -1.0
        mean = math.fsum(changes for changes, _size in clusters) * times / pairs
        squares = math.fsum((changes - size * mean) ** 2 for changes, size in clusters)
        squares += math.fsum(_each(self._rows(), lambda row: _new_noise(row, more)))
        usual = self.pairs / len(clusters)
        imagined = imagined_squares([changes / size for changes, size in clusters], times=times)
        whole = squares * times + usual * usual * imagined
        error = math.sqrt(whole * scenarios / (scenarios - 1)) / pairs
        return mean - t_quantile(0.975, math.floor(scenarios + 1e-9) - 1) * error

    def _spare(self, more: int) -> float:
        return _SPARE * math.sqrt(math.fsum(_each(self._rows(), lambda row: _new_noise(row, more)))) / self.pairs

    def _clusters(self, more: int) -> list[tuple[float, int]]:
        """Return the sum of changes and the number of pairs of each scenario."""
        clusters = [(0.0, size) for size in self.still]
        changed = _each(self._rows(), lambda row: self._change(row, more))
        for (place, _row), change in zip(self.moving, changed, strict=True):
            changes, size = clusters[place]
            clusters[place] = (changes + change, size + 1)
        return clusters

    def _rows(self) -> list[Row[V]]:
        return [row for _place, row in self.moving]

    def _change(self, row: Row[V], more: int) -> float:
        before, after = row.judgement.baseline, row.judgement.candidate
        new = self._new_rates(row)
        return _pooled(after, new[1], more) - _pooled(before, new[0], more)

    def _predicted(self, row: Row[V], more: int) -> Pair:
        new, pair = self._new_rates(row), pair_of(row)
        return Pair(
            pair.baseline_passed + round(more * new[0]),
            pair.baseline_decided + more,
            pair.candidate_passed + round(more * new[1]),
            pair.candidate_decided + more,
        )

    def _new_rates(self, row: Row[V]) -> tuple[float, float]:
        """Return the rates expected of new cases: those of now, drawn together as far as they are noise."""
        both = row.judgement.baseline + row.judgement.candidate
        change = -row.judgement.drop * self.real / (self.real + _noise(row))
        middle, weight = both.passed / both.decided, row.judgement.baseline.decided / both.decided
        return _fraction(middle - change * (1 - weight)), _fraction(middle + change * weight)


def _each(rows: Iterable[Row[V]], compute: Callable[[Row[V]], T]) -> list[T]:
    """Compute something of each row; rows that share their judgement share it."""
    known: dict[int, T] = {}
    found = []
    for row in rows:
        key = id(row.judgement)
        if key not in known:
            known[key] = compute(row)
        found.append(known[key])
    return found


def _moves(row: Row[V]) -> bool:
    before, after = row.judgement.baseline, row.judgement.candidate
    return row.judgement.drop != 0 or 0 < before.passed < before.decided or 0 < after.passed < after.decided


def _real_variance(moving: Sequence[Row[V]]) -> float:
    if not moving:
        return 0.0
    return max(0.0, math.fsum(_each(moving, lambda row: row.judgement.drop**2 - _noise(row))) / len(moving))


def _noise(row: Row[V]) -> float:
    return math.fsum(_spread(side) / side.decided for side in (row.judgement.baseline, row.judgement.candidate))


def _new_noise(row: Row[V], more: int) -> float:
    sides = (row.judgement.baseline, row.judgement.candidate)
    return math.fsum(_spread(side) * more / (side.decided + more) ** 2 for side in sides)


def _spread(side: Tally) -> float:
    rate = (side.passed + 0.5) / (side.decided + 1)
    return rate * (1 - rate)


def _pooled(side: Tally, new_rate: float, more: int) -> float:
    return (side.passed + more * new_rate) / (side.decided + more)


def _fraction(value: float) -> float:
    return min(1.0, max(0.0, value))
