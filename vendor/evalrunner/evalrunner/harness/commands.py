"""Commands after the turns (SPEC 3): opt-in, without a shell, each with its process group."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL
from tempfile import TemporaryFile
from typing import IO, Final

from evalrunner.harness.files import os_text
from evalrunner.harness.scenarios import CommandExpectation
from evalrunner.harness.workspace import path_fault

NOT_ALLOWED: Final = "post-run command expectations require --allow-post-run-commands"


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended; ``code`` None: by a signal."""

    code: int | None
    stdout: str
    stderr: str


async def judge_commands(
    expected: Sequence[CommandExpectation], workspace: Path, *, is_allowed: bool, environment: Mapping[str, str] | None
) -> list[str]:
    """Run all commands in order and give their sentences; ``environment`` None: our own.

    Unless allowed, nothing is started and there is one sentence. A cancelled command is killed with its group.
    """
    if expected and not is_allowed:
        return [NOT_ALLOWED]
    sentences = []
    for number, command in enumerate(expected):
        sentences += await _judge(f"post-run command {number}", command, workspace, environment)
    return sentences


async def _judge(
    name: str, command: CommandExpectation, workspace: Path, environment: Mapping[str, str] | None
) -> list[str]:
    shown = " ".join((command.program, *command.args))
    fault = None if command.cwd is None else path_fault(command.cwd, workspace)
    if fault is not None:
        return [f"{name} cwd `{command.cwd}` has invalid path: {fault}"]
    try:
        ended = await _run(command, workspace / (command.cwd or ""), environment)
    except TimeoutError:
        return [f"{name} timed out after {command.timeout_ms} ms: {shown}"]
    except OSError as error:
        return [f"{name} failed to start: {os_text(error)}; command: {shown}"]
    except ValueError:
        return [f"{name} failed to start: nul byte found in provided data; command: {shown}"]
    return _judge_end(name, shown, command, ended)


def _judge_end(name: str, shown: str, command: CommandExpectation, ended: Ended) -> list[str]:
    sentences = []
    if command.exit_code is not None and ended.code != command.exit_code:
        got = "signal" if ended.code is None else ended.code
        sentences.append(
            f"{name} exit code mismatch: expected {command.exit_code}, got {got}; command: {shown}\n"
            f"stdout:\n{ended.stdout}\nstderr:\n{ended.stderr}"
        )
    sentences += [f"{name} stdout missing substring: {e}" for e in command.stdout_contains if e not in ended.stdout]
    sentences += [f"{name} stderr missing substring: {e}" for e in command.stderr_contains if e not in ended.stderr]
    return sentences


async def _run(command: CommandExpectation, folder: Path, environment: Mapping[str, str] | None) -> Ended:
    """Run a command to its end; OSError and ValueError if it cannot be started, TimeoutError at its limit.

    Its output goes to files: a descendant that keeps a pipe open would hold up whoever reads it.
    """
    if not command.program:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))  # the search in PATH would find folders
    with TemporaryFile() as out, TemporaryFile() as err:
        process = await asyncio.create_subprocess_exec(
            command.program,
            *command.args,
            cwd=folder,
            env=environment,
            stdin=DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
        try:
            async with asyncio.timeout(None if command.timeout_ms is None else command.timeout_ms / 1000):
                code = await process.wait()
        finally:
            _kill_group(process.pid)  # what the command left running goes with it
            await process.wait()
        return Ended(code if code >= 0 else None, _text_of(out), _text_of(err))


def _kill_group(group: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def _text_of(output: IO[bytes]) -> str:
    output.seek(0)
    return output.read().decode("utf-8", "replace")
