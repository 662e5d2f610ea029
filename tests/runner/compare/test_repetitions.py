"""What would decide an inconclusive comparison."""

import random
from collections.abc import Mapping

import pytest
from evalrunner.compare import RunOutcomes, VariantId, compare
from evalrunner.compare.policy import DEFAULT_POLICY, Policy
from evalrunner.compare.prediction import LADDER
from evalrunner.compare.repetitions import Plan, plan_repetitions
from evalrunner.compare.verdict import Verdict, assess

from tests.runner.compare.test_verdict import CRITICAL, side

Rows = Mapping[str, str]


def plan(
    baseline: Rows, candidate: Rows, policy: Policy = DEFAULT_POLICY, **sides: Mapping[str, str]
) -> Plan[VariantId]:
    before = side(baseline, definitions=sides.get("before"))
    return planned(before, side(candidate, definitions=sides.get("after")), policy)


def planned(before: list[RunOutcomes], after: list[RunOutcomes], policy: Policy = DEFAULT_POLICY) -> Plan[VariantId]:
    compared = compare(before, after)

    def scenario_of(variant: VariantId) -> str:
        return variant.scenario_id

    assessment = assess(
        compared,
        scenario_of=scenario_of,
        policy=policy,
        is_critical=lambda variant: policy.is_critical(variant.scenario_id, ()),
    )
    return plan_repetitions(compared, assessment, scenario_of=scenario_of)


def steady(number: int, letters: str = "PPP") -> dict[str, str]:
    return {f"s{index:02}": letters for index in range(number)}


def names(variants: tuple[VariantId, ...]) -> list[str]:
    return sorted(variant.scenario_id for variant in variants)


def test_a_verdict_needs_no_plan() -> None:
    assert plan(steady(40), steady(40)) == Plan()
    assert plan(steady(40), steady(40) | dict.fromkeys(("s00", "s01", "s02"), "FFF")) == Plan()


def test_only_variants_in_which_chance_was_seen_are_repeated() -> None:
    mixed = {"s00": "PFP", "s01": "FPF"}

    found = plan(steady(20) | mixed, steady(20) | {"s00": "PPF", "s01": "PPF", "s02": "PFP"})

    assert found.more in LADDER
    assert names(found.variants) == ["s00", "s01", "s02"]
    assert found.cases == 2 * found.more * 3
    assert f"of 3 scenario variants on both sides ({found.cases} cases)" in found.sentences[0]


def test_a_likely_fall_is_expected_to_show_after_some_repetitions() -> None:
    found = plan(steady(30), steady(30) | {"s00": "FPF", "s01": "PFP"})

    assert found.expected is Verdict.REGRESSED
    assert found.more is not None and found.more <= 20


def test_noise_on_both_sides_is_expected_to_turn_out_as_no_change() -> None:
    before = steady(25) | dict.fromkeys(("s00", "s01", "s02", "s03"), "PPF") | dict.fromkeys(("s04", "s05"), "PPP")
    after = (
        steady(25) | dict.fromkeys(("s00", "s01"), "PFF") | dict.fromkeys(("s02", "s03", "s04"), "PPP") | {"s05": "PPF"}
    )

    found = plan(before, after)

    assert found.expected is Verdict.PASS


def test_where_nothing_moved_more_scenarios_are_needed_and_that_many_are_enough() -> None:
    found = plan(steady(12), steady(12))

    assert (found.more, found.variants) == (None, ())
    assert found.more_scenarios is not None
    assert f"about {found.more_scenarios} more scenarios like these" in found.sentences[-1]
    assert not plan(steady(12 + found.more_scenarios), steady(12 + found.more_scenarios)).is_needed
    assert plan(steady(11 + found.more_scenarios), steady(11 + found.more_scenarios)).is_needed


def test_too_few_pairs_ask_for_the_scenarios_that_are_missing() -> None:
    found = plan(steady(4, "PF"), steady(4, "FP"))

    assert (found.more, found.more_scenarios) == (None, 6)


def test_lost_variants_ask_for_a_retry_and_not_for_repetitions() -> None:
    found = plan(steady(60), steady(60) | dict.fromkeys(("s00", "s01", "s02", "s03"), "NNN"))

    assert names(found.retry) == ["s00", "s01", "s02", "s03"]
    assert (found.more, found.expected) == (0, Verdict.PASS)
    assert found.sentences == (
        "Resume or retry 4 scenario variants with undecided cases. Should they show no change, the verdict would be: "
        "pass.",
    )


def test_what_both_sides_skipped_is_asked_for_only_where_it_is_critical() -> None:
    skipped = steady(60) | {"s00": "SSS"}

    assert plan(skipped, skipped) == Plan()
    assert names(plan(skipped, skipped, CRITICAL).retry) == ["s00"]


def test_changed_definitions_are_not_mended_by_repetitions() -> None:
    changed = [f"s{index:02}" for index in range(10)]
    definitions = {"before": dict.fromkeys(changed, "old"), "after": dict.fromkeys(changed, "new")}

    found = plan(steady(60), steady(60) | {"s30": "PPF"}, CRITICAL, **definitions)

    assert (found.more, found.more_scenarios, found.retry) == (None, None, ())
    assert [sentence.split(":")[0] for sentence in found.sentences] == [
        "Critical scenario variants are defined otherwise",
        "10 of 60 scenario variants that the baseline decided were removed or redefined",
    ]


def test_removed_critical_variants_are_asked_for() -> None:
    without = {name: letters for name, letters in steady(60).items() if name != "s00"}

    assert plan(steady(60), without, CRITICAL).sentences == (
        "Critical scenario variants are missing in the candidate: run them too.",
    )


@pytest.mark.parametrize("seed", range(4))
def test_the_repetitions_of_a_plan_decide_in_four_of_five_tries(seed: int) -> None:
    """Seeded: what a plan asks for is carried out with the true rates, and the comparison judged again."""
    chance = random.Random(seed)
    decided = asked = 0
    while asked < 25:
        rates = {f"s{index:02}": min(1.0, chance.betavariate(5, 0.4)) for index in range(40)}
        falls = {name: rate * (0.4 if chance.random() < 0.04 else 1) for name, rate in rates.items()}
        before, after = ({name: drawn(chance, rate, 3) for name, rate in side.items()} for side in (rates, falls))
        found = plan(before, after)
        if not found.more:
            continue
        asked += 1
        for name in names(found.variants):
            before[name] += drawn(chance, rates[name], found.more)
            after[name] += drawn(chance, falls[name], found.more)
        decided += not plan(before, after).is_needed
    assert decided / asked >= 0.8


def drawn(chance: random.Random, rate: float, number: int) -> str:
    return "".join("P" if chance.random() < rate else "F" for _ in range(number))


def test_a_plan_of_ten_thousand_variants_takes_no_time() -> None:
    chance = random.Random(3)
    rates = {f"s{index:05}": 0.9 for index in range(4_000)}
    before, after = ({name: drawn(chance, rate, 3) for name, rate in rates.items()} for _ in range(2))

    found = plan(before, after, Policy(margin=0.001))

    assert found.is_needed
