"""Whole runs of the command line against their stored results."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from evalrunner import cli

from tests.runner.harness.stored import DATA, like, read_json, read_rows, read_text

CASES = sorted(path.parent.name for path in (DATA / "cases").glob("*/case.json"))


def variants(cases: list[str]) -> list[Any]:
    return [
        pytest.param(name, variant, id=f"{name}-{variant['name']}")
        for name in cases
        for variant in read_json(DATA / "cases" / name / "case.json")["variants"]
    ]


@pytest.mark.parametrize(("name", "variant"), variants(CASES))
def test_a_case_gives_its_rows(name: str, variant: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check_variant(DATA / "cases" / name, variant, tmp_path, capsys)


def check_variant(folder: Path, variant: Any, scratch: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Run one variant of a case in this process and hold everything it gives against what is stored."""
    case = read_json(folder / "case.json")
    arguments = ["--scenarios", str(folder / case["scenarios"])]
    arguments += [argument.replace("{case}", str(folder)) for argument in variant["args"]]
    if variant["command"] == "list":
        assert cli.main(["scenarios", "list", *arguments]) == variant["exit_code"]
        assert capsys.readouterr().out == variant["stdout"]
        return
    workspace = scratch / "workspace"
    place(workspace, case["workspace"])
    output, summary, report = (scratch / "out" / name for name in ("rows.jsonl", "summary.json", "report.json"))
    arguments += ["--workspace", str(workspace), "--output", str(output)]

    code = cli.main(["scenarios", "run", *arguments, "--summary", str(summary), "--report", str(report)])

    assert capsys.readouterr().out == read_text(summary) + "\n"
    check_rows(read_rows(folder / variant["results"]), read_rows(output), variant)
    check_summary(read_json(folder / variant["summary"]), read_json(summary))
    assert read_json(report) == {"summary": read_json(summary), "results": read_rows(output)}
    assert code == variant["exit_code"]
    for name, text in variant.get("files_after", {}).items():
        assert read_text(workspace / name) == text
    assert not any((workspace / name).exists() for name in variant.get("files_absent_after", []))


def place(workspace: Path, content: Any) -> None:
    workspace.mkdir()
    for name in content.get("dirs", []):
        (workspace / name).mkdir(parents=True)
    for name, text in content.get("files", {}).items():
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        data = text.encode() if isinstance(text, str) else base64.b64decode(text["base64"])
        (workspace / name).write_bytes(data)


def check_rows(expected: list[Any], rows: list[Any], variant: Any) -> None:
    traces = [row.pop("trace", None) for row in rows]
    elapsed = [variant.get("elapsed_exact", {}).get(row["scenario_id"], row["elapsed_ms"]) for row in rows]
    wanted = [want | {"elapsed_ms": ms} for want, ms in zip(expected, elapsed, strict=True)]

    assert rows == like(wanted, rows)
    assert [list(row) for row in rows] == [list(want) for want in expected]
    for want, trace in zip(variant.get("trace", []), traces, strict=False):
        assert subset(trace, want["events"]) == want["events"]


def subset(value: Any, shape: Any) -> Any:
    """Give of a value only the keys that the shape has, at every depth."""
    if isinstance(shape, dict) and isinstance(value, dict):
        return {key: subset(value.get(key), shape[key]) for key in shape}
    if isinstance(shape, list) and isinstance(value, list) and len(shape) == len(value):
        return [subset(*pair) for pair in zip(value, shape, strict=True)]
    return value


def check_summary(expected: Any, summary: Any) -> None:
    for key in ("total_elapsed_ms", "avg_elapsed_ms"):
        expected[key] = summary[key]

    assert json.dumps(summary) == json.dumps(expected)
