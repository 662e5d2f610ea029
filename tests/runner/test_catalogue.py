"""The tutorial of the catalogue, as a newcomer runs it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from evalrunner import parse_evaluation_report
from evalrunner.errors import AdapterSetupError
from evalrunner.examples.catalogue import suite_file, target


def run_tutorial(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "evalrunner.examples.catalogue", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)


def outcome_of(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    outcome: dict[str, Any] = json.loads(done.stdout)
    return outcome


def report_of(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    report: dict[str, Any] = json.loads(Path(outcome_of(done)["reportFile"]).read_text())
    parse_evaluation_report(report)
    return report


def test_the_tutorial_passes_four_cases_with_six_turns(tmp_path: Path) -> None:
    done = run_tutorial(tmp_path)

    report = report_of(done)
    assert (done.returncode, outcome_of(done)["passed"]) == (0, True)
    assert (report["summary"]["total"], report["summary"]["passed"]) == (4, 4)
    assert sum(len(case["turns"]) for case in report["cases"]) == 6
    assert report["target"] == {"id": "tutorial.catalogue", "fingerprint": "correct-selection"}


def test_every_start_makes_a_report_folder_of_its_own(tmp_path: Path) -> None:
    first, second = run_tutorial(tmp_path), run_tutorial(tmp_path)

    folders = {Path(outcome_of(done)["reportFile"]).parent for done in (first, second)}
    assert {folder.parent for folder in folders} == {tmp_path / "examples" / ".runs"}
    assert folders == {
        tmp_path / "examples" / ".runs" / f"evaluation-{report_of(done)['runId']}" for done in (first, second)
    }


def test_the_wrong_selection_fails_two_cases_and_the_evidence_names_both_products(tmp_path: Path) -> None:
    done = run_tutorial(tmp_path, "--fail")

    report = report_of(done)
    failed = [case for case in report["cases"] if case["status"] == "failed"]
    assert (done.returncode, outcome_of(done)["passed"]) == (1, False)
    assert (report["summary"]["failed"], report["summary"]["passed"]) == (2, 2)
    assert report["target"]["fingerprint"] == "wrong-selection"
    assert all(turn["status"] == "passed" for case in failed for turn in case["turns"])
    assert [case["assertions"] for case in failed] == [
        [
            {
                "id": "correct-product",
                "label": "The stored selection matches the requested option from the search turn",
                "passed": False,
                "expected": {
                    "evaluator": "catalogue.selected-option",
                    "parameters": {"searchStepId": "search", "selectionStepId": "select"},
                },
                "evidence": {
                    "searchStepId": "search",
                    "selectionStepId": "select",
                    "expectedProductId": "desk-lamp",
                    "actualProductId": "floor-lamp",
                },
            }
        ]
    ] * 2


def test_one_scenario_repeated_three_times_makes_six_cases(tmp_path: Path) -> None:
    done = run_tutorial(tmp_path, "--scenario=choose-product", "--repetitions=3")

    report = report_of(done)
    assert (done.returncode, report["summary"]["total"], report["summary"]["passed"]) == (0, 6, 6)
    assert {case["scenarioId"] for case in report["cases"]} == {"choose-product"}
    assert len({case["threadId"] for case in report["cases"]}) == 6


def test_an_output_replaces_the_file_that_stood_there(tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text("old")

    done = run_tutorial(tmp_path, "--output=report.json")

    assert outcome_of(done)["reportFile"] == str(tmp_path / "report.json")
    assert report_of(done)["status"] == "completed"
    assert [path.name for path in tmp_path.iterdir()] == ["report.json"]


def test_another_suite_is_taken_from_the_current_folder(tmp_path: Path) -> None:
    suite = json.loads(suite_file.read_text())
    suite["scenarios"][1]["steps"][0]["input"] = {"text": "Tell me a joke"}
    del suite["scenarios"][1]["steps"][0]["variants"]
    (tmp_path / "mine.json").write_text(json.dumps(suite))

    done = run_tutorial(tmp_path, "--suite=mine.json", "--scenario=availability")

    [case] = report_of(done)["cases"]
    assert done.returncode == 1
    assert (case["status"], case["turns"][0]["errorCode"]) == ("error", "CATALOGUE_INPUT_UNKNOWN")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--suite=missing.json"], "no such file"),
        (["--scenario=nonsense"], "the suite has no scenario 'nonsense'; it has choose-product, availability"),
        (["--repetitions=0"], "no whole number from 1 to 100"),
        (["--repetitions=many"], "no whole number from 1 to 100"),
        (["--output=."], "cannot be written"),
        (["--bogus"], "--bogus"),
        (["--sui=x"], "--sui"),
    ],
)
def test_a_wrong_argument_is_answered_with_a_sentence(tmp_path: Path, arguments: list[str], sentence: str) -> None:
    done = run_tutorial(tmp_path, *arguments)

    assert (done.returncode, done.stdout) == (2, "")
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_registered_target_has_both_versions_and_knows_no_other() -> None:
    assert target.fingerprints == ("correct-selection", "wrong-selection")
    with pytest.raises(AdapterSetupError, match="has no version 'third'; it has correct-selection, wrong-selection"):
        target.adapter("third")
