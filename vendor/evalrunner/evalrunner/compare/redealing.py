"""Did this suite get worse? The re-dealing test.

The scenarios are fixed; chance lies in the repetitions. If nothing had changed, the decided cases of a scenario variant
could as well have been dealt to the two sides the other way round: inside each variant they are dealt out again, each
side getting as many as it has, and the statistic is the sum over variants of how far the rate fell (rises count nought,
so that fixes never cancel breaks). The p value is the share of arrangements that fall at least as far as was observed;
with one case a side it is the one-sided McNemar test.

The share is exact: the variants are independent, so the distribution of the sum is a convolution, carried out on whole
numbers (a common multiple of the sides' sizes). Where the sums would be too many (they are counted first, which costs
little), the share is estimated: from seeded re-dealings, the observed arrangement counted among them, where few
variants can be dealt in several ways; else by a saddlepoint approximation, which is within a percent of the share and
takes no longer for thousands of variants.

Sources: E. J. G. Pitman, J. R. Stat. Soc. Suppl. 4 (1937) 119-130 (the permutation test). B. Phipson, G. K. Smyth,
Stat. Appl. Genet. Mol. Biol. 9 (2010) 39 (counting the observed one).
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, repeat
from typing import Final, NamedTuple

from evalrunner.compare.saddlepoint import Distribution, tail_chance

MOST_STEPS: Final = 1_000_000  # of the exact convolution
DRAWS: Final = 20_000  # re-dealings where the exact way is too long
MOST_COUNTED: Final = 1 << 22  # sums, one bit each; of more the exact way itself tells when it is too long
MOST_DRAWN: Final = 20  # variants; of more, the sum is smooth enough for the saddlepoint approximation
_SEED: Final = 20_240_229


class Pair(NamedTuple):
    """One scenario variant decided on both sides: ``passed`` of ``decided`` cases, decided >= 1."""

    baseline_passed: int
    baseline_decided: int
    candidate_passed: int
    candidate_decided: int

    @property
    def key(self) -> tuple[int, int, int]:
        """What decides how the pair can be dealt: passes in all, and the sizes of the sides."""
        passed = self.baseline_passed + self.candidate_passed
        return passed, self.baseline_decided, self.candidate_decided


@dataclass(frozen=True, slots=True)
class Redealing:
    """``p_value`` in the falling direction; ``expected_regressions`` the mean number of variants whose rate falls by
    chance alone; ``is_exact`` False where the p value was estimated; ``can_estimate_noise`` False where no variant has
    two cases on any side.
    """

    p_value: float
    expected_regressions: float
    is_exact: bool
    can_estimate_noise: bool


def redeal(pairs: Sequence[Pair]) -> Redealing:
    """Test whether the rates fell; without pairs, or where none fell, the p value is 1."""
    alike = Counter(pairs)  # thousands of pairs are of few kinds
    noise = any(pair.baseline_decided > 1 or pair.candidate_decided > 1 for pair in alike)
    expected = math.fsum(chain.from_iterable(repeat(_falling_share(*pair.key), times) for pair, times in alike.items()))
    scale = math.lcm(*(size for pair in alike for size in (pair.baseline_decided, pair.candidate_decided)))
    exact = _exact_p(alike, scale) if scale < 2**40 else None
    if exact is not None:
        return Redealing(exact, expected, True, noise)
    return Redealing(_estimated_p(pairs, scale), expected, False, noise)


@lru_cache(maxsize=4096)
def _deals(passed: int, baseline: int, candidate: int) -> tuple[tuple[int, int], ...]:
    """Return how often each number of passes falls to the candidate: (passes, arrangements)."""
    lowest, highest = max(0, passed - baseline), min(passed, candidate)
    return tuple(
        (dealt, math.comb(candidate, dealt) * math.comb(baseline, passed - dealt))
        for dealt in range(lowest, highest + 1)
    )


def _fall(passed: int, dealt: int, baseline: int, candidate: int, scale: int) -> int:
    """How far the rate falls, in ``scale``-ths."""
    return max(0, (passed - dealt) * (scale // baseline) - dealt * (scale // candidate))


@lru_cache(maxsize=4096)
def _falling_share(passed: int, baseline: int, candidate: int) -> float:
    deals = _deals(passed, baseline, candidate)
    falling = sum(ways for dealt, ways in deals if (passed - dealt) * candidate > dealt * baseline)
    return falling / math.comb(baseline + candidate, passed)


def _exact_p(alike: Mapping[Pair, int], scale: int) -> float | None:
    """Return the exact p value, or None where it would take too many steps.

    Pairs of one kind are folded together, and sums that have reached the observed one are kept as one: they only grow.
    """
    observed = _observed(alike, scale)
    if not observed:
        return 1.0
    kinds = [(_fall_shares(key, scale), times) for key, times in sorted(_keys(alike).items())]
    kinds = [(falls, times) for falls, times in kinds if len(falls) > 1]  # others can be dealt in one way only
    if _is_too_long(kinds, observed):
        return None
    sums: dict[int, float] = {0: 1.0}
    reached, steps = 0.0, 0
    for falls, times in kinds:
        for _ in range(times):
            steps += len(sums) * len(falls)
            if steps > MOST_STEPS:
                return None
            sums, beyond = _convolved(sums, falls, observed)
            reached += beyond
    return min(1.0, reached)


def _keys(alike: Mapping[Pair, int]) -> Counter[tuple[int, int, int]]:
    keys: Counter[tuple[int, int, int]] = Counter()
    for pair, times in alike.items():
        keys[pair.key] += times
    return keys


def _is_too_long(kinds: Iterable[tuple[Sequence[tuple[int, float]], int]], observed: int) -> bool:
    """Tell ahead whether the convolution would take more than MOST_STEPS: which sums occur is kept as bits.

    False, too, where even the bits would be too many.
    """
    unit = math.gcd(*(fall for falls, _times in kinds for fall, _share in falls))
    limit = -(-observed // max(1, unit))  # sums below this have not reached the observed one
    if limit > MOST_COUNTED:
        return False
    sums, steps, below = 1, 0, (1 << limit) - 1
    for falls, times in kinds:
        shifts = [fall // unit for fall, _share in falls]
        for _ in range(times):
            steps += sums.bit_count() * len(falls)
            if steps > MOST_STEPS:
                return True
            dealt = 0
            for shift in shifts:
                dealt |= sums << shift if shift < limit else 0
            sums = dealt & below
    return False


def _observed(alike: Mapping[Pair, int], scale: int) -> int:
    return sum(
        times * _fall(pair.key[0], pair.candidate_passed, pair.baseline_decided, pair.candidate_decided, scale)
        for pair, times in alike.items()
    )


def _fall_shares(key: tuple[int, int, int], scale: int) -> list[tuple[int, float]]:
    passed, baseline, candidate = key
    ways: Counter[int] = Counter()
    for dealt, arrangements in _deals(*key):
        ways[_fall(passed, dealt, baseline, candidate, scale)] += arrangements
    whole = math.comb(baseline + candidate, passed)
    return [(fall, count / whole) for fall, count in sorted(ways.items())]


def _convolved(
    sums: dict[int, float], falls: Sequence[tuple[int, float]], observed: int
) -> tuple[dict[int, float], float]:
    below: dict[int, float] = {}
    beyond: list[float] = []
    for total, share in sums.items():
        for fall, chance in falls:
            reached = total + fall
            if reached >= observed:
                beyond.append(share * chance)
            else:
                below[reached] = below.get(reached, 0.0) + share * chance
    return below, math.fsum(beyond)


def _estimated_p(pairs: Sequence[Pair], scale: int) -> float:
    moving = [pair for pair in pairs if len(_deals(*pair.key)) > 1]
    observed = math.fsum(
        max(0.0, pair.baseline_passed / pair.baseline_decided - pair.candidate_passed / pair.candidate_decided)
        for pair in moving
    )
    if len(moving) > MOST_DRAWN:
        return _approximate_p(moving, observed, scale)
    chance = random.Random(_SEED)
    totals = [0.0] * DRAWS
    for falls, weights in (_table(pair.key) for pair in moving):
        for draw, fall in enumerate(chance.choices(falls, cum_weights=weights, k=DRAWS)):
            totals[draw] += fall
    return (1 + sum(total >= observed - 1e-9 for total in totals)) / (DRAWS + 1)


def _approximate_p(pairs: Sequence[Pair], observed: float, scale: int) -> float:
    kinds: Counter[Distribution] = Counter()
    steps = 0
    for key, times in Counter(pair.key for pair in pairs).items():
        falls = _fall_shares(key, scale)
        steps = math.gcd(steps, *(fall for fall, _share in falls))
        kinds[tuple((fall / scale, share) for fall, share in falls)] += times
    return tail_chance(kinds, observed, step=steps / scale)


def _table(key: tuple[int, int, int]) -> tuple[list[float], list[float]]:
    passed, baseline, candidate = key
    falls, weights, whole = [], [], 0.0
    for dealt, ways in _deals(*key):
        falls.append(max(0.0, (passed - dealt) / baseline - dealt / candidate))
        whole += ways / math.comb(baseline + candidate, passed)
        weights.append(whole)
    return falls, weights
