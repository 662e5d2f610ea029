"""Programs for the command adapter, and what becomes of their processes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from evalrunner.adapters.command import CommandAdapter, CommandSession

from tests.runner import edge

PREAMBLE = """
import json, os, signal, subprocess, sys, time

def messages():
    for line in sys.stdin:
        yield json.loads(line)

def answer(message, **members):
    print(json.dumps({"seq": message["seq"], **members}), flush=True)
"""

WriteProgram = Callable[..., CommandAdapter]


async def turn_code(adapter: CommandAdapter) -> str | None:
    session = await adapter.open(edge.open_context())
    code = await edge.code_of(session.send({"text": "hello"}, edge.send_context()))
    await session.close()
    return code


def lives(pid: int) -> bool:
    """Tell whether a process still does anything; a zombie that nobody has collected does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110 (a foreign process tells nobody that it ended)
            await asyncio.sleep(0.01)


async def ask(session: CommandSession) -> Any:
    return (await session.send({"text": "hello"}, edge.send_context()))["observation"]
