"""Running a shell command in a process group of its own, within limits of time and output.

The output goes through pipes that we read ourselves: what is over the limit is thrown away as it arrives, so a command
that never stops talking fills neither memory nor disk; and a descendant that keeps a pipe open holds nobody up, because
only the end of the shell is waited for. Then the rest of its group is killed.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from asyncio.subprocess import Process
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL
from tempfile import TemporaryFile
from typing import Final

from evalrunner.adapters.processes import known_group

_PIECE: Final = 65_536
_MOST_LATE_PIECES: Final = 256


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended; ``code`` is 128 and the signal's number when a signal ended it, as shells have it."""

    code: int
    stdout: Captured
    stderr: Captured


class Captured:
    """The first and the last bytes of an output, each up to the limit."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._first, self._last = bytearray(), bytearray()
        self.size = 0

    def add(self, data: bytes) -> None:
        self.size += len(data)
        room = self._limit - len(self._first)
        if room > 0:
            self._first += data[:room]
        self._last += data
        if len(self._last) > 2 * self._limit:
            del self._last[: len(self._last) - self._limit]

    def first(self) -> str:
        return self._first.decode("utf-8", "replace")

    def last(self) -> str:
        return self._last[-self._limit :].decode("utf-8", "replace")


async def run_shell(
    command: str,
    folder: Path,
    environment: Mapping[str, str] | None,
    *,
    limit_s: float,
    output_bytes: int,
    stdin: bytes = b"",
) -> Ended:
    """Run a command through ``sh -c`` to its end.

    ``environment`` None: our own. OSError and ValueError when it cannot be started, TimeoutError at its limit. Whatever
    happens, also when cancelled, its whole process group is dead afterwards.
    """
    with TemporaryFile() as given, _reading(output_bytes) as (out, stdout), _reading(output_bytes) as (err, stderr):
        given.write(stdin)
        given.seek(0)
        process = await _start(command, folder, environment, given.fileno() if stdin else DEVNULL, out, err)
        with known_group(process.pid):
            try:
                async with asyncio.timeout(limit_s):
                    code = await process.wait()
            finally:
                await _end(process)  # what the command left running goes with it
    return Ended(code if code >= 0 else 128 - code, stdout, stderr)


async def _start(
    command: str, folder: Path, environment: Mapping[str, str] | None, stdin: int, stdout: int, stderr: int
) -> Process:
    """Start a command; one that is cancelled meanwhile has started or not, and is ended in any case."""
    starting = asyncio.create_task(
        asyncio.create_subprocess_exec(
            "sh",
            "-c",
            command,
            cwd=folder,
            env=environment,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
        )
    )
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        with contextlib.suppress(OSError, ValueError):
            await _end(await starting)
        raise


async def _end(process: Process) -> None:
    """Kill the whole group of a process; it may be gone already."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()


@contextlib.contextmanager
def _reading(limit: int) -> Iterator[tuple[int, Captured]]:
    """Make a pipe whose output is captured until the block ends; gives the end to write to."""
    loop, captured = asyncio.get_running_loop(), Captured(limit)
    reader, writer = os.pipe()
    os.set_blocking(reader, False)

    def take() -> bool:
        try:
            data = os.read(reader, _PIECE)
        except BlockingIOError:
            return False
        captured.add(data)
        if not data:
            loop.remove_reader(reader)
        return bool(data)

    loop.add_reader(reader, take)
    try:
        yield writer, captured
    finally:
        loop.remove_reader(reader)
        os.close(writer)
        # What is still in the pipe; somebody who left the group may go on writing, so not for ever.
        for _ in range(_MOST_LATE_PIECES):
            if not take():
                break
        os.close(reader)
