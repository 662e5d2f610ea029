"""Commands after the turns."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from evalrunner.harness.commands import judge_commands
from evalrunner.harness.scenarios import CommandExpectation

pytestmark = pytest.mark.asyncio


def shell(script: str, **members: Any) -> CommandExpectation:
    return CommandExpectation("sh", ("-c", script), **members)


async def judge(workspace: Path, *commands: CommandExpectation, environment: dict[str, str] | None = None) -> list[str]:
    return await judge_commands(commands, workspace, is_allowed=True, environment=environment)


async def test_nothing_is_started_unless_allowed(tmp_path: Path) -> None:
    sentences = await judge_commands([shell("touch a"), shell("touch b")], tmp_path, is_allowed=False, environment=None)

    assert sentences == ["post-run command expectations require --allow-post-run-commands"]
    assert names_in(tmp_path) == []
    assert await judge_commands([], tmp_path, is_allowed=False, environment=None) == []


async def test_code_and_output_are_held_against_what_is_expected(tmp_path: Path) -> None:
    command = shell("echo a; echo b >&2; exit 3", stdout_contains=("a", "c"), stderr_contains=("d",))

    assert await judge(tmp_path, shell("exit 3", exit_code=3), command) == [
        "post-run command 1 exit code mismatch: expected 0, got 3; command: sh -c echo a; echo b >&2; exit 3\n"
        "stdout:\na\n\nstderr:\nb\n",
        "post-run command 1 stdout missing substring: c",
        "post-run command 1 stderr missing substring: d",
    ]
    assert await judge(tmp_path, shell("exit 9", exit_code=None)) == []
    assert await judge(tmp_path, shell("kill -9 $$", exit_code=None)) == []


async def test_a_signal_is_no_code(tmp_path: Path) -> None:
    [sentence] = await judge(tmp_path, shell("kill -TERM $$", exit_code=-15))

    assert sentence.startswith("post-run command 0 exit code mismatch: expected -15, got signal; ")


async def test_output_that_is_no_text_is_shown_with_replacements(tmp_path: Path) -> None:
    assert await judge(tmp_path, shell("printf 'caf\\351'", stdout_contains=("caf\ufffd",))) == []


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        (
            CommandExpectation("no-such-xyz", ("--a", "b c")),
            "No such file or directory (os error 2); command: no-such-xyz --a b c",
        ),
        (CommandExpectation(""), "No such file or directory (os error 2); command: "),
        (CommandExpectation("true", cwd="gone"), "No such file or directory (os error 2); command: true"),
        (CommandExpectation("./plain.txt"), "Permission denied (os error 13); command: ./plain.txt"),
        (CommandExpectation("true", ("a\0",)), "nul byte found in provided data; command: true a\0"),
    ],
)
async def test_what_cannot_be_started_is_told(tmp_path: Path, command: CommandExpectation, sentence: str) -> None:
    (tmp_path / "plain.txt").write_text("x")

    assert await judge(tmp_path, command) == [f"post-run command 0 failed to start: {sentence}"]


async def test_the_folder_is_guarded(tmp_path: Path) -> None:
    (tmp_path / "dir").mkdir()

    assert await judge(tmp_path, shell("test $(basename $PWD) = dir", cwd="dir")) == []
    assert await judge(
        tmp_path, CommandExpectation("touch", ("x",), cwd="dir/.."), CommandExpectation("true", cwd="/")
    ) == [
        "post-run command 0 cwd `dir/..` has invalid path: parent traversal is not allowed",
        "post-run command 1 cwd `/` has invalid path: expected a relative path",
    ]
    assert not (tmp_path / "x").exists()


async def test_a_folder_behind_a_link_is_one_of_the_workspace_or_refused(tmp_path: Path) -> None:
    workspace, outside = tmp_path / "workspace", tmp_path / "outside"
    (workspace / "dir").mkdir(parents=True)
    outside.mkdir()
    (workspace / "inner").symlink_to("dir", target_is_directory=True)
    (workspace / "out").symlink_to(outside, target_is_directory=True)

    assert await judge(
        workspace, CommandExpectation("touch", ("x",), cwd="inner"), CommandExpectation("touch", ("x",), cwd="out")
    ) == ["post-run command 1 cwd `out` has invalid path: symbolic link leaves the workspace"]
    assert (workspace / "dir" / "x").exists()
    assert not (outside / "x").exists()


async def test_standard_input_is_empty_and_the_environment_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HARNESS_TEST", "seen")

    with our_input("secret"):
        [sentence] = await judge(tmp_path, shell("cat; echo $HARNESS_TEST", exit_code=9))

    assert "\nstdout:\nseen\n\nstderr:" in sentence
    given = {"PATH": os.environ["PATH"], "ONLY": "this"}
    only = shell("echo [$HARNESS_TEST] [$ONLY]", stdout_contains=("[] [this]",))
    assert await judge(tmp_path, only, environment=given) == []


async def test_a_limit_ends_the_whole_group(tmp_path: Path) -> None:
    command = shell("(sleep 60; touch late) & echo $! > child; sleep 60", timeout_ms=300)

    sentences = await judge(tmp_path, command, CommandExpectation("true"))

    assert sentences == [f"post-run command 0 timed out after 300 ms: sh -c {command.args[1]}"]
    await ended(int((tmp_path / "child").read_text()))


async def test_what_a_command_leaves_running_ends_with_it_and_holds_up_nobody(tmp_path: Path) -> None:
    began = time.monotonic()

    assert await judge(tmp_path, shell("sleep 60 & echo $! > child; echo hi", stdout_contains=("hi",))) == []

    assert time.monotonic() - began < 30
    await ended(int((tmp_path / "child").read_text()))


async def test_a_cancelled_command_ends_with_its_group(tmp_path: Path) -> None:
    task = asyncio.create_task(judge(tmp_path, shell("sleep 60 & echo $! > child; wait")))
    async with asyncio.timeout(30):
        while not (tmp_path / "child").exists() or not (tmp_path / "child").read_text():  # noqa: ASYNC110
            await asyncio.sleep(0.01)

    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    await ended(int((tmp_path / "child").read_text()))


async def ended(process: int) -> None:
    """Wait until a process has ended; what nobody has taken leave of (a zombie) has."""
    async with asyncio.timeout(30):
        while is_running(process):  # noqa: ASYNC110 (the system tells nobody)
            await asyncio.sleep(0.01)


@contextlib.contextmanager
def our_input(text: str) -> Iterator[None]:
    """Let this text wait on the standard input of this process."""
    before, (reader, writer) = os.dup(0), os.pipe()
    os.write(writer, text.encode())
    os.close(writer)
    os.dup2(reader, 0)
    try:
        yield
    finally:
        os.dup2(before, 0)
        os.close(before)
        os.close(reader)


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def is_running(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"
