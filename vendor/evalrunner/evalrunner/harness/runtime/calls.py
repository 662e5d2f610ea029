"""The seam between a session's turns and the tools: who carries out one call, and who is told of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from evalrunner.data import JsonObject
from evalrunner.harness.runtime.model import ToolCall, ToolDefinition


class CallRunner(Protocol):
    """Carries out the calls of one session under its policies, one after the other."""

    def definitions(self) -> Sequence[ToolDefinition]:
        """List the tools that the model is told of."""

    async def run(self, call: ToolCall) -> str:
        """Decide on a call, carry it out, record all its events, and give the text for the model.

        Nothing is raised but CancelledError: a refusal and a failure are texts too. When cancelled, the events of a
        call that is broken off (PermissionDenied, or ToolInvocationFailed and AgentTaskFailed) are recorded first.
        """


class Hooks(Protocol):
    """Is told of what happens in a session."""

    async def fire(self, event: str, matcher: str, payload: JsonObject) -> None:
        """Run the hooks of an event and wait for them; a failing hook is a warning, never an error."""


class NoHooks:
    """Tells nobody."""

    async def fire(self, event: str, matcher: str, payload: JsonObject) -> None:
        """Do nothing."""
