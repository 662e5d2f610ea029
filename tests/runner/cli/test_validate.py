"""``evalrunner validate``: every fault of every file, with its path."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from tests.runner.cli.commands import evalrunner, report_in, run


def test_all_files_are_reported_whatever_is_wrong_with_one(go: Path) -> None:
    run(go)
    report = report_in(go)
    (go / "report.json.gz").write_bytes(gzip.compress(json.dumps(report).encode()))
    report["summary"]["passed"] = 7
    (go / "wrong.json").write_text(json.dumps(report))
    (go / "other.json").write_text('{"name": "pyproject"}')

    done = evalrunner(go, "validate", "suite.json", "wrong.json", "report.json.gz", "other.json")

    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        "suite.json: valid suite of 1 scenarios",
        "report.json.gz: valid report of 1 cases, completed",
    ]
    assert done.stderr.splitlines() == [
        "wrong.json: summary.passed: says 7, but the cases give 1 (EVALUATION_RESUME_INVALID)",
        "other.json: neither a suite (no scenarios) nor a report (no runId, no cases)",
    ]


def test_a_fault_in_the_suite_of_a_report_is_placed_in_the_report(go: Path) -> None:
    run(go)
    report = report_in(go)
    report["suite"]["id"] = 7
    (go / "wrong.json").write_text(json.dumps(report))

    done = evalrunner(go, "validate", "wrong.json")

    assert done.returncode == 1
    assert done.stderr == "wrong.json: suite.id: a number that is not allowed here (EVALUATION_SUITE_INVALID)\n"


def test_valid_files_exit_with_0_and_a_file_that_cannot_be_read_with_2(go: Path) -> None:
    assert evalrunner(go, "validate", "suite.json").returncode == 0

    done = evalrunner(go, "validate", "suite.json", "missing.json", ".")

    assert done.returncode == 2
    assert "missing.json: no such file" in done.stderr
    assert ".: is a directory" in done.stderr
    assert "suite.json: valid suite" in done.stdout


def test_hostile_names_do_not_reach_the_terminal_raw(go: Path) -> None:
    (go / "suite.json").write_text(json.dumps({"scenarios": [], "\x1b[2J\ud800": 1}))

    done = evalrunner(go, "validate", "suite.json", PYTHONIOENCODING="ascii")

    assert done.returncode == 1
    assert "\x1b" not in done.stdout + done.stderr
