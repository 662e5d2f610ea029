"""The tool that runs shell commands."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest
from evalrunner.harness.runtime.tools.base import MOST_OUTPUT_BYTES
from evalrunner.harness.runtime.tools.shell import VARIABLES, ShellTool

from tests.runner.harness.runtime.processes import PATIENCE_S, is_alive, line_in, until_dead
from tests.runner.harness.runtime.tools.calling import call, failure

pytestmark = pytest.mark.asyncio


async def test_a_command_runs_in_the_workspace_and_tells_both_outputs(tmp_path: Path) -> None:
    output = await call(ShellTool(tmp_path), command="pwd; echo problem >&2")

    assert output.text == f"{tmp_path}\nproblem\n"
    assert (output.exit_code, output.truncated) == (0, False)


async def test_a_code_other_than_zero_is_a_result(tmp_path: Path) -> None:
    output = await call(ShellTool(tmp_path), command="echo why >&2; exit 3")

    assert (output.exit_code, output.text) == (3, "exit code 3\nwhy\n")


async def test_a_command_that_a_signal_ended_has_the_code_that_shells_give_it(tmp_path: Path) -> None:
    output = await call(ShellTool(tmp_path), command="kill -TERM $$")

    assert output.exit_code == 128 + signal.SIGTERM


async def test_a_command_sees_the_listed_variables_and_no_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SITE_SECRET", "s3cret")
    set_by_shells = {"PWD", "SHLVL", "_", "OLDPWD"}

    own = await call(ShellTool(tmp_path), command="env")
    given = await call(ShellTool(tmp_path, {"PATH": os.environ["PATH"], "EXTRA": "1"}), command="env")

    names = {line.partition("=")[0] for line in own.text.splitlines()}
    assert "PATH" in names
    assert names <= {*VARIABLES, *set_by_shells}
    assert {line.partition("=")[0] for line in given.text.splitlines()} - set_by_shells == {"PATH", "EXTRA"}


async def test_endless_output_is_cut_and_costs_no_memory(tmp_path: Path) -> None:
    output = await call(ShellTool(tmp_path), command="yes abcdefg | head -c 30000000; echo the end")

    assert output.truncated
    assert output.text == ("abcdefg\n" * MOST_OUTPUT_BYTES)[:MOST_OUTPUT_BYTES]


async def test_of_a_command_that_failed_the_end_of_the_output_is_kept(tmp_path: Path) -> None:
    output = await call(ShellTool(tmp_path), command="yes | head -c 300000; echo the end; exit 1")

    assert output.truncated
    assert output.text.startswith("exit code 1\n")
    assert output.text.endswith("y\nthe end\n")
    assert len(output.text.encode()) == MOST_OUTPUT_BYTES


async def test_output_that_is_no_text_is_shown_with_marks(tmp_path: Path) -> None:
    output = await call(ShellTool(tmp_path), command=r"printf '\377x'")

    assert output.text == "\ufffdx"


async def test_a_command_over_its_limit_is_killed_with_all_it_started(tmp_path: Path) -> None:
    tool = ShellTool(tmp_path, limit_s=2.0)

    error = await failure(tool, command="trap '' TERM; sleep 600 & echo $! > pid; wait")

    assert error == "the command took longer than 2 s and was killed"
    await until_dead(int(await line_in(tmp_path / "pid")))


async def test_what_a_command_leaves_in_the_background_dies_with_it(tmp_path: Path) -> None:
    output = await call(ShellTool(tmp_path), command="sleep 600 & echo $! > pid; echo done")

    assert output.text == "done\n"
    await until_dead(int(await line_in(tmp_path / "pid")))


async def test_somebody_who_leaves_the_group_and_keeps_the_output_open_holds_nobody_up(tmp_path: Path) -> None:
    output = await asyncio.wait_for(
        call(ShellTool(tmp_path), command="setsid sh -c 'echo $$ > pid; exec sleep 600' & sleep 0.2; echo done"),
        PATIENCE_S,
    )

    os.kill(int(await line_in(tmp_path / "pid")), signal.SIGKILL)
    assert output.text == "done\n"


async def test_a_cancelled_command_is_dead_when_the_call_ends(tmp_path: Path) -> None:
    task = asyncio.create_task(call(ShellTool(tmp_path), command="echo $$ > pid; sleep 600"))
    pid = int(await line_in(tmp_path / "pid"))

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert not is_alive(pid)


async def test_faults_of_a_command_are_told(tmp_path: Path) -> None:
    tool = ShellTool(tmp_path)

    assert await failure(tool) == "missing argument: command"
    assert await failure(tool, command="  ") == "empty command"
    assert "null character" in await failure(tool, command="a\0b")
    assert "No such file or directory" in await failure(ShellTool(tmp_path / "gone"), command="true")
