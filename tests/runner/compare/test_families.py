"""The three families of five versions each, compared neighbour with neighbour against what was injected."""

import gzip
import json
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from evalrunner.compare import (
    REGRESSIONS,
    Change,
    Comparison,
    Group,
    RunOutcomes,
    VariantId,
    compare,
    paired,
    run_outcomes,
)

FAMILIES = Path(__file__).parents[2] / "data" / "conformance" / "families"
NAMES = ["clinic", "flights", "refunds"]
PAIRS = [(name, index) for name in NAMES for index in range(4)]

Injection = tuple[str, str | None, str, int]


@cache
def truth(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FAMILIES / name / "truth.json").read_text())
    return found


@cache
def outcomes(name: str, index: int) -> RunOutcomes:
    path = FAMILIES / name / Path(truth(name)["runs"][index]["file"]).name
    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    read = run_outcomes(json.loads(text))
    return RunOutcomes(read.facts, list(read.cases))


@cache
def comparison(name: str, index: int) -> Comparison[VariantId]:
    return compare([outcomes(name, index)], [outcomes(name, index + 1)])


def injected(name: str, index: int, why: str) -> set[Injection]:
    return {
        (each["scenario"], each.get("variant"), each["mode"], each["step"])
        for each in truth(name)["runs"][index]["injected"]
        if each["why"] == why
    }


def is_carried(name: str, index: int, injection: Injection) -> bool:
    """Tell whether the version before had the fault already, in this variant or in all of them."""
    scenario, _variant, *fault = injection
    return bool({injection, (scenario, None, *fault)} & injected(name, index, "regression"))


def changes_of(name: str, index: int, injection: Injection) -> set[Change]:
    scenario, variant = injection[:2]
    return {
        row.change
        for row in comparison(name, index).rows
        if row.variant.scenario_id == scenario and (variant is None or variant in dict(row.variant.variants).values())
    }


@pytest.mark.parametrize(("name", "index"), PAIRS)
def test_a_regression_injected_first_is_a_regression_or_lost(name: str, index: int) -> None:
    for injection in injected(name, index + 1, "regression"):
        if is_carried(name, index, injection):
            continue
        assert changes_of(name, index, injection) <= REGRESSIONS | {Change.LOST}, injection


@pytest.mark.parametrize(("name", "index"), PAIRS)
def test_a_regression_carried_over_is_failing_or_undecided(name: str, index: int) -> None:
    for injection in injected(name, index + 1, "regression"):
        if not is_carried(name, index, injection):
            continue
        assert changes_of(name, index, injection) <= {Change.FAILING, Change.UNDECIDED, Change.LOST}, injection


@pytest.mark.parametrize(("name", "index"), PAIRS)
def test_the_matrix_agrees_with_the_statuses_that_changed(name: str, index: int) -> None:
    pair = truth(name)["pairs"][index]
    expected: dict[tuple[str, str], int] = {(status, status): n for status, n in pair["unchanged"].items()}
    for change in pair["changed"]:
        cell = (change["before"], change["after"])
        expected[cell] = expected.get(cell, 0) + 1

    cells: dict[tuple[str, str], int] = {}
    for row in comparison(name, index).rows:
        if row.baseline.statuses and row.candidate.statuses:
            for cell, number in paired(row.baseline.statuses, row.candidate.statuses).items():
                cells[cell] = cells.get(cell, 0) + number

    assert cells == expected


@pytest.mark.parametrize(("name", "index"), PAIRS)
def test_added_and_removed_variants_are_those_of_the_suite(name: str, index: int) -> None:
    pair, rows = truth(name)["pairs"][index], comparison(name, index).rows

    assert sum(len(row.candidate.statuses) for row in rows if row.change == Change.ADDED) == pair["onlyAfterCases"]
    assert sum(len(row.baseline.statuses) for row in rows if row.change == Change.REMOVED) == pair["onlyBeforeCases"]


def test_the_pending_tail_of_a_limited_run_is_lost_and_raises_no_regression() -> None:
    pending = {case.variant for case in outcomes("refunds", 3).cases if case.status == "pending"}
    rows = [row for row in comparison("refunds", 2).rows if row.variant in pending]

    never_run = [row for row in rows if set(row.candidate.statuses) == {"pending"} and row.baseline.tally.decided]
    assert never_run
    assert {row.change for row in never_run} == {Change.LOST}


@pytest.mark.parametrize("name", NAMES)
def test_tightened_expectations_stand_among_the_changed_definitions(name: str) -> None:
    for index, _pair in enumerate(pairwise(truth(name)["runs"])):
        for scenario, *_rest in injected(name, index + 1, "tightened expectation"):
            groups = {row.group for row in comparison(name, index).rows if row.variant.scenario_id == scenario}
            assert groups == {Group.REDEFINED}


def test_the_known_failures_of_both_sides_keep_their_signature() -> None:
    same = comparison("flights", 0)

    trip = next(row for row in same.rows if row.variant.scenario_id == "trip-tlv-ath")
    assert trip.change == Change.FAILING
    assert {"new", "gone", "same"} & {cluster.change.value for cluster in same.clusters}
