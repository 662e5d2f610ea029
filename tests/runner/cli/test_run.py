"""``evalrunner run`` as a user meets it: what it runs, what it prints, how it exits."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.runner import edge
from tests.runner.cli.commands import report_in, run, write_suite


def test_a_passing_run_exits_with_0_and_says_so(go: Path) -> None:
    done = run(go, "--target", "bot", "--fingerprint", "v7", "--repetitions", "2", "--concurrency", "2")

    report = report_in(go)
    assert done.returncode == 0
    assert "Passed: 2 of 2 decided cases passed" in done.stdout
    assert (report["status"], report["summary"]["passed"]) == ("completed", 2)
    assert report["target"] == {"id": "bot", "fingerprint": "v7"}
    assert [path.name for path in go.glob(".*")] == []


def test_every_case_is_a_plain_line_when_nobody_watches_a_terminal(go: Path) -> None:
    done = run(go, "--repetitions", "3", "--fingerprint", "v1")

    lines = [line for line in done.stderr.splitlines() if not line.startswith("turn")]
    assert lines == ["1/3 talk #1: passed", "2/3 talk #2: passed", "3/3 talk #3: passed"]
    assert "\r" not in done.stderr


def test_a_failed_case_exits_with_1(go: Path) -> None:
    def demand(suite: dict[str, Any]) -> None:
        suite["scenarios"][0]["assertions"][0]["path"] = ["nothing"]

    write_suite(go, demand)
    done = run(go)

    assert (done.returncode, report_in(go)["summary"]["failed"]) == (1, 1)
    assert "Not passed: 0 of 1 decided cases passed (1 failed)" in done.stdout


def test_a_failed_suite_assertion_alone_exits_with_1(go: Path) -> None:
    def demand(suite: dict[str, Any]) -> None:
        suite["assertions"] = [{"id": "never", "kind": "custom", "evaluator": "never", "parameters": {}}]

    write_suite(go, demand)
    done = run(go)

    assert (done.returncode, report_in(go)["summary"]["passed"]) == (1, 1)
    assert "Suite assertion not passed: never" in done.stdout


def test_a_case_that_was_not_decided_exits_with_1(go: Path) -> None:
    write_suite(go, lambda suite: suite["scenarios"][0].update(writePolicy="external"))

    blocked, allowed = run(go), run(go, "--allow-external-writes")

    assert (blocked.returncode, allowed.returncode) == (1, 0)
    assert "0 of 0 decided cases passed, 1 undecided (1 blocked)" in blocked.stdout
    assert "1/1 talk #1: blocked (EXTERNAL_WRITES_NOT_AUTHORIZED)" in blocked.stderr


def test_scenarios_and_tags_select_cases(go: Path) -> None:
    def add(suite: dict[str, Any]) -> None:
        suite["scenarios"] += [edge.SCENARIO | {"id": "other", "tags": ["slow"]}, edge.SCENARIO | {"id": "third"}]

    write_suite(go, add)
    run(go, "--scenario", "talk", "--scenario", "other")
    by_id = [case["scenarioId"] for case in report_in(go)["cases"]]
    run(go, "--tag", "smoke")
    by_tag = [case["scenarioId"] for case in report_in(go)["cases"]]

    assert (by_id, by_tag) == (["talk", "other"], ["talk", "third"])


def test_the_failure_limit_leaves_cases_pending(folder: Path) -> None:
    done = run(folder, "--timeout-ms", "1000", "--repetitions", "3", "--max-failures", "1")

    report = report_in(folder)
    assert done.returncode == 1
    assert (report["status"], report["summary"]["error"], report["summary"]["pending"]) == ("limited", 1, 2)


@pytest.mark.parametrize(
    ("arguments", "target"),
    [
        ([], {"id": "host", "fingerprint": "unversioned"}),
        (["--fingerprint", "v2"], {"id": "host", "fingerprint": "v2"}),
        (["--target", "mine"], {"id": "mine", "fingerprint": "unversioned"}),
    ],
)
def test_the_target_is_named_by_the_adapter_unless_the_user_does(
    go: Path, arguments: list[str], target: dict[str, str]
) -> None:
    done = run(go, *arguments)

    note = "note: no --fingerprint was given"
    assert report_in(go)["target"] == target
    assert (note in done.stderr) is (target["fingerprint"] == "unversioned")


def test_a_runnable_target_brings_its_own_id_and_evaluators(go: Path) -> None:
    (go / "suite.json").write_text(edge.CATALOGUE_SUITE.read_text())

    right = run(go, adapter="evalrunner.examples.catalogue:target")
    wrong = run(go, "--fingerprint", "wrong-selection", adapter="evalrunner.examples.catalogue:target")

    assert (right.returncode, wrong.returncode) == (0, 1)
    assert report_in(go)["target"] == {"id": "tutorial.catalogue", "fingerprint": "wrong-selection"}
    assert "1/4 choose-product search=direct #1: failed" in wrong.stderr


@pytest.mark.parametrize(
    "adapter", ["host:Adapter", "host:target", "host:adapter", "host:target.make_adapter.__self__"]
)
def test_a_class_a_target_and_an_object_all_name_an_adapter(go: Path, adapter: str) -> None:
    expected = 2 if "__self__" in adapter else 0

    assert run(go, adapter=adapter).returncode == expected


def test_a_command_gets_evaluators_and_variables_from_the_command_line(folder: Path) -> None:
    (folder / "suite.json").write_text(edge.CATALOGUE_SUITE.read_text())
    command = f"command:'{sys.executable}' -m evalrunner.examples.command_agent"

    done = run(
        folder,
        "--evaluators=evalrunner.examples.catalogue:evaluators",
        "--command-env=PYTHONPATH",
        "--fingerprint=v1",
        adapter=command,
    )

    assert done.returncode == 0, done.stderr
    assert report_in(folder)["target"] == {"id": "evalrunner.command", "fingerprint": "v1"}
