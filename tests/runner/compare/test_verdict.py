"""The verdict on a comparison, rule by rule."""

import random
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from evalrunner import EvaluationError
from evalrunner.compare import CaseOutcome, Difference, RunFacts, RunOutcomes, VariantId, compare
from evalrunner.compare.comparability import FOLLOW_UP
from evalrunner.compare.policy import DEFAULT_POLICY, Policy, Unmatched, parse_policy
from evalrunner.compare.verdict import NOTHING_UNMATCHED, Assessment, Verdict, assess, p_text

from tests.runner.compare.test_families import comparison

LETTERS = {"P": "passed", "F": "failed", "E": "error", "S": "skipped", "N": "pending", "C": "cancelled"}


def side(rows: Mapping[str, str], *, definitions: Mapping[str, str] | None = None, **facts: Any) -> list[RunOutcomes]:
    """Make one run: scenario ids with one letter per repetition."""
    known = {"target_id": "desk.agent", "suite_id": "desk", "suite_revision": "r1", "run_id": "run"} | facts
    cases = [
        CaseOutcome(VariantId(scenario, ()), repetition, repetition, LETTERS[letter], "s" if letter in "FE" else "")
        for scenario, letters in rows.items()
        for repetition, letter in enumerate(letters)
    ]
    return [RunOutcomes(RunFacts(fingerprint="v", definitions=definitions or {}, **known), cases)]


def judged(
    baseline: list[RunOutcomes],
    candidate: list[RunOutcomes],
    policy: Policy = DEFAULT_POLICY,
    known: Iterable[str] = (),
    *,
    is_same: bool = False,
    unmatched: Unmatched = NOTHING_UNMATCHED,
) -> Assessment:
    return assess(
        compare(baseline, candidate),
        scenario_of=lambda variant: variant.scenario_id,
        policy=policy,
        is_critical=lambda variant: policy.is_critical(variant.scenario_id, ()),
        is_known=lambda row: row.variant.scenario_id in set(known),
        is_same=is_same,
        unmatched=unmatched,
    )


def kinds(found: Assessment) -> list[str]:
    return [reason.kind for reason in found.reasons]


STEADY = {f"s{index:02}": "PPPPP" for index in range(40)}
CRITICAL = Policy(critical_scenarios=frozenset({"s00"}))


@pytest.mark.parametrize(("asked", "words"), [(0.999, "99.9%"), (1.0, "100%"), (0.99999, "99.999%"), (0.975, "97.5%")])
def test_a_completeness_that_is_missed_is_named_with_all_its_digits(asked: float, words: str) -> None:
    lost = side(STEADY | {f"s{index:02}": "NNNNN" for index in range(3)})

    [reason] = judged(side(STEADY), lost, Policy(completeness=asked)).reasons

    assert reason.text.endswith(f" {words} needed")


@pytest.mark.parametrize(
    ("p_value", "words"), [(0.05, "= 0.05"), (0.0504, "= 0.0504"), (0.04999, "= 0.05"), (0.0123, "= 0.012")]
)
def test_a_p_value_that_decides_nothing_does_not_look_like_one_that_does(p_value: float, words: str) -> None:
    assert p_text(p_value) == words


def test_a_fall_beyond_the_margin_is_seen_to_be_beyond_it() -> None:
    few = {f"s{index:02}": "PPPPP" if index else "FFFFF" for index in range(40)}
    change = judged(side(STEADY), side(few)).change
    assert change is not None
    margin = -change.low - 1e-5

    found = judged(side(STEADY), side(few), Policy(margin=margin))

    [text] = [reason.text for reason in found.reasons if reason.kind == "margin"]
    assert float(text.split(" points")[0].split()[-1]) > 100 * margin


def test_the_same_outcomes_on_enough_scenarios_pass() -> None:
    found = judged(side(STEADY), side(STEADY))

    assert found.verdict is Verdict.PASS
    assert found.reasons == ()
    assert (found.pairs, found.completeness.share, found.test.p_value) == (40, 1.0, 1.0)


def test_a_run_against_itself_passes_whatever_its_size() -> None:
    for rows in ({"a": "F"}, {"a": "PF", "b": "E"}, {"a": "N"}):
        assert judged(side(rows), side(rows), is_same=True).verdict is Verdict.PASS


def test_many_breaks_are_a_regression_and_name_the_scenarios() -> None:
    found = judged(side(STEADY), side(STEADY | {"s01": "FFFFF", "s02": "FFFFF"}))

    assert found.verdict is Verdict.REGRESSED
    assert found.reasons[0].kind == "got_worse"
    assert found.reasons[0].scenarios == ("s01", "s02")


def test_one_critical_break_is_a_regression_unless_it_is_known() -> None:
    candidate = side(STEADY | {"s00": "F"})
    baseline = side(STEADY | {"s00": "P"})

    assert kinds(judged(baseline, candidate, CRITICAL))[0] == "critical_broken"
    assert "critical_broken" not in kinds(judged(baseline, candidate, CRITICAL, known=["s00"]))


def test_a_critical_scenario_that_was_never_decided_again_is_as_bad_as_a_break() -> None:
    assert kinds(judged(side(STEADY), side(STEADY | {"s00": "CCCCC"}), CRITICAL))[0] == "critical_lost"


def test_more_errors_than_allowed_are_a_regression() -> None:
    candidate = side(STEADY | {"s03": "EPPPP"})

    assert "errors" not in kinds(judged(side(STEADY), candidate))
    assert kinds(judged(side(STEADY), candidate, Policy(max_errors=0)))[0] == "errors"
    assert "errors" not in kinds(judged(side(STEADY), candidate, Policy(max_errors=1)))


@pytest.mark.parametrize(
    ("baseline", "candidate", "kind"),
    [
        (side({"a": "PPP"}), side({"a": "PPP"}), "pairs"),
        (side(STEADY), side(STEADY | {f"s{index:02}": "NNNNN" for index in range(3)}), "completeness"),
        (side(STEADY), side(STEADY | {f"s{index:02}": "PPPPN" for index in range(3)}), "completeness"),
        (side({f"s{index}": "P" for index in range(12)}), side({f"s{index}": "P" for index in range(12)}), "margin"),
    ],
    ids=["too few pairs", "lost rows", "rows less decided", "an interval that is too wide"],
)
def test_what_cannot_be_told_is_inconclusive(
    baseline: list[RunOutcomes], candidate: list[RunOutcomes], kind: str
) -> None:
    found = judged(baseline, candidate)

    assert found.verdict is Verdict.INCONCLUSIVE
    assert kind in kinds(found)


def test_a_critical_row_that_is_measured_otherwise_is_inconclusive_until_its_definition_is_accepted() -> None:
    before = side(STEADY, definitions={"s00": "old"})
    after = side(STEADY, definitions={"s00": "new"})

    assert "critical_redefined" in kinds(judged(before, after, CRITICAL))
    accepted = Policy(critical_scenarios=frozenset({"s00"}), accepted_definitions=frozenset({"s00"}))
    assert judged(before, after, accepted).verdict is Verdict.PASS


def test_redefined_rows_stand_outside_test_and_rates_but_count_as_not_decided() -> None:
    before = side(STEADY, definitions=dict.fromkeys(STEADY, "old"))
    broken = {"s00": "FFFFF", "s01": "FFFFF"}
    after = side(STEADY | broken, definitions=dict.fromkeys(STEADY, "old") | dict.fromkeys(broken, "new"))

    found = judged(before, after)

    assert found.test.p_value == 1.0
    assert (found.completeness.decided, found.completeness.asked) == (38, 40)


def test_a_follow_up_is_not_comparable_whatever_the_policy_allows() -> None:
    chosen = Difference(FOLLOW_UP, "candidate", "", "chosen by outcome")
    compared = replace(compare(side(STEADY), side(STEADY)), differences=(chosen,))

    found = assess(
        compared, scenario_of=lambda variant: variant.scenario_id, policy=Policy(other_target=True), is_same=True
    )

    assert (found.verdict, kinds(found)) == (Verdict.NOT_COMPARABLE, ["follow_up"])
    assert found.reasons[0].text == "the candidate is a follow-up, whose scenarios were chosen by their outcome"


def test_other_targets_and_too_little_in_common_are_not_comparable() -> None:
    other = side(STEADY, target_id="other.agent")
    elsewhere = side({f"t{index:02}": "P" for index in range(40)} | {"s00": "PPPPP"})

    assert kinds(judged(side(STEADY), other))[0] == "other_target"
    assert judged(side(STEADY), other, Policy(other_target=True)).verdict is Verdict.PASS
    assert kinds(judged(side(STEADY), elsewhere))[0] == "overlap"


def test_not_comparable_comes_before_regressed_and_regressed_before_inconclusive() -> None:
    worse = side({"a": "FFFFF", "b": "FFFFF", "c": "FFFFF"})
    better = side({"a": "PPPPP", "b": "PPPPP", "c": "PPPPP"})

    assert judged(better, worse).verdict is Verdict.REGRESSED
    assert "pairs" in kinds(judged(better, worse))
    assert judged(side({"a": "P"}, suite_id="x"), worse).verdict is Verdict.NOT_COMPARABLE


def test_known_issues_can_be_left_out_of_the_test() -> None:
    candidate = side(STEADY | {"s01": "FFFFF", "s02": "FFFFF"})

    counted = judged(side(STEADY), candidate, known=["s01", "s02"])
    excepted = judged(side(STEADY), candidate, Policy(except_known_issues=True), known=["s01", "s02"])

    assert counted.verdict is Verdict.REGRESSED
    assert excepted.verdict is Verdict.PASS


@pytest.mark.parametrize("family", ["clinic", "flights"])
def test_the_second_versions_of_the_families_regressed(family: str) -> None:
    found = assess(comparison(family, 0), scenario_of=lambda variant: variant.scenario_id)

    assert found.verdict is Verdict.REGRESSED
    assert found.test.can_estimate_noise


def drawn(rate: float, chance: random.Random) -> str:
    return "".join("P" if chance.random() < rate else "F" for _ in range(3))


def test_at_most_one_in_twenty_pairs_of_equal_versions_is_called_regressed() -> None:
    """Seeded: 400 pairs of runs of one and the same flaky agent; `make soak` tries many more, of many shapes."""
    chance = random.Random(7)
    alarms = 0
    for _ in range(400):
        rates = {f"s{index}": chance.betavariate(4, 1) for index in range(15)}
        before, after = (
            side(
                {
                    scenario: "".join("P" if chance.random() < rate else "F" for _ in range(3))
                    for scenario, rate in rates.items()
                }
            )
            for _ in range(2)
        )
        alarms += judged(before, after).verdict is Verdict.REGRESSED
    assert alarms <= 400 * 0.05 + 2 * (400 * 0.05 * 0.95) ** 0.5


def test_what_is_critical_and_stands_nowhere_makes_no_verdict() -> None:
    policy = Policy(critical_scenarios=frozenset({"s00", "s0O"}), critical_tags=frozenset({"smoke", "smok"}))
    tagged = dict.fromkeys(STEADY, ("smoke",))

    unmatched = policy.unmatched(tagged)
    found = judged(side(STEADY), side(STEADY), policy, unmatched=unmatched)

    assert unmatched == Unmatched(("s0O",), ("smok",))
    assert found.verdict is Verdict.INCONCLUSIVE
    assert kinds(found) == ["critical_unknown", "critical_tag_unknown"]
    assert [reason.scenarios for reason in found.reasons] == [("s0O",), ()]
    assert "“smok”" in found.reasons[1].text
    assert judged(side(STEADY), side(STEADY), policy, is_same=True, unmatched=unmatched).verdict is Verdict.PASS


def test_what_broke_is_worse_than_a_name_that_stands_nowhere() -> None:
    found = judged(side(STEADY), side(STEADY | {"s00": "FFFFF"}), CRITICAL, unmatched=Unmatched(("gone",)))

    assert {"critical_broken", "critical_unknown"} <= set(kinds(found))
    assert found.verdict is Verdict.REGRESSED


def test_tags_are_named_on_one_line_and_not_without_end() -> None:
    tags = tuple(f"a\ud83d\n{'x' * 500}{number}" for number in range(9))

    [reason] = judged(side(STEADY), side(STEADY), unmatched=Unmatched((), tags)).reasons

    assert reason.text.isprintable()
    assert len(reason.text) < 400
    assert reason.text.endswith("and 5 more")


def test_a_policy_is_read_with_every_member() -> None:
    text = """
    margin = 0.02
    completeness = 1
    max_errors = 0
    min_pairs = 3
    except_known_issues = true
    other_target = true
    [critical]
    scenarios = ["a"]
    tags = ["smoke"]
    [accept]
    definitions = ["b"]
    """

    read = parse_policy(text)

    assert read == Policy(0.02, 1.0, 0, 3, True, True, frozenset("a"), frozenset({"smoke"}), frozenset("b"))
    assert read.is_critical("x", ["smoke"]) and read.is_critical("a", []) and not read.is_critical("x", ["other"])
    assert parse_policy("") == DEFAULT_POLICY


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("margin = 2", ("margin",)),
        ("margin = true", ("margin",)),
        ("completeness = 'all'", ("completeness",)),
        ("max_errors = -1", ("max_errors",)),
        ("min_pairs = 0", ("min_pairs",)),
        ("surprise = 1\n[critical]\nids = []", ("critical.ids", "surprise")),
        ("critical_tags = ['x']", ("critical_tags",)),
        ("critical = 1", ("critical",)),
        ("[critical]\ntags = [1]", ("critical.tags",)),
        (f"max_errors = 0x{'f' * 5_000}", ("max_errors",)),
        (f"max_errors = {'9' * 5_000}", ("a number has too many digits",)),
        ("a = " + "[" * 50_000, ("lists and tables are nested too deeply",)),
    ],
)
def test_a_policy_with_faults_names_each(text: str, paths: tuple[str, ...]) -> None:
    with pytest.raises(EvaluationError) as error:
        parse_policy(text)

    assert (error.value.code, error.value.paths) == ("EVALUATION_POLICY_INVALID", paths)


def test_broken_toml_says_where() -> None:
    with pytest.raises(EvaluationError) as error:
        parse_policy("min_pairs = 3\nmargin = x\nmax_errors = 0")

    assert "line 2" in error.value.paths[0]
