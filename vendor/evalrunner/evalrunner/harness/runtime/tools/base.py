"""What a tool is: a definition for the model and a way to carry out one call."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol, TypeVar

from evalrunner.data import Json, JsonObject
from evalrunner.harness.errors import ToolError
from evalrunner.harness.runtime.model import ToolDefinition

MOST_OUTPUT_BYTES: Final = 102_400
_STOPPING_S: Final = 2.0

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """What a call gave; ``exit_code`` is None unless a command ran, ``truncated`` says that the text was cut."""

    text: str
    exit_code: int | None = None
    truncated: bool = False


class Tool(Protocol):
    """Carries out the calls of one kind."""

    @property
    def definition(self) -> ToolDefinition:
        """Say what the model is told of the tool."""

    async def invoke(self, arguments: JsonObject) -> ToolOutput:
        """Carry out a call; ToolError when it fails. Nothing of it runs on after it was cancelled."""


class Arguments:
    """The arguments of a call, as a model made them up: each is checked when it is asked for."""

    def __init__(self, values: JsonObject) -> None:
        self._values = values

    def text(self, name: str) -> str:
        """Give a text that must be there."""
        value = self._get(name, str, "a string")
        if value is None:
            raise ToolError(f"missing argument: {name}")
        return value

    def text_or(self, name: str, default: str) -> str:
        value = self._get(name, str, "a string")
        return default if value is None else value

    def flag(self, name: str, default: bool) -> bool:
        value = self._get(name, bool, "true or false")
        return default if value is None else value

    def whole(self, name: str, default: int, *, least: int, most: int) -> int:
        """Give a whole number; one outside the bounds becomes the bound."""
        value = self._get(name, int, "a whole number")
        return default if value is None else min(max(value, least), most)

    def _get(self, name: str, kind: type[T], wanted: str) -> T | None:
        value: Json = self._values.get(name)
        if value is None:
            return None
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise ToolError(f"argument {name}: {wanted} expected")
        return value


def cut(text: str, limit: int = MOST_OUTPUT_BYTES) -> ToolOutput:
    """Give a text as the output of a tool: its first bytes up to the limit, whole characters only."""
    data = text.encode("utf-8", "replace")
    return ToolOutput(data[:limit].decode("utf-8", "ignore"), truncated=len(data) > limit)


async def in_thread(work: Callable[[threading.Event], T]) -> T:
    """Do blocking work in a thread.

    A thread cannot be cancelled: the work looks at the event it is given and ends when it is set, and a cancelled
    caller waits for that, so that nothing is written behind its back.
    """
    stop = threading.Event()
    task = asyncio.create_task(asyncio.to_thread(work, stop))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        stop.set()
        await asyncio.wait({task}, timeout=_STOPPING_S)
        if task.done():
            with contextlib.suppress(Exception, asyncio.CancelledError):
                task.result()
        raise
