"""The seam between a session's turns and the tools: who carries out one call, and who is told of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from evalrunner.data import JsonObject
from evalrunner.harness.runtime import events
from evalrunner.harness.runtime.events import EventLog
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


class NoTools:
    """Knows no tool: every call is granted, starts, and fails."""

    def __init__(self, log: EventLog) -> None:
        self._log = log

    def definitions(self) -> Sequence[ToolDefinition]:
        return ()

    async def run(self, call: ToolCall) -> str:
        error = f"unknown tool: {call.tool_id}"
        task_id = events.new_id("task")
        add = self._log.add
        add(events.PERMISSION_GRANTED, request_id=call.id)
        add(events.TASK_CREATED, task_id=task_id, title=call.tool_id, role="Worker", dependencies=[])
        add(events.TASK_STARTED, task_id=task_id)
        add(events.TOOL_STARTED, invocation_id=call.id, tool_id=call.tool_id, input_preview=call.tool_id)
        add(events.TOOL_FAILED, invocation_id=call.id, tool_id=call.tool_id, error=error)
        add(events.TASK_FAILED, task_id=task_id, error=error)
        return error
