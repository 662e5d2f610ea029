"""A runtime whose sessions do what a test says."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from evalrunner.harness.runtime.base import SessionSpec
from evalrunner.harness.runtime.events import Event, EventLog

Script = Callable[["ScriptedSession", str], Awaitable[None]]


class ScriptedSession:
    """Calls the script for each message; keeps what the harness did to it in ``story``."""

    def __init__(self, spec: SessionSpec, script: Script) -> None:
        self.spec, self.script = spec, script
        self.log = EventLog("wrk_test")
        self.story: list[str] = []

    def answer(self, text: str) -> None:
        self.log.add("AssistantMessageCompleted", message_id="m", content=text)

    async def send(self, prompt: str) -> None:
        self.story.append(f"send {prompt}")
        self.log.add("UserMessageAdded", message_id="m", content=prompt)
        try:
            await self.script(self, prompt)
        except asyncio.CancelledError:
            self.story.append("cancelled")
            self.log.add("SessionCancelled", reason="test")
            raise

    def events(self) -> Sequence[Event]:
        return self.log.snapshot()

    def cancel(self, reason: str) -> None:
        self.story.append("cancel")

    async def close(self) -> None:
        self.story.append("close")


class ScriptedRuntime:
    """Opens scripted sessions; ``fault`` is raised instead."""

    def __init__(self, script: Script, fault: Exception | None = None) -> None:
        self.script, self.fault = script, fault
        self.sessions: list[ScriptedSession] = []
        self.story: list[str] = []

    def default_profile(self) -> str:
        return "default"

    async def start(self) -> None:
        self.story.append("start")

    async def open(self, spec: SessionSpec) -> Any:
        if self.fault is not None:
            raise self.fault
        self.sessions.append(ScriptedSession(spec, self.script))
        return self.sessions[-1]

    async def close(self) -> None:
        self.story.append("close")


async def say_hello(session: ScriptedSession, prompt: str) -> None:
    session.answer(f"hello {prompt}")
