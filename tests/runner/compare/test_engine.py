from collections import Counter
from dataclasses import replace
from random import Random

import pytest
from evalrunner.compare import (
    CLUSTER_MIRROR,
    MIRROR,
    MISSING,
    CaseOutcome,
    Change,
    Group,
    RunOutcomes,
    VariantId,
    compare,
)
from hypothesis import given
from hypothesis import strategies as st

from tests.factories import LETTERS
from tests.runner.compare.strategies import facts, placed, sides

Side = list[RunOutcomes]


def side(**letters: str) -> Side:
    """Make one run: a scenario for each name, a repetition for each letter."""
    cases = [
        CaseOutcome(VariantId(name, ()), repetition, 0, LETTERS[letter], "reason" if letter in "FE" else "")
        for name, statuses in letters.items()
        for repetition, letter in enumerate(statuses)
    ]
    return [RunOutcomes(facts(), [case._replace(place=place) for place, case in enumerate(cases)])]


def cases_of(side: Side) -> list[CaseOutcome]:
    return [case for run in side for case in run.cases]


@given(sides, sides)
def test_swapping_the_sides_mirrors_everything(left: Side, right: Side) -> None:
    forth, back = compare(left, right), compare(right, left)

    assert {row.variant: MIRROR[row.change] for row in forth.rows} == {row.variant: row.change for row in back.rows}
    assert {(after, before): n for (before, after), n in forth.matrix.items()} == back.matrix
    assert (forth.baseline, forth.candidate) == (back.candidate, back.baseline)
    assert forth.regressions == back.improvements
    assert {row.variant: -row.judgement.drop for row in forth.rows} == {
        row.variant: row.judgement.drop for row in back.rows
    }
    assert {each.signature: CLUSTER_MIRROR[each.change] for each in forth.clusters} == {
        each.signature: each.change for each in back.clusters
    }
    assert [(each.kind, each.candidate, each.baseline) for each in forth.differences] == [
        (each.kind, each.baseline, each.candidate) for each in back.differences
    ]


@given(sides)
def test_a_run_against_itself_is_steady_failing_or_undecided(only: Side) -> None:
    same = compare(only, only)

    assert {row.change for row in same.rows} <= {Change.STEADY, Change.FAILING, Change.UNDECIDED}
    assert all(before == after for before, after in same.matrix)
    assert not same.differences
    assert same.fewer_decided == 0


@given(sides, sides)
def test_every_scenario_variant_appears_exactly_once(left: Side, right: Side) -> None:
    rows = compare(left, right).rows

    assert Counter(row.variant for row in rows) == Counter({case.variant for case in cases_of(left) + cases_of(right)})


@given(sides, sides)
def test_sums_of_the_matrix_are_the_cases_of_each_side(left: Side, right: Side) -> None:
    matrix = compare(left, right).matrix

    before, after = Counter[str](), Counter[str]()
    for (baseline, candidate), number in matrix.items():
        before[baseline] += number
        after[candidate] += number
    assert before - Counter({MISSING: before[MISSING]}) == Counter(case.status for case in cases_of(left))
    assert after - Counter({MISSING: after[MISSING]}) == Counter(case.status for case in cases_of(right))
    assert (MISSING, MISSING) not in matrix


@given(sides, sides, st.randoms(use_true_random=False))
def test_the_order_of_cases_in_a_file_does_not_matter(left: Side, right: Side, random: Random) -> None:
    unique = list({(case.variant, case.repetition): case for case in cases_of(left)}.values())
    shuffled = random.sample(unique, len(unique))

    assert compare([RunOutcomes(facts(), placed(shuffled))], right) == compare(
        [RunOutcomes(facts(), placed(unique))], right
    )


def test_rows_stand_in_order_of_group_then_of_the_size_of_the_change() -> None:
    before = side(a="PPP", b="PPPP", c="PPP", d="F", e="PP", f="P")
    after = side(a="PPP", b="PPPF", c="PFF", d="P", e="FF", f="N")

    rows = compare(before, after).rows

    assert [row.variant.scenario_id for row in rows] == ["e", "f", "c", "b", "d", "a"]


def test_cancelled_repetitions_are_lost_and_one_failure_is_unstable() -> None:
    counts = compare(side(a="PPP", b="PPP"), side(a="CCC", b="PPF")).counts()

    assert {change for change, number in counts.items() if number} == {Change.LOST, Change.UNSTABLE}


def test_sides_of_different_length_pair_the_rest_with_missing() -> None:
    matrix = compare(side(a="P", b="PPP"), side(b="PPP", a="PF")).matrix

    assert matrix == {("passed", "passed"): 4, (MISSING, "failed"): 1}


def test_fewer_decided_counts_the_rise_of_undecided_cases() -> None:
    row = compare(side(a="PPP"), side(a="PSN")).rows[0]

    assert (row.change, row.judgement.fewer_decided) == (Change.STEADY, 2)


def test_added_and_removed_rows_are_not_less_decided() -> None:
    assert compare(side(a="P"), side(b="NN")).fewer_decided == 0


def test_a_redefined_scenario_keeps_its_class_in_a_group_of_its_own_and_leaves_the_rates() -> None:
    before, after = side(a="PPP", b="P"), side(a="FFF", b="P")
    definitions = [{"a": "old", "b": "same"}, {"a": "new", "b": "same"}]
    for one, definition in zip((before, after), definitions, strict=True):
        one[0] = RunOutcomes(replace(facts(), definitions=definition), one[0].cases)

    result = compare(before, after)

    redefined = next(row for row in result.rows if row.is_redefined)
    assert (redefined.variant.scenario_id, redefined.change, redefined.group) == ("a", Change.BROKEN, Group.REDEFINED)
    assert (result.regressions, result.redefined, result.baseline.total) == (0, 1, 1)


def test_a_side_without_runs_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one run"):
        compare([], side(a="P"))
