"""Intervals: of one pass rate, and of the mean change over scenarios.

The mean change is a mean over scenario variants, clustered by scenario: variants and repetitions of one scenario share
its difficulty, so scenarios are what counts as independent. A plain clustered t interval is right where many scenarios
changed, and far too short where few or none did (no change seen at all gives an interval of length nought). Therefore
two scenarios that changed, one up and one down, are imagined beside the real ones while fewer than four really changed;
they fade out as real ones appear. The idea is that of Bonett and Price for paired proportions.

Sources: E. B. Wilson, J. Am. Stat. Assoc. 22 (1927) 209-212. K.-Y. Liang, S. L. Zeger, Biometrika 73 (1986) 13-22 (the
clustered variance). D. G. Bonett, R. M. Price, J. Educ. Behav. Stat. 37 (2012) 479-488. Coverage is tested by
simulation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

Z_95: Final = 1.959963984540054
POWER: Final = 0.8
_ENOUGH_CHANGED: Final = 4  # scenarios: from here on the data need no imagined ones
_SEEN: Final = 1e-12  # a smaller mean change of a scenario is rounding


def wilson_interval(passed: int, decided: int, *, z: float = Z_95) -> tuple[float, float]:
    """Return the interval in which the true pass rate plausibly lies.

    ``passed`` of ``decided`` cases, 0 <= passed <= decided (else ValueError); fractions in [0, 1], low first;
    (0.0, 1.0) when nothing was decided. Source: E. B. Wilson, J. Am. Stat. Assoc. 22 (1927) 209-212.
    """
    if not 0 <= passed <= decided:
        raise ValueError(f"{passed} of {decided} is no rate")
    if not decided:
        return 0.0, 1.0
    rate = passed / decided
    middle = rate + z * z / (2 * decided)
    reach = z * math.sqrt(rate * (1 - rate) / decided + z * z / (4 * decided * decided))
    whole = 1 + z * z / decided
    low = 0.0 if passed == 0 else (middle - reach) / whole
    high = 1.0 if passed == decided else (middle + reach) / whole
    return low, high


@dataclass(frozen=True, slots=True)
class MeanChange:
    """The mean change of pass rates, candidate minus baseline, as fractions in [-1, 1].

    ``low`` and ``high`` bound the 95% interval; ``smallest_effect`` is the true change that this suite would have shown
    (by an interval without nought) in four of five tries; None where fewer than two scenarios are paired.
    """

    mean: float
    low: float
    high: float
    pairs: int
    clusters: int
    smallest_effect: float | None


def mean_change(clusters: Sequence[Sequence[float]], *, confidence: float = 0.95) -> MeanChange | None:
    """Return the mean of paired changes with its interval; None without any pair.

    ``clusters`` holds one sequence for each scenario: the changes of its variants' rates. Every variant weighs alike.
    """
    filled = [changes for changes in clusters if changes]
    pairs = sum(map(len, filled))
    if not pairs:
        return None
    mean = math.fsum(change for changes in filled for change in changes) / pairs
    count = len(filled)
    if count < 2:
        return MeanChange(mean, -1.0, 1.0, pairs, count, None)
    error = _standard_error(filled, mean, pairs)
    reach = t_quantile(0.5 + confidence / 2, count - 1) * error
    smallest = reach + t_quantile(POWER, count - 1) * error
    return MeanChange(mean, max(-1.0, mean - reach), min(1.0, mean + reach), pairs, count, smallest)


def _standard_error(clusters: Sequence[Sequence[float]], mean: float, pairs: int) -> float:
    count = len(clusters)
    squares = math.fsum(math.fsum(change - mean for change in changes) ** 2 for changes in clusters)
    usual = pairs / count  # variants of a scenario
    squares += usual * usual * imagined_squares([math.fsum(changes) / len(changes) for changes in clusters])
    return math.sqrt(squares * count / (count - 1)) / pairs


def imagined_squares(means: Sequence[float], *, times: float = 1.0) -> float:
    """Return the squares of two imagined scenarios, each half as large as the usual real change (1 where none).

    ``means`` are the mean changes of the scenarios; ``times`` tells how often each of them is to be counted.
    """
    changed = [mean for mean in means if abs(mean) > _SEEN]
    number = times * len(changed)
    usual = (1 + times * math.fsum(mean * mean for mean in changed)) / (1 + number)
    return 2 * usual / 4 * max(0.0, 1 - number / _ENOUGH_CHANGED)


# ---------------------------------------------------------------------------------------------------------- Student's t


@lru_cache(maxsize=1024)
def t_quantile(probability: float, degrees: int) -> float:
    """Return the value that Student's t with ``degrees`` >= 1 stays below with a probability in [0.5, 1).

    By bisection of the distribution function, to about 1e-12 of the value.
    """
    if not (0.5 <= probability < 1 and degrees >= 1):
        raise ValueError(f"no quantile for {probability} and {degrees} degrees of freedom")
    low, high = 0.0, 1.0
    while t_distribution(high, degrees) < probability:
        low, high = high, 2 * high
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if t_distribution(middle, degrees) < probability:
            low = middle
        else:
            high = middle
    return high


def t_distribution(value: float, degrees: int) -> float:
    """Return the probability that Student's t stays below a value >= 0."""
    tail = 0.5 * _incomplete_beta(degrees / (degrees + value * value), degrees / 2, 0.5)
    return 1 - tail


def _incomplete_beta(x: float, a: float, b: float) -> float:
    """Return the regularised incomplete beta function I_x(a, b).

    By its continued fraction, evaluated by Lentz's method (W. H. Press et al., Numerical Recipes, 3rd ed., 6.4).
    """
    if x in (0.0, 1.0):
        return x
    if x > (a + 1) / (a + b + 2):
        return 1 - _incomplete_beta(1 - x, b, a)
    front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    return math.exp(front) * _beta_fraction(x, a, b) / a


def _beta_fraction(x: float, a: float, b: float) -> float:
    tiny = 1e-300
    c, d = 1.0, _away_from_zero(1 - (a + b) * x / (a + 1), tiny)
    d = 1 / d
    fraction = d
    for m in range(1, 1_000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 / _away_from_zero(1 + term * d, tiny)
            c = _away_from_zero(1 + term / c, tiny)
            fraction *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return fraction


def _away_from_zero(value: float, tiny: float) -> float:
    return value if abs(value) > tiny else tiny
