"""Processes that are ended together with everything they started.

A program is started as the leader of its own session, so its process group holds its descendants (unless they leave it
on purpose) and no signal of our terminal reaches them. Ending is TERM, a moment to tidy up, then KILL.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path
from subprocess import DEVNULL, PIPE
from typing import Final

from evalrunner.errors import EvaluationError

NOT_STARTED: Final = "COMMAND_NOT_STARTED"
BASE_VARIABLES: Final = ("PATH", "HOME", "LANG", "TMPDIR")

_LOOK_AGAIN_S: Final = 0.01

# Groups that were not ended yet, by their id: a host that must leave at once ends them with kill_all_groups().
_living: set[int] = set()
# Starts that are under way: asyncio lets the program run some turns of the loop before it tells its id.
_starting: set[object] = set()


def environment(variables: Sequence[str]) -> dict[str, str]:
    """Give what a program may see of our environment: the base variables and those named, as far as they are set."""
    return {name: os.environ[name] for name in (*BASE_VARIABLES, *variables) if name in os.environ}


def kill_all_groups() -> None:
    """Kill every program that still runs, for a host that is about to end without waiting for anything."""
    for group in {*_living, *(_session_leaders() if _starting else ())}:
        _signal_group(group, signal.SIGKILL)


@contextlib.contextmanager
def known_group(group: int) -> Iterator[None]:
    """Let kill_all_groups() know of a group that somebody else ends, as long as the block lasts."""
    _living.add(group)
    try:
        yield
    finally:
        _living.discard(group)


def _session_leaders() -> list[int]:
    """Give our children that lead a session of their own; none where the system does not list children (not Linux)."""
    leaders = []
    for listing in Path("/proc/self/task").glob("*/children"):
        with contextlib.suppress(OSError):
            leaders += [pid for pid in map(int, listing.read_text().split()) if os.getsid(pid) == pid]
    return leaders


def _signal_group(group: int, number: int) -> bool:
    """Send a signal to a group (0 only looks); False when nobody is left in it.

    The leader may be gone while its children live. An id can only name a foreign group if the whole group ended and
    the id was given away again in between; ids are given away in turn, so that needs a whole round of them.
    """
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


class ProcessGroup:
    """A running program with pipes to its standard input and output."""

    def __init__(self, process: asyncio.subprocess.Process, term_grace_s: float) -> None:
        self._process = process
        self._term_grace_s = term_grace_s
        self._ended = False
        _living.add(process.pid)
        assert process.stdin is not None and process.stdout is not None
        self.stdin: asyncio.StreamWriter = process.stdin
        self.stdout: asyncio.StreamReader = process.stdout

    @classmethod
    async def start(
        cls,
        argv: Sequence[str],
        *,
        variables: Sequence[str],
        folder: Path | None,
        max_line_bytes: int,
        term_grace_s: float,
        show_stderr: bool,
    ) -> ProcessGroup:
        """Start a program without a shell; EvaluationError COMMAND_NOT_STARTED when the system refuses."""
        start = object()
        _starting.add(start)
        try:
            process = await asyncio.create_subprocess_exec(
                *argv,
                stdin=PIPE,
                stdout=PIPE,
                stderr=None if show_stderr else DEVNULL,
                cwd=folder,
                env=environment(variables),
                start_new_session=True,
                limit=max_line_bytes,
            )
        except (OSError, ValueError):
            raise EvaluationError(NOT_STARTED) from None
        else:
            return cls(process, term_grace_s)
        finally:
            _starting.discard(start)

    async def wait(self) -> None:
        """Wait for the program to end by itself."""
        await self._process.wait()

    async def end(self) -> None:
        """End the whole group and wait for the program; safe to call again, and KILL is sent even when cancelled."""
        if self._ended:
            return
        self._ended = True
        group = self._process.pid
        try:
            self.stdin.close()
            if _signal_group(group, signal.SIGTERM):
                await self._wait_for_group(group)
        finally:
            _signal_group(group, signal.SIGKILL)
            _living.discard(group)
        # A descendant that left the group may hold the pipes for ever: don't wait for it.
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(self._term_grace_s):
                await self._process.wait()
                await self.stdin.wait_closed()

    async def _wait_for_group(self, group: int) -> None:
        """Give the group its moment; descendants are no children of ours, so they can only be looked at."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._term_grace_s):
                await self._process.wait()
                while _signal_group(group, 0):  # noqa: ASYNC110 (the system tells nobody that a group is empty)
                    await asyncio.sleep(_LOOK_AGAIN_S)
