"""The document of scenarios says what is true, and its examples run."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import evalrunner
import pytest
from evalrunner.harness import parse_scenarios
from evalrunner.harness.runtime.config import parse_config
from evalrunner.harness.scenarios import Expectations, Scenario
from evalrunner.harness.tool_effects import classify_tool

SCENARIOS = (Path(evalrunner.__file__).parents[1] / "docs" / "scenarios.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", SCENARIOS, re.MULTILINE | re.DOTALL)


def test_the_example_of_a_row_is_one() -> None:
    [example] = blocks("json")

    [scenario] = parse_scenarios(example.replace("\n", " "))

    assert scenario.expected.trajectory_actions == ("fs.read",)


def test_the_example_of_a_configuration_is_one() -> None:
    [example] = blocks("toml")

    config = parse_config(example)

    assert [profile.name for profile in config.profiles] == ["fake", "fast", "reader"]
    assert config.default_profile() == "fast"
    assert config.profiles[2].script[0].tool_calls[0].tool_id == "fs.read"
    assert config.mcp_servers[0].trusted
    assert config.hooks[0].event == "Stop"


def test_the_python_example_prints_what_it_says(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    [example] = blocks("python")

    exec(example, {})

    assert capsys.readouterr().out == "1.0\n"


def test_every_key_of_a_row_and_every_expectation_has_its_place() -> None:
    keys = [field.name for kind in (Scenario, Expectations) for field in dataclasses.fields(kind)]

    assert [key for key in keys if f"`{key}`" not in SCENARIOS and key != "line"] == []


@pytest.mark.parametrize("tool_id", ["fs.read", "fs.list", "search.ripgrep", "fs.write", "patch.apply", "shell.exec"])
def test_every_tool_is_named(tool_id: str) -> None:
    assert f"`{tool_id}`" in SCENARIOS
    assert classify_tool(tool_id, {}) in ("read", "write")
