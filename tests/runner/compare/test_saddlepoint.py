"""The tail of a sum, against the exact one."""

import math
import random
from collections import Counter

import pytest
from evalrunner.compare import redealing
from evalrunner.compare.redealing import Pair, redeal
from evalrunner.compare.saddlepoint import Distribution, tail_chance
from scipy import stats


@pytest.mark.parametrize("reached", [90, 100, 101, 110, 130, 160, 199])
def test_the_tail_of_a_binomial_is_right_to_a_percent_also_far_out(reached: int) -> None:
    coin = ((0.0, 0.5), (1.0, 0.5))

    found = tail_chance({coin: 200}, reached, step=1.0)

    assert found == pytest.approx(stats.binom.sf(reached - 1, 200, 0.5), rel=0.01)


def test_without_a_step_it_is_right_for_sums_that_lie_close() -> None:
    kinds: dict[Distribution, int] = {((0.0, 0.5), (0.5 + math.sqrt(number) / 10, 0.5)): 1 for number in range(1, 61)}
    chance = random.Random(5)
    draws = [sum(values[1][0] for values in kinds if chance.random() < 0.5) for _ in range(20_000)]
    reached = sorted(draws)[19_000]

    assert tail_chance(kinds, reached) == pytest.approx(0.05, abs=0.006)


def test_the_ends_are_exact() -> None:
    coin = ((0.0, 0.75), (1.0, 0.25))

    assert tail_chance({coin: 3}, 0.0) == 1.0
    assert tail_chance({coin: 3}, 3.0, step=1.0) == pytest.approx(0.25**3)


@pytest.mark.parametrize("seed", range(12))
def test_many_variants_are_tested_as_if_every_arrangement_were_counted(
    monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    chance = random.Random(seed)
    pairs = [drawn(chance, 0.05 * (seed % 3)) for _ in range(40 + 20 * seed)]
    exact = redeal(pairs)

    monkeypatch.setattr(redealing, "MOST_STEPS", 0)
    near = redeal(pairs)

    assert exact.is_exact
    assert not near.is_exact
    assert near.p_value == pytest.approx(exact.p_value, rel=0.02)


def drawn(chance: random.Random, fall: float) -> Pair:
    rate, before, after = chance.betavariate(6, 1), chance.choice((3, 4)), chance.choice((3, 4))
    return Pair(passes(chance, rate, before), before, passes(chance, rate - fall, after), after)


def passes(chance: random.Random, rate: float, cases: int) -> int:
    return Counter(chance.random() < rate for _ in range(cases))[True]


def test_ten_thousand_variants_are_tested_at_once() -> None:
    chance = random.Random(1)
    pairs = [drawn(chance, 0.0) for _ in range(10_000)]

    assert 0.001 < redeal(pairs).p_value < 0.999
