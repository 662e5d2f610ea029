"""Usage: wrong flags, unknown commands, help."""

from __future__ import annotations

from pathlib import Path

import pytest
from evalrunner import cli

from tests.runner.cli.commands import evalrunner


@pytest.mark.parametrize("command", list(cli.COMMANDS))
def test_a_wrong_flag_exits_with_the_usage_status_of_its_command(folder: Path, command: str) -> None:
    done = evalrunner(folder, command, "--no-such-flag")

    expected = {"run": 2, "validate": 2, "gate": 4, "list": 4, "compare": 4, "push": 4, "scenarios": 1}[command]
    assert (done.returncode, done.stdout) == (expected, "")
    assert f"evalrunner {command}: " in done.stderr


@pytest.mark.parametrize("command", list(cli.COMMANDS))
def test_every_command_explains_itself(folder: Path, command: str) -> None:
    done = evalrunner(folder, command, "--help")

    assert (done.returncode, done.stderr) == (0, "")
    assert f"usage: evalrunner {command}" in done.stdout


@pytest.mark.parametrize("arguments", [["frobnicate"], [], ["--frobnicate"], ["runn"]])
def test_an_unknown_command_exits_with_4_and_names_the_known_ones(folder: Path, arguments: list[str]) -> None:
    done = evalrunner(folder, *arguments)

    assert (done.returncode, done.stdout) == (4, "")
    assert ", ".join(cli.COMMANDS) in done.stderr


def test_the_overview_lists_every_command(folder: Path) -> None:
    done = evalrunner(folder, "--help")

    assert done.returncode == 0
    assert all(f"  {command} " in done.stdout for command in cli.COMMANDS)
