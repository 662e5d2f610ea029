"""Cases: which a suite makes, in which order, under which ids."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from evalrunner.cases import case_id, expand_cases, run_fingerprint, turn_id
from evalrunner.data import thaw
from evalrunner.errors import EvaluationError
from evalrunner.models import ExpandedCase
from evalrunner.suites import parse_evaluation_suite
from hypothesis import given
from hypothesis import strategies as st

from tests.runner.documents import SCENARIO, make_suite, make_suite_with_scenario, make_suite_with_step
from tests.runner.replay import CORPUS, OPTIONS, read_corpus

VECTORS = read_corpus("cases.json")
REPORTS = sorted(path.name for path in (CORPUS / "reports").glob("*.json") if path.name != "index.json")


def expand(vector: Mapping[str, Any]) -> tuple[ExpandedCase, ...]:
    options = {OPTIONS[name]: value for name, value in vector["options"].items()}
    return expand_cases(vector["suite"], **options)


def case_data(case: ExpandedCase) -> dict[str, Any]:
    return {
        "id": case.id,
        "scenarioId": case.scenario.id,
        "variants": dict(case.variants),
        "repetition": case.repetition,
        "inputs": [thaw(step.input) for step in case.steps],
    }


def code_of(suite: object, **options: Any) -> str | None:
    try:
        expand_cases(suite, **options)
    except EvaluationError as error:
        return error.code
    return None


@pytest.mark.parametrize("vector", [v for v in VECTORS if "cases" in v], ids=lambda vector: vector["name"])
def test_the_cases_of_the_corpus_in_order(vector: Mapping[str, Any]) -> None:
    assert [case_data(case) for case in expand(vector)] == vector["cases"]


@pytest.mark.parametrize("vector", [v for v in VECTORS if "count" in v], ids=lambda vector: vector["name"])
def test_a_large_matrix_of_the_corpus(vector: Mapping[str, Any]) -> None:
    ids = [case.id for case in expand(vector)]

    assert (len(ids), ids[0], ids[-1]) == (vector["count"], vector["first"], vector["last"])


@pytest.mark.parametrize("vector", [v for v in VECTORS if "code" in v], ids=lambda vector: vector["name"])
def test_a_selection_of_the_corpus_is_refused(vector: Mapping[str, Any]) -> None:
    with pytest.raises(EvaluationError) as caught:
        expand(vector)

    assert caught.value.code == vector["code"]


# ------------------------------------------------------------------------------------------------------------- options


@pytest.mark.parametrize(("name", "largest"), [("repetitions", 100), ("max_cases", 100_000)])
def test_a_number_is_accepted_from_1_to_its_limit(name: str, largest: int) -> None:
    suite = make_suite()

    assert [code_of(suite, **{name: value}) for value in (None, 1, 1.0, largest)] == [None] * 4
    for value in (0, -1, largest + 1, 1.5, True, "2", [1]):
        assert code_of(suite, **{name: value}) == "EVALUATION_OPTIONS_INVALID"


@pytest.mark.parametrize("names", ["search", 7, [None], [["search"]]])
def test_a_selection_that_is_no_list_of_texts_is_refused(names: Any) -> None:
    assert code_of(make_suite(), scenario_ids=names) == "EVALUATION_OPTIONS_INVALID"
    assert code_of(make_suite(), tags=names) == "EVALUATION_OPTIONS_INVALID"


def test_the_suite_is_looked_at_before_the_options() -> None:
    assert code_of({}, repetitions=0) == "EVALUATION_SUITE_INVALID"


def test_numbers_are_looked_at_before_the_selection() -> None:
    assert code_of(make_suite(), repetitions=0, scenario_ids=["unknown"]) == "EVALUATION_OPTIONS_INVALID"


def test_100_000_cases_are_made_where_they_are_allowed_and_one_more_is_too_many() -> None:
    scenarios = [SCENARIO | {"id": f"s{index}"} for index in range(1_000)]

    assert len(expand_cases(make_suite(scenarios=scenarios), repetitions=100, max_cases=100_000)) == 100_000
    scenarios.append(SCENARIO)
    assert code_of(make_suite(scenarios=scenarios), repetitions=100, max_cases=100_000) == "EVALUATION_CASE_LIMIT"


def test_a_matrix_too_large_to_make_is_refused_without_making_it() -> None:
    step = {"input": {}, "variants": [{"id": f"v{index}", "input": {}} for index in range(100)]}
    suite = make_suite_with_scenario(steps=[{"id": f"s{index}", **step} for index in range(50)])

    assert code_of(suite) == "EVALUATION_CASE_LIMIT"


# ------------------------------------------------------------------------------------------------------- steps and ids


def test_a_variant_replaces_the_whole_input_and_leaves_the_assertions() -> None:
    check = {"id": "a", "kind": "check", "path": [], "operator": "exists"}
    suite = make_suite_with_step(input={"text": "x"}, assertions=[check], variants=[{"id": "v", "input": {"n": 1}}])

    (case,) = expand_cases(suite)

    assert case.steps[0].to_data() == {"id": "ask", "input": {"n": 1}, "assertions": [check]}


def test_a_step_may_be_called_constructor() -> None:
    (case,) = expand_cases(make_suite_with_step(id="constructor", input={"text": "x"}))

    assert case.steps[0].input == {"text": "x"}


IDS = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,3}", fullmatch=True)


@given(IDS, st.dictionaries(IDS, st.lists(IDS, min_size=1, max_size=2, unique=True), min_size=1, max_size=3))
def test_the_id_of_a_case_is_the_digest_of_what_identifies_it(scenario_id: str, steps: dict[str, list[str]]) -> None:
    listed = [
        {"id": step, "input": {}, "variants": [{"id": variant, "input": {}} for variant in variants]}
        for step, variants in steps.items()
    ]
    cases = expand_cases(make_suite_with_scenario(id=scenario_id, steps=listed), repetitions=3)

    assert [case.id for case in cases] == [case_id(case.scenario.id, case.variants, case.repetition) for case in cases]
    assert len({case.id for case in cases}) == len(cases)


@pytest.mark.parametrize("name", REPORTS)
def test_ids_and_fingerprint_of_a_recorded_run_are_found_again(name: str) -> None:
    report, run = read_corpus(f"reports/{name}"), read_corpus(f"runs/{name}")
    case_ids = [case["id"] for case in report["cases"]]
    adapter = run["adapter"]

    suite = parse_evaluation_suite(report["suite"])
    found = run_fingerprint(suite, case_ids, report["target"], adapter["id"], adapter["version"])

    assert found == report["fingerprint"]
    for case in report["cases"]:
        assert case["id"] == case_id(case["scenarioId"], case["variants"], case["repetition"])
        assert [turn["turnId"] for turn in case["turns"]] == [
            turn_id(case["threadId"], turn["stepId"]) for turn in case["turns"]
        ]
