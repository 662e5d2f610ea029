"""``evalrunner list``: what a selection makes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from evalrunner import expand_cases
from evalrunner.cli import main

from tests.runner import edge


def scenario(id: str, *tags: str) -> dict[str, Any]:
    step = {"id": "ask", "input": {"text": "?"}}
    variants = [{"id": name, "input": {"text": name}} for name in ("short", "long")]
    return edge.SCENARIO | {"id": id, "tags": list(tags), "steps": [step | {"variants": variants}]}


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    path = tmp_path / "suite.json"
    path.write_text(json.dumps(edge.SUITE | {"scenarios": [scenario("first", "fast"), scenario("second")]}))
    return path


def test_the_text_names_each_case_and_counts_them(suite: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["list", str(suite), "--scenario", "second", "--repetitions", "2"])

    shown = capsys.readouterr()
    assert (status, shown.err) == (0, "")
    assert shown.out.splitlines() == [
        "second ask=short #1",
        "second ask=short #2",
        "second ask=long #1",
        "second ask=long #2",
        "4 cases, 4 turns",
    ]


def test_the_document_holds_the_cases_that_a_run_would_have(suite: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["list", str(suite), "--tag", "fast", "--format", "json"])

    document = json.loads(capsys.readouterr().out)
    expected = expand_cases(json.loads(suite.read_text()), tags=["fast"])
    assert status == 0
    assert (document["caseCount"], document["turnCount"]) == (2, 2)
    assert [case["id"] for case in document["cases"]] == [case.id for case in expected]
    assert document["cases"][1]["variants"] == {"ask": "long"}
    assert document["cases"][1]["tags"] == ["fast"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--scenario", "third"], "the suite has no scenario 'third'; it has first, second"),
        (["--tag", "slow"], "no scenario is left by --scenario and --tag together"),
        (["--repetitions", "0"], "no whole number from 1 to 100"),
        (["--repetitions", "101"], "no whole number from 1 to 100"),
    ],
)
def test_a_selection_that_is_none_exits_with_4(
    suite: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], sentence: str
) -> None:
    try:
        status: object = main(["list", str(suite), *arguments])
    except SystemExit as ended:
        status = ended.code

    shown = capsys.readouterr()
    assert (status, shown.out) == (4, "")
    assert sentence in shown.err


def test_a_file_that_is_no_suite_exits_with_4(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "other.json").write_text("{}")

    assert main(["list", str(tmp_path / "other.json")]) == 4
    assert main(["list", str(tmp_path / "missing.json")]) == 4
    assert "is not a valid suite" in capsys.readouterr().err
