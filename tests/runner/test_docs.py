"""The documents of the runner core say what is true, and their examples run."""

from __future__ import annotations

import argparse
import importlib
import re
import shutil
from pathlib import Path
from typing import Any

import evalrunner
import pytest
from evalrunner import cli
from evalrunner.adapters import command, http, processes
from evalrunner.adapters.command import CommandAdapter
from evalrunner.cli.scenario_flags import SUBCOMMANDS
from evalrunner.targets import RunnableTarget

from tests.runner import edge

DOCS = Path(evalrunner.__file__).parents[1] / "docs"
CONNECT = (DOCS / "connect-an-agent.md").read_text()
COMMAND_LINE = (DOCS / "command-line.md").read_text()
README = (DOCS.parent / "README.md").read_text()


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def options_of(name: str) -> list[str]:
    if name == "scenarios":
        return [f"--{flag.name}" for subcommand in SUBCOMMANDS.values() for flag in subcommand.flags]
    parser = argparse.ArgumentParser(add_help=False)
    importlib.import_module(cli.COMMANDS[name]).configure(parser)
    return [option for action in parser._actions for option in action.option_strings]


@pytest.mark.asyncio
async def test_the_python_object_of_the_document_can_be_evaluated() -> None:
    [adapter_block, target_block, *_] = blocks(CONNECT, "python")
    names: dict[str, Any] = {}
    exec(adapter_block, names)
    exec(target_block, names)
    judge = {"id": "polite", "kind": "custom", "evaluator": "my-team.polite", "parameters": {}}
    step = {"id": "ask", "input": {"text": "Show lamps, please"}, "assertions": [judge]}
    suite = edge.SUITE | {"scenarios": [edge.SCENARIO | {"steps": [step], "assertions": []}]}

    target = names["target"]
    assert isinstance(target, RunnableTarget)
    for adapter in (names["adapter"], target.adapter("v1")):
        report = await edge.run_small(adapter, suite=suite, evaluators=names["evaluators"])
        assert report.cases[0].status == "passed"


def test_the_python_examples_of_the_readme_print_what_they_say(capsys: pytest.CaptureFixture[str]) -> None:
    tutorial, *others = blocks(README, "python")

    exec(tutorial, {})
    outcome = capsys.readouterr().out
    for source in others:
        exec(source, {})
    shown = capsys.readouterr().out
    promised = re.findall(r"print\(error.*\)  # (.*)", README)

    assert outcome == "completed 4 of 4\n"
    assert promised
    assert [promise for promise in promised if promise not in shown] == []


def test_every_link_of_the_readme_leads_to_a_document() -> None:
    links = re.findall(r"\]\(([^)]+)\)", README)

    assert links
    assert [link for link in links if not (DOCS.parent / link).is_file()] == []


@pytest.mark.asyncio
async def test_the_javascript_agent_of_the_document_can_be_evaluated(tmp_path: Path) -> None:
    node = shutil.which("node")
    assert node is not None, "node is needed for this test"
    [source] = blocks(CONNECT, "js")
    (tmp_path / "agent.mjs").write_text(source)
    heard = {"id": "heard", "kind": "check", "path": ["response", "text"], "operator": "equals", "value": "MORE"}
    suite = edge.SUITE | {"scenarios": [edge.SCENARIO | {"assertions": [heard]}]}

    report = await edge.run_small(CommandAdapter([node, str(tmp_path / "agent.mjs")]), suite=suite)

    assert report.cases[0].status == "passed"


@pytest.mark.parametrize("module", [http, command, processes])
def test_every_code_of_an_adapter_is_documented(module: Any) -> None:
    codes = [value for value in vars(module).values() if isinstance(value, str) and re.match("(HTTP|COMMAND)_", value)]

    assert codes
    assert [code for code in codes if code not in CONNECT] == []


@pytest.mark.parametrize("name", list(cli.COMMANDS))
def test_every_command_has_its_heading_and_every_option_its_place(name: str) -> None:
    heading = f"\n## {name}\n"

    assert heading in COMMAND_LINE
    section = COMMAND_LINE.split(heading)[1].split("\n## ")[0]
    assert [option for option in options_of(name) if f"`{option}" not in section] == []
