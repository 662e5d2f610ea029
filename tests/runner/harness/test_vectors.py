"""Single rules of the harness against their vectors: expectations, figures, policies, effects, summaries."""

from __future__ import annotations

import copy
import json
import re
from typing import Any

import pytest
from evalrunner.harness import (
    HarnessError,
    classify_tool,
    compare_reports,
    decide_permission,
    evaluate_expectations,
    fold_events,
    parse_report,
    parse_scenarios,
    summarize,
)
from evalrunner.harness.rows import encode_pretty

from tests.runner.harness.stored import DATA, read_json, read_rows, read_text, vectors

REPORTS = DATA / "reports"
INDEX = read_json(REPORTS / "index.json")


def named(rows: list[Any]) -> list[Any]:
    return [pytest.param(row, id=row["name"]) for row in rows]


@pytest.mark.parametrize("vector", named(vectors("expectations")))
def test_expectations_give_their_sentences(vector: Any) -> None:
    before = copy.deepcopy(vector)

    if "harness_error" in vector:
        with pytest.raises(HarnessError) as caught:
            evaluate_expectations(vector["expected"], vector["observation"])
        assert str(caught.value).startswith(vector["harness_error"].partition("{{")[0])
    else:
        assert evaluate_expectations(vector["expected"], vector["observation"]) == vector["failures"]
    assert vector == before


@pytest.mark.parametrize("vector", named(vectors("observations")))
def test_events_fold_to_the_figures_of_a_row(vector: Any) -> None:
    assert fold_events(vector["events"]) == vector["observation"]


@pytest.mark.parametrize("vector", vectors("policy-decisions"))
def test_policies_decide_on_an_effect(vector: Any) -> None:
    decision = decide_permission(
        vector["approval"],
        vector["sandbox"],
        vector["effect"],
        workspace=vector["workspace"],
        trusted_servers=vector["trusted_servers"],
    )

    assert decision == {"decision": vector["decision"], "reason": vector.get("reason")}


@pytest.mark.parametrize("vector", vectors("tool-risk"))
def test_a_tool_call_has_its_effect(vector: Any) -> None:
    assert classify_tool(vector["tool_id"], vector["arguments"]) == vector["effect"]


@pytest.mark.parametrize("vector", named(vectors("summaries")))
def test_rows_are_added_up(vector: Any) -> None:
    summary = summarize(vector["results"])

    assert summary == vector["summary"]
    assert list(summary) == list(vector["summary"])
    assert all(isinstance(summary[key], float) for key in ("success_rate", "avg_elapsed_ms"))


@pytest.mark.parametrize("vector", named(read_rows(DATA / "compare" / "vectors.jsonl")))
def test_reports_are_compared(vector: Any) -> None:
    comparison = compare_reports(vector["baseline"], vector["candidate"])

    assert comparison == vector["comparison"]
    assert list(comparison) == list(vector["comparison"])


@pytest.mark.parametrize("pair", INDEX["pairs"], ids=lambda pair: f"{pair['baseline']}-{pair['candidate']}")
def test_versions_of_one_agent_are_compared(pair: Any) -> None:
    sides = [parse_report(read_text(REPORTS / pair[side] / "report.json")) for side in ("baseline", "candidate")]

    assert compare_reports(*sides) == read_json(REPORTS / pair["comparison"])


@pytest.mark.parametrize("version", INDEX["versions"])
def test_the_rows_of_a_version_yield_its_summary_to_the_letter(version: str) -> None:
    folder = REPORTS / version

    assert encode_pretty(summarize(read_rows(folder / "results.jsonl"))) == read_text(folder / "summary.json")


@pytest.mark.parametrize("version", INDEX["versions"])
def test_the_figures_of_a_version_yield_its_sentences(version: str) -> None:
    folder = REPORTS / version
    lines = [line for line in read_text(folder / "scenarios.jsonl").split("\n") if line.startswith("{")]
    expected = {row["id"]: row.get("expected", {}) for row in map(json.loads, lines)}
    elsewhere = re.compile("workspace file|post-run command|runtime error: |multi-turn error: ")
    rows = [row for row in read_rows(folder / "results.jsonl") if "timed out" not in row.get("error", "")]

    assert len(parse_scenarios(read_text(folder / "scenarios.jsonl"))) == len(expected)
    for row in rows:
        figures = {"assistant_response": None, "context_input_tokens": None, "trajectory_actions": []} | row
        sentences = [text for text in row.get("failures", []) if not elsewhere.match(text)]
        if row.get("error", "").startswith("invalid regex"):
            with pytest.raises(HarnessError):
                evaluate_expectations(expected[row["scenario_id"]], figures)
        else:
            assert evaluate_expectations(expected[row["scenario_id"]], figures) == sentences
