"""Statistics of a comparison against scipy, against published figures and against brute force."""

import gzip
import itertools
import json
import math
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from evalrunner.compare import redealing
from evalrunner.compare.fisher import adjusted, fisher_exact
from evalrunner.compare.intervals import mean_change, t_distribution, t_quantile, wilson_interval
from evalrunner.compare.redealing import Pair, redeal
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

FAMILIES = Path(__file__).parents[2] / "data" / "conformance" / "families"
SIDES = st.integers(1, 4).flatmap(lambda size: st.tuples(st.integers(0, size), st.just(size)))
PAIRS = st.lists(st.builds(lambda b, c: Pair(*b, *c), SIDES, SIDES), min_size=1, max_size=4)


@pytest.mark.parametrize("decided", [1, 2, 5, 20, 300])
def test_wilson_agrees_with_scipy(decided: int) -> None:
    for passed in range(decided + 1):
        expected = stats.binomtest(passed, decided).proportion_ci(method="wilson")
        assert wilson_interval(passed, decided) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_wilson_agrees_with_a_published_figure() -> None:
    # R. G. Newcombe, Stat. Med. 17 (1998) 857-872, table I: 81 of 263, method 3
    assert wilson_interval(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)


def test_wilson_knows_nothing_without_cases_and_refuses_what_is_no_rate() -> None:
    assert wilson_interval(0, 0) == (0.0, 1.0)
    with pytest.raises(ValueError, match="no rate"):
        wilson_interval(3, 2)


@pytest.mark.parametrize("degrees", [1, 2, 5, 9, 19, 39, 200, 5_000])
def test_student_t_agrees_with_scipy(degrees: int) -> None:
    for probability in (0.5, 0.8, 0.95, 0.975, 0.999):
        assert t_quantile(probability, degrees) == pytest.approx(stats.t.ppf(probability, degrees), rel=1e-9, abs=1e-9)
    for value in (0.0, 0.3, 1.0, 2.5, 12.0):
        assert t_distribution(value, degrees) == pytest.approx(stats.t.cdf(value, degrees), abs=1e-12)


@given(SIDES, SIDES)
def test_fisher_agrees_with_scipy(baseline: tuple[int, int], candidate: tuple[int, int]) -> None:
    table = [[passed, size - passed] for passed, size in (baseline, candidate)]

    assert fisher_exact(Pair(*baseline, *candidate)) == pytest.approx(stats.fisher_exact(table).pvalue, abs=1e-11)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_adjustment_agrees_with_scipy(p_values: list[float]) -> None:
    found = adjusted(Counter(p_values))

    expected = list(stats.false_discovery_control(p_values))
    assert [found[each] for each in p_values] == pytest.approx(expected, abs=1e-12)


def dealt(pair: Pair) -> list[Pair]:
    """All arrangements of a pair's cases, each as likely as the other."""
    passed, baseline, candidate = pair.key
    cases = [1] * passed + [0] * (baseline + candidate - passed)
    found = []
    for chosen in itertools.combinations(range(len(cases)), candidate):
        now = sum(cases[place] for place in chosen)
        found.append(Pair(passed - now, baseline, now, candidate))
    return found


def fall(pairs: tuple[Pair, ...]) -> float:
    return math.fsum(
        max(0.0, each.baseline_passed / each.baseline_decided - each.candidate_passed / each.candidate_decided)
        for each in pairs
    )


@given(st.lists(st.builds(lambda b, c: Pair(*b, *c), SIDES, SIDES), min_size=1, max_size=2))
def test_the_redealing_test_agrees_with_dealing_everything_out(pairs: list[Pair]) -> None:
    arrangements = list(itertools.product(*map(dealt, pairs)))
    extreme = sum(fall(arrangement) >= fall(tuple(pairs)) - 1e-9 for arrangement in arrangements)
    falling = sum(fall((each,)) > 0 for arrangement in arrangements for each in arrangement)

    found = redeal(pairs)

    assert found.is_exact
    assert found.p_value == pytest.approx(extreme / len(arrangements), abs=1e-12)
    assert found.expected_regressions == pytest.approx(falling / len(arrangements), abs=1e-9)


def test_with_one_case_a_side_it_is_the_one_sided_mcnemar_test() -> None:
    pairs = [Pair(1, 1, 0, 1)] * 7 + [Pair(0, 1, 1, 1)] * 2 + [Pair(1, 1, 1, 1)] * 20

    found = redeal(pairs)

    assert found.p_value == pytest.approx(stats.binomtest(7, 9, alternative="greater").pvalue, abs=1e-12)
    assert not found.can_estimate_noise


def test_fixes_never_cancel_breaks() -> None:
    breaks = [Pair(3, 3, 0, 3)] * 3

    assert redeal([*breaks, *[Pair(0, 3, 3, 3)] * 3]).p_value <= 0.05


def test_nothing_fell_is_no_evidence() -> None:
    assert redeal([]).p_value == 1.0
    assert redeal([Pair(2, 3, 2, 3), Pair(0, 3, 3, 3)]).p_value == 1.0


def test_mixed_sizes_are_estimated_the_same_way_each_time_and_near_the_truth() -> None:
    sizes = [7, 11, 13, 17, 19, 23, 29, 31, 37, 41]
    pairs = [Pair(size - 1, size, size - 3, size + 2) for size in sizes]

    found = redeal(pairs)

    assert not found.is_exact
    assert found == redeal(pairs)
    assert 0.0 < found.p_value < 0.2


def sides_of(path: Path) -> dict[tuple[str, str], tuple[int, int, str]]:
    """Passed and decided cases of each scenario variant, and what its scenario asks."""
    data = json.loads(gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes())
    asked = {each["id"]: json.dumps([each["steps"], each.get("assertions")]) for each in data["suite"]["scenarios"]}
    found: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0])
    for case in data["cases"]:
        if case["status"] in ("passed", "failed", "error"):
            counts = found[case["scenarioId"], json.dumps(case["variants"], sort_keys=True)]
            counts[0] += case["status"] == "passed"
            counts[1] += 1
    return {key: (passed, decided, asked[key[0]]) for key, (passed, decided) in found.items()}


@pytest.mark.parametrize(("family", "low", "high"), [("clinic", 0, 1 / 2_001), ("flights", 0.001, 0.002)])
def test_the_families_whose_second_version_got_worse_are_found(family: str, low: float, high: float) -> None:
    """2,000 random re-dealings saw no arrangement as bad in clinic and two in flights; the exact share agrees."""
    first, second = sorted((FAMILIES / family).glob("[12]-*"))
    baseline, candidate = sides_of(first), sides_of(second)

    pairs = [
        Pair(*baseline[key][:2], *candidate[key][:2])
        for key in baseline.keys() & candidate.keys()
        if baseline[key][2] == candidate[key][2]
    ]

    found = redeal(pairs)
    assert found.is_exact
    assert low < found.p_value < high


def test_one_variant_a_scenario_gives_the_usual_t_interval_once_enough_changed() -> None:
    changes = [-0.2, 0.4, 0.0, -0.6, 0.2, -0.4, 0.0, 0.2]
    expected = stats.ttest_1samp(changes, 0).confidence_interval(0.95)

    found = mean_change([[change] for change in changes])

    assert found is not None
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-9)
    assert (found.pairs, found.clusters) == (8, 8)


def test_no_change_seen_is_not_certainty_that_nothing_changed() -> None:
    found = mean_change([[0.0]] * 10)

    assert found is not None
    assert found.low < -0.05 < 0.05 < found.high
    assert found.mean == 0.0


def test_one_scenario_tells_nothing_about_others() -> None:
    found = mean_change([[-1.0, -1.0]])

    assert found is not None
    assert (found.mean, found.low, found.high, found.smallest_effect) == (-1.0, -1.0, 1.0, None)
    assert mean_change([[], []]) is None


CHANGES = st.integers(-1_000, 1_000).map(lambda thousandths: thousandths / 1_000)


@given(st.lists(st.lists(CHANGES, min_size=1, max_size=3), min_size=2, max_size=12))
def test_swapping_the_sides_mirrors_the_interval(clusters: list[list[float]]) -> None:
    found, mirrored = mean_change(clusters), mean_change([[-change for change in changes] for changes in clusters])

    assert found is not None and mirrored is not None
    assert mirrored.mean == pytest.approx(-found.mean, abs=1e-9)
    assert (mirrored.low, mirrored.high) == pytest.approx((-found.high, -found.low), abs=1e-9)
    assert found.low <= found.mean <= found.high


@given(PAIRS)
def test_the_order_of_pairs_does_not_matter(pairs: list[Pair]) -> None:
    assert redeal(pairs).p_value == pytest.approx(redeal(pairs[::-1]).p_value, abs=1e-12)


@given(PAIRS, st.integers(1, 400))
def test_steps_of_the_exact_way_are_counted_ahead_as_they_would_be_taken(pairs: list[Pair], most: int) -> None:
    def p_value(counted: int) -> float | None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(redealing, "MOST_STEPS", most)
            patch.setattr(redealing, "MOST_COUNTED", counted)
            return redealing._exact_p(Counter(pairs), math.lcm(*(size for pair in pairs for size in pair[1::2])))

    assert p_value(1 << 22) == p_value(0)
