"""``validate`` names every fault of a report with its place, by the same rules by which a report is read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from evalrunner import EvaluationError, parse_evaluation_report, parse_evaluation_suite
from evalrunner.cli.faults import describe_faults
from evalrunner.cli.report_faults import report_faults

from tests.runner.documents import apply_change, generate_report

CONFORMANCE = Path(__file__).parents[2] / "data" / "conformance"
REPORTS = sorted(path for path in (CONFORMANCE / "reports").glob("*.json") if path.name != "index.json")
VALIDITY = [
    vector
    for vector in json.loads((CONFORMANCE / "reports-validity.json").read_text())
    if isinstance(vector.get("report", {}), dict)  # validate itself says of anything else that it is no report
]
REFUSED_SUITES = [vector for vector in json.loads((CONFORMANCE / "suites.json").read_text()) if "suite" in vector]


@pytest.fixture
def report() -> dict[str, Any]:
    value: dict[str, Any] = json.loads((CONFORMANCE / "reports" / "catalogue-fail.json").read_text())
    return value


def deep(levels: int) -> Any:
    value: Any = {}
    for _ in range(levels):
        value = {"a": value}
    return value


def is_refused(report: Mapping[str, Any]) -> bool:
    try:
        parse_evaluation_report(report)
    except EvaluationError:
        return True
    return False


@pytest.mark.parametrize("path", REPORTS, ids=lambda path: path.stem)
def test_a_valid_report_has_no_faults(path: Path) -> None:
    assert report_faults(json.loads(path.read_text())) == []


def test_faults_behind_a_bad_payload_are_found_as_well(report: dict[str, Any]) -> None:
    first, second = report["cases"][:2]
    report["suite"]["id"] = ""
    report["startedAt"] = 7
    first["turns"][0]["observation"] = [1]
    del first["turns"][1]["input"]
    first["turns"][1]["durationMs"] = -1
    second["turns"][1]["checkpoint"] = deep(61)
    second["assertions"][0]["evidence"] = "text"
    second["assertions"][0]["children"] = [{"id": "x", "passed": True, "evidence": 1}]
    report["cases"][2]["name"] = ""
    report["assertions"][0]["evidence"] = None
    report["surprise"] = 1

    lines = [line.partition(": ")[0] for line in report_faults(report)]

    assert lines == [
        "suite.id",
        "cases.0.turns.0.observation",
        "cases.0.turns.1.input",
        "cases.1.turns.1.checkpoint",
        "cases.1.assertions.0.evidence",
        "cases.1.assertions.0.children.0.evidence",
        "assertions.0.evidence",
        "startedAt",
        "cases.0.turns.1.durationMs",
        "cases.2.name",
        "(the whole document)",
    ]


def test_a_summary_that_disagrees_names_the_counts(report: dict[str, Any]) -> None:
    report["summary"]["passed"] = 4
    report["summary"]["total"] = 6

    assert report_faults(report) == [
        "summary.total: says 6, but the cases give 4 (EVALUATION_RESUME_INVALID)",
        "summary.passed: says 4, but the cases give 2 (EVALUATION_RESUME_INVALID)",
    ]


@pytest.mark.parametrize(
    "change",
    [
        {"cases": None},
        {"cases": "text"},
        {"cases": [7]},
        {"cases": [{"turns": [{"assertions": deep(70)}]}]},
        {"suite": None},
        {"suite": deep(70)},
        {"assertions": deep(70)},
        {"summary": []},
        {"summary": {"total": 1}},
        {"schemaVersion": 2},
        {"target": {"id": "x", "fingerprint": "y", "more": 1}},
    ],
)
def test_whatever_is_refused_has_a_fault_with_a_place(report: dict[str, Any], change: dict[str, Any]) -> None:
    report |= change

    assert is_refused(report)
    assert all(": " in line for line in report_faults(report))
    assert report_faults(report)


def test_a_missing_member_is_called_missing(report: dict[str, Any]) -> None:
    del report["cases"]

    assert report_faults(report) == ["cases: missing (EVALUATION_RESUME_INVALID)"]


@pytest.mark.parametrize("vector", VALIDITY, ids=lambda vector: vector["name"])
def test_exactly_the_refused_reports_of_the_corpus_have_faults(vector: dict[str, Any]) -> None:
    report = vector["report"] if "report" in vector else json.loads((CONFORMANCE / vector["base"]).read_text())
    if "generator" in vector:
        generate_report(report, vector["generator"])
    for change in vector.get("patch", []):
        apply_change(report, change)

    lines = report_faults(report)

    assert (lines == []) is vector["ok"]
    assert all(line.partition(": ")[0] for line in lines)


@pytest.mark.parametrize("vector", REFUSED_SUITES, ids=lambda vector: vector["name"])
def test_every_refusal_of_a_suite_has_words_for_each_of_its_places(vector: dict[str, Any]) -> None:
    try:
        parse_evaluation_suite(vector["suite"])
    except EvaluationError as error:
        lines = describe_faults(error, vector["suite"], "suite")
        assert len(lines) == max(1, len(set(error.paths)))
        assert all(line.endswith(f" ({error.code})") for line in lines)
    else:
        assert vector["ok"]
