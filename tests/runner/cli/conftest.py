"""A folder with a suite and a host's module, as a user has them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.runner import edge

HOST = """
import asyncio, os, sys, threading, time
from pathlib import Path
from evalrunner.adapters.base import OpenContext
from evalrunner.targets import RunnableTarget

def say(text):
    print(text, file=sys.stderr, flush=True)

class Session:
    def __init__(self, waits):
        self.waits = waits

    async def send(self, input, context):
        say(f"turn {context.step_id}")
        if context.step_id == "again" and not Path("go").exists():
            say("waiting")
            await self.waits()
        return {"observation": dict(input), "checkpoint": {"at": context.step_id}}

class Adapter:
    id, version, supports_resume = "host", "1", True
    evaluators = {"never": lambda context, parameters: {"passed": False}}

    def __init__(self, waits=None):
        self.waits = waits or self.for_ever

    async def for_ever(self):
        await asyncio.sleep(600)

    async def open(self, context):
        return Session(self.waits)

async def hold_up_the_loop():
    time.sleep(600)

async def hold_up_a_thread():
    await asyncio.to_thread(time.sleep, 600)

async def ignore_cancellation():
    while True:
        try:
            await asyncio.sleep(600)
        except asyncio.CancelledError:
            say("ignored")

async def remove_folder():
    while not Path("reports/out.json").exists():
        await asyncio.sleep(0.01)
    Path("reports/out.json").unlink()
    Path("reports").rmdir()

adapter = Adapter()
blocked, threaded, stubborn, removing = (
    Adapter(waits) for waits in (hold_up_the_loop, hold_up_a_thread, ignore_cancellation, remove_folder)
)
target = RunnableTarget("bot", lambda fingerprint: adapter)
number = 7
no_functions = {"judge": "text"}

def fails():
    raise RuntimeError("no model configured")

def leaves():
    raise SystemExit("left")
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a suite and a module of the host."""
    (tmp_path / "suite.json").write_text(json.dumps(edge.SUITE))
    (tmp_path / "host.py").write_text(HOST)
    return tmp_path


@pytest.fixture
def go(folder: Path) -> Path:
    """Let the agent answer everything at once."""
    (folder / "go").touch()
    return folder
