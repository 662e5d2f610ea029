"""How long a run takes: by earlier runs, then by its own pace."""

import pytest
from evalrunner.suites import parse_evaluation_suite

from reports.domain.pacing import (
    Earlier,
    Progress,
    VariantCases,
    estimate_left,
    estimate_words,
    planned_cases,
    settled_after,
)
from reports.domain.run_options import RunOptions
from tests import factories

EARLIER = Earlier(runs=3, variant_ms={"a": 1_000.0, "b": 4_000.0}, turn_ms=500.0)


def left(cases: list[VariantCases], earlier: Earlier, progress: Progress) -> float:
    found = estimate_left(cases, earlier, progress)
    assert found is not None
    return found.left_ms


@pytest.mark.parametrize(
    ("cases", "lanes", "left_ms"),
    [
        ([VariantCases("a", 2, waiting=6)], 1, 6_000),
        ([VariantCases("a", 2, waiting=6)], 3, 2_000),
        ([VariantCases("a", 2, waiting=2)], 32, 1_000),  # no more at once than there are
        ([VariantCases("a", 2, waiting=2), VariantCases("b", 2, waiting=1)], 3, 4_000),  # never less than the longest
        ([VariantCases("new", 4, waiting=5)], 1, 10_000),  # by its turns
        ([VariantCases("a", 0, waiting=5), VariantCases("b", 2, waiting=1)], 1, 4_000),  # skipped cases take no time
    ],
)
def test_before_it_begins_earlier_runs_tell(cases: list[VariantCases], lanes: int, left_ms: float) -> None:
    assert left(cases, EARLIER, Progress(lanes)) == left_ms


def test_until_a_case_has_ended_the_time_that_has_gone_is_taken_off() -> None:
    cases = [VariantCases("b", 2, waiting=1, running=1)]

    assert left(cases, EARLIER, Progress(1, elapsed_ms=3_000)) == 5_000
    assert left(cases, EARLIER, Progress(1, elapsed_ms=9_000)) == 4_000  # the waiting one is still to come


def test_a_single_case_that_takes_longer_than_ever_is_said_to() -> None:
    found = estimate_left([VariantCases("a", 2, running=1)], EARLIER, Progress(1, elapsed_ms=5_000))

    assert found is not None and found.words == "it takes longer than earlier runs did"


def test_the_estimate_moves_from_earlier_runs_to_its_own_pace() -> None:
    """Here everything takes twice as long as it used to."""
    estimates = []
    for ended in range(0, 31, 5):
        cases = [VariantCases("a", 2, waiting=100 - ended, ended=ended)]
        found = estimate_left(cases, EARLIER, Progress(1, ended, elapsed_ms=ended * 2_000.0))
        assert found is not None
        estimates.append((found.left_ms / (100 - ended), found.source))

    assert [each for each, _ in estimates] == [1_000, 1_250, 1_500, 1_750, 2_000, 2_000, 2_000]
    assert estimates[0][1] == "as this scenario variant took in 3 earlier runs"
    assert estimates[1][1] == "by the pace of this run and 3 earlier runs"
    assert estimates[-1][1] == "at the pace of this run"


def test_its_own_pace_knows_that_what_is_left_is_longer() -> None:
    cases = [VariantCases("a", 2, ended=40), VariantCases("b", 2, waiting=10)]

    assert left(cases, EARLIER, Progress(1, 40, elapsed_ms=40_000)) == 40_000


def test_cases_that_were_taken_over_do_not_count_as_pace() -> None:
    cases = [VariantCases("a", 2, waiting=30, ended=70)]

    assert left(cases, EARLIER, Progress(1, ended=30, elapsed_ms=60_000)) == 60_000


def test_with_many_at_once_its_own_pace_settles_later() -> None:
    assert (settled_after(1), settled_after(32)) == (20, 64)


@pytest.mark.parametrize(
    "cases",
    [[], [VariantCases("a", 2, ended=3)]],
)
def test_nothing_left_has_no_estimate(cases: list[VariantCases]) -> None:
    assert estimate_left(cases, EARLIER, Progress(1, 3, 1_000)) is None


@pytest.mark.parametrize(
    ("cases", "earlier", "words"),
    [
        (
            [VariantCases("a", 2, waiting=1), VariantCases("b", 2, waiting=1)],
            EARLIER,
            "About 5 s, as these scenario variants took in 3 earlier runs.",
        ),
        (
            [VariantCases("a", 2, waiting=1), VariantCases("new", 2, waiting=1)],
            EARLIER,
            "About 2 s, as 1 of 2 scenario variants took in 3 earlier runs; the others are reckoned by their turns.",
        ),
        ([VariantCases("new", 4, waiting=1)], Earlier(1, {}, 500), "About 2 s, as turns took in 1 earlier run."),
        ([VariantCases("a", 2, waiting=1)], Earlier(), "No earlier run of this target tells how long it will take."),
    ],
)
def test_where_an_estimate_comes_from_is_said(cases: list[VariantCases], earlier: Earlier, words: str) -> None:
    assert estimate_words(cases, earlier, lanes=1) == words


def test_a_request_is_planned_by_scenario_variant() -> None:
    made = factories.suite("plain", "left out", "writes", "skipped")
    made["scenarios"][1]["id"] = "other"
    made["scenarios"][2]["writePolicy"] = "external"
    made["scenarios"][3]["skipReason"] = "not here"
    made["scenarios"][0]["steps"][0]["variants"] = [{"id": each, "input": {"text": each}} for each in ("x", "y")]
    suite = parse_evaluation_suite(made)
    options = RunOptions(scenario_ids=("plain", "writes", "skipped"), repetitions=3)

    cases = planned_cases(suite, options)

    assert [(each.turns, each.waiting) for each in cases] == [(1, 3), (1, 3), (0, 3), (0, 3)]
    assert len({each.variant for each in cases}) == 4
