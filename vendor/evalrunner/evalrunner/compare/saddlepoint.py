"""The tail of a sum of many independent variables, each with few values: a saddlepoint approximation.

With K the cumulant generating function of the sum and t the point where K'(t) is the observed value, the chance to
reach it is near

    1 - F(w) + f(w) (1/u - 1/w),   w = sign(t) sqrt(2 (t x - K(t))),   u = (1 - exp(-t d))/d sqrt(K''(t))

with F and f the normal distribution and density, and d the step between neighbouring sums (where it is nought, u is
t sqrt(K''(t))). Unlike the normal approximation it is right to a few percent of the chance itself also far out in the
tail, and unlike drawing at random it costs nothing for thousands of variables and can tell any small chance.

Sources: R. Lugannani, S. Rice, Adv. Appl. Probab. 12 (1980) 475-490. H. E. Daniels, Int. Stat. Rev. 55 (1987) 37-48
(the correction for steps).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

Distribution: TypeAlias = tuple[tuple[float, float], ...]  # values with their chances, values rising

_FLAT: Final = 1e-3  # |w| below which both terms of the formula lose their digits
_FARTHEST: Final = 1e4


def tail_chance(variables: Mapping[Distribution, int], reached: float, *, step: float = 0.0) -> float:
    """Return the chance that the sum is at least ``reached``.

    ``variables`` counts the variables by their distribution. ``step`` is the step of the sums, 0 where they lie close.
    """
    highest = math.fsum(times * values[-1][0] for values, times in variables.items())
    lowest = math.fsum(times * values[0][0] for values, times in variables.items())
    if reached <= lowest:
        return 1.0
    if reached >= highest * (1 - 1e-12):
        return math.exp(math.fsum(times * math.log(values[-1][1]) for values, times in variables.items()))
    kinds = [(values, times) for values, times in variables.items() if len(values) > 1]
    return min(1.0, max(0.0, _chance(kinds, reached, step)))


@dataclass(frozen=True, slots=True)
class _Cumulants:
    """K and its first three derivatives at a point."""

    value: float
    mean: float
    variance: float
    third: float


def _chance(kinds: Sequence[tuple[Distribution, int]], reached: float, step: float) -> float:
    t = _saddlepoint(kinds, reached)
    at = _cumulants(kinds, t)
    w = math.copysign(math.sqrt(max(0.0, 2 * (t * reached - at.value))), t)
    deviation = math.sqrt(at.variance)
    if abs(w) < _FLAT:
        half = step / 2 / deviation
        return _upper_normal((reached - at.mean) / deviation - half) - at.third / (6 * deviation**3 * _ROOT)
    u = (-math.expm1(-t * step) / step if step else t) * deviation
    return _upper_normal(w) + math.exp(-w * w / 2) / _ROOT * (1 / u - 1 / w)


_ROOT: Final = math.sqrt(2 * math.pi)


def _upper_normal(w: float) -> float:
    return 0.5 * math.erfc(w / math.sqrt(2))


def _saddlepoint(kinds: Sequence[tuple[Distribution, int]], reached: float) -> float:
    """Find where the mean of the tilted sum is the observed one; the mean rises with t."""
    low, high = -1.0, 1.0
    while high < _FARTHEST and _cumulants(kinds, high).mean < reached:
        low, high = high, 2 * high
    while low > -_FARTHEST and _cumulants(kinds, low).mean > reached:
        low, high = 2 * low, low
    for _ in range(80):
        middle = (low + high) / 2
        if _cumulants(kinds, middle).mean < reached:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _cumulants(kinds: Sequence[tuple[Distribution, int]], t: float) -> _Cumulants:
    value = mean = variance = third = 0.0
    for values, times in kinds:
        top = max(t * each for each, _share in values)  # exp() of what remains cannot overflow
        weights = [(each, share * math.exp(t * each - top)) for each, share in values]
        whole = math.fsum(weight for _each, weight in weights)
        centre = math.fsum(each * weight for each, weight in weights) / whole
        value += times * (top + math.log(whole))
        mean += times * centre
        variance += times * math.fsum((each - centre) ** 2 * weight for each, weight in weights) / whole
        third += times * math.fsum((each - centre) ** 3 * weight for each, weight in weights) / whole
    return _Cumulants(value, mean, variance, third)
