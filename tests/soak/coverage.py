"""Simulated suites: does the 95% interval hold what it says, and does the test cry wolf?

    python -m tests.soak.coverage [--suites N] [--seed S]

For each of 10, 20 and 40 scenarios, 1 to 3 variants, 1, 3 and 5 repetitions, mean rates 0.80 and 0.95 and true changes
of 0 and -5 points, N suites are drawn (2,000 unless told): scenarios differ in difficulty (a beta distribution), their
variants share it, the candidate's rates are the baseline's scaled to the true change. Prints coverage and, for changes
of 0, the share of false alarms; exits 1 where coverage is below 93%, above 97% at 40 scenarios, or alarms exceed 5%,
each by more than chance explains at this N.
"""

import argparse
import itertools
import math
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from evalrunner.compare.intervals import mean_change
from evalrunner.compare.redealing import Pair, redeal

SPREAD = 5.0  # a + b of the beta distribution of difficulties
SHAPES = list(itertools.product((10, 20, 40), (1, 2, 3), (1, 3, 5), (0.80, 0.95), (0.0, -0.05)))


@dataclass(frozen=True)
class Shape:
    scenarios: int
    variants: int
    repetitions: int
    rate: float
    change: float


@dataclass(frozen=True)
class Found:
    """Shares of the simulated suites: ``coverage`` of the interval, ``alarms`` of the test."""

    coverage: float
    alarms: float


def draw(shape: Shape, chance: random.Random) -> list[list[Pair]]:
    """Return the pairs of one simulated suite, by scenario."""
    return [_scenario(shape, chance) for _ in range(shape.scenarios)]


def _scenario(shape: Shape, chance: random.Random) -> list[Pair]:
    before = chance.betavariate(shape.rate * SPREAD, (1 - shape.rate) * SPREAD)
    after = before * (1 + shape.change / shape.rate)
    return [
        Pair(_passes(before, shape, chance), shape.repetitions, _passes(after, shape, chance), shape.repetitions)
        for _ in range(shape.variants)
    ]


def _passes(rate: float, shape: Shape, chance: random.Random) -> int:
    return sum(chance.random() < rate for _ in range(shape.repetitions))


def simulate(shape: Shape, suites: int, seed: int) -> Found:
    """Draw suites of a shape and judge each."""
    chance = random.Random(f"{seed} {shape}")
    covered = alarmed = 0
    for _ in range(suites):
        drawn = draw(shape, chance)
        found = mean_change([[_change(pair) for pair in pairs] for pairs in drawn])
        assert found is not None
        covered += found.low - 1e-12 <= shape.change <= found.high + 1e-12
        if not shape.change:
            alarmed += redeal([pair for pairs in drawn for pair in pairs]).p_value <= 0.05
    return Found(covered / suites, alarmed / suites)


def _change(pair: Pair) -> float:
    return pair.candidate_passed / pair.candidate_decided - pair.baseline_passed / pair.baseline_decided


def faults(shape: Shape, found: Found, suites: int) -> Iterator[str]:
    """Name what does not hold, leaving room for chance: three standard errors at this number of suites."""

    def room(share: float) -> float:
        return 3 * math.sqrt(share * (1 - share) / suites) if suites < 2_000 else 0.0

    if found.coverage < 0.93 - room(0.93):
        yield f"covers only {found.coverage:.3f}"
    if shape.scenarios == 40 and found.coverage > 0.97 + room(0.97):
        yield f"covers {found.coverage:.3f}"
    if found.alarms > 0.05 + 3 * math.sqrt(0.05 * 0.95 / suites):
        yield f"false alarms {found.alarms:.3f}"


def main() -> int:
    parser = argparse.ArgumentParser(description="Simulate suites and check interval and test.")
    parser.add_argument("--suites", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    broken = 0
    for values in SHAPES:
        shape = Shape(*values)
        found = simulate(shape, options.suites, options.seed)
        wrong = list(faults(shape, found, options.suites))
        broken += bool(wrong)
        print(
            f"{shape.scenarios:3} scenarios x {shape.variants} x {shape.repetitions}, rate {shape.rate:.2f}, "
            f"change {shape.change:+.2f}: coverage {found.coverage:.3f}, alarms {found.alarms:.3f} {'; '.join(wrong)}"
        )
    print(f"{len(SHAPES) - broken} of {len(SHAPES)} shapes hold")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
