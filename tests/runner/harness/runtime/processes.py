"""Looking at processes in tests."""

from __future__ import annotations

import asyncio
from pathlib import Path

PATIENCE_S = 20


def is_alive(pid: int) -> bool:
    """Tell whether a process still runs; one that is dead and not yet collected does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


async def until_dead(pid: int) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while is_alive(pid):  # noqa: ASYNC110 (the system tells nobody that a foreign process has ended)
            await asyncio.sleep(0.01)


async def line_in(path: Path) -> str:
    """Wait for the line that a process writes to a file."""
    async with asyncio.timeout(PATIENCE_S):
        while not (text := _text(path)).endswith("\n"):  # noqa: ASYNC110 (a file tells nobody)
            await asyncio.sleep(0.01)
    return text.strip()


def _text(path: Path) -> str:
    return path.read_text() if path.exists() else ""
