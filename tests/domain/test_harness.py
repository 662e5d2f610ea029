"""Rows of the scenario harness as cases, scenario files as suites."""

import json
from dataclasses import replace
from typing import Any

import pytest
from evalrunner import parse_evaluation_suite
from evalrunner.compare import definition_digest
from evalrunner.harness import Scenario, evaluate_expectations, parse_scenarios
from hypothesis import given, settings
from hypothesis import strategies as st

from reports.domain.harness.cases import case_of_row, without_row
from reports.domain.harness.criteria import criteria_of, key_of_sentence, results_of
from reports.domain.harness.options import Allowed, HarnessOptions, faults_of_options
from reports.domain.harness.suites import ScenariosUnusable, read_scenario_suite, scenarios_of
from tests.importers.harness_files import DATA, row

EXPECTED = json.loads(
    """{"assistant_contains": ["a", "b"], "assistant_not_contains": ["x"], "assistant_matches_regex": ["^a$"],
    "event_types": ["E"], "forbidden_event_types": ["F"],
    "min_events_of_type": {"G": 2}, "max_events_of_type": {"H": 0},
    "min_tool_invocations": 3, "max_tool_failures": 0, "max_elapsed_ms": 1, "max_context_input_tokens": 1,
    "max_turns": 0, "trajectory_actions": ["t", "u"], "max_trajectory_steps": 0}"""
)
OBSERVED = {
    "assistant_response": "x",
    "event_types": ["F", "H"],
    "tool_invocations": 1,
    "tool_failures": 1,
    "elapsed_ms": 5,
    "context_input_tokens": 5,
    "turns_count": 1,
    "trajectory_actions": ["z"],
}


def text_of(**members: Any) -> str:
    return json.dumps({"id": "a", "prompt": "b"} | members)


def scenario_of(**members: Any) -> Scenario:
    [scenario] = scenarios_of(read_scenario_suite(text_of(**members))).values()
    return scenario


def test_every_sentence_of_the_harness_finds_its_expectation() -> None:
    sentences = evaluate_expectations(EXPECTED, OBSERVED)
    criteria = criteria_of(scenario_of(expected=EXPECTED).expected)

    results = results_of(criteria, sentences, was_judged=True)

    assert len(sentences) == len(criteria) == len(results)
    assert [result["label"] for result in results] == sentences
    assert [key_of_sentence(sentence) for sentence in sentences] == [criterion.key for criterion in criteria]


def test_a_result_that_carries_a_row_is_left_out_unless_it_failed() -> None:
    passed = case_of_row(row(), scenario_id="a", scenario=None, repetition=0, id="1")
    silent = case_of_row(row() | {"passed": False}, scenario_id="a", scenario=None, repetition=0, id="1")
    other = {"id": "row", "passed": True}

    assert without_row(passed["assertions"]) == []
    assert len(without_row(silent["assertions"])) == 1
    assert without_row([other]) == [other]


@pytest.mark.parametrize("path", sorted(DATA.glob("cases/*/scenarios.jsonl")), ids=lambda path: path.parent.name)
def test_scenario_files_become_suites_and_come_back(path: Any) -> None:
    text = path.read_bytes().decode()

    suite = read_scenario_suite(text)
    again = parse_evaluation_suite(suite.to_data())

    assert again == suite
    back = [replace(scenario, line=0) for scenario in scenarios_of(again).values()]
    assert back == [replace(scenario, line=0) for scenario in parse_scenarios(text)]


@pytest.mark.parametrize(
    ("members", "is_same"),
    [
        ({"tags": ["x"]}, True),
        ({"prompt": "other"}, False),
        ({"turns": ["more"]}, False),
        ({"expected": {"max_turns": 1}}, False),
        ({"profile": "other"}, False),
        ({"sandbox_policy": {"kind": "read_only"}}, False),
        ({"system_instructions": "Be kind."}, False),
    ],
)
def test_what_changes_a_verdict_changes_the_definition(members: dict[str, Any], is_same: bool) -> None:
    digests = [
        definition_digest(read_scenario_suite(text).scenarios[0].to_data()) for text in (text_of(), text_of(**members))
    ]

    assert (digests[0] == digests[1]) is is_same


@settings(deadline=None)
@given(st.text(max_size=300).filter(lambda text: not any("\ud800" <= each <= "\udfff" for each in text)))
def test_any_prompt_and_id_fit_into_a_suite(text: str) -> None:
    suite = read_scenario_suite(json.dumps({"id": text, "prompt": text, "tags": [text]}))

    [scenario] = scenarios_of(suite).values()
    assert (scenario.id, scenario.prompt) == (text, text)


@pytest.mark.parametrize("text", ["", "# nothing\n", '{"id": 1, "prompt": "x"}', text_of(turns=["x"] * 500)])
def test_what_is_no_scenario_file_is_refused(text: str) -> None:
    with pytest.raises(ScenariosUnusable):
        read_scenario_suite(text)


def test_options_that_are_left_out_are_never_at_fault() -> None:
    assert faults_of_options(HarnessOptions(), Allowed(("fake",))) == []
    assert HarnessOptions.from_data(HarnessOptions("a", "never", "read_only", ("x",), True).to_data()).fail_fast
