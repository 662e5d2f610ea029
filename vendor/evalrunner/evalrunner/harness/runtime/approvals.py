"""Who may carry out a call, and the life of one call with all its events."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from evalrunner.data import thaw
from evalrunner.harness.errors import ToolError
from evalrunner.harness.permissions import ALLOWED, DENIED, decide
from evalrunner.harness.runtime import events
from evalrunner.harness.runtime.base import SessionSpec
from evalrunner.harness.runtime.calls import Hooks
from evalrunner.harness.runtime.events import EventLog, new_id
from evalrunner.harness.runtime.model import ToolCall, ToolDefinition
from evalrunner.harness.runtime.tools.base import Tool, ToolOutput
from evalrunner.harness.tool_effects import MCP, classify_tool

Approvals: TypeAlias = Literal["deny", "allow", "wait"]

NO_APPROVER: Final = "no approver in headless mode"
BROKEN_OFF: Final = "cancelled"
_CUT: Final = "\n[the output was cut]"
_PREVIEW: Final = 500
_EXPLAINED: Final = {
    "sandbox": "the sandbox policy forbids it (sandbox)",
    "never_asks": "it needs an approval and the approval policy never asks (never_asks)",
    "untrusted_mcp_server": "its MCP server is not trusted (untrusted_mcp_server)",
}


@dataclass(frozen=True, slots=True)
class Approver:
    """Answers questions of a session: nobody is there, so it is settled before which way they go."""

    spec: SessionSpec
    mode: Approvals = "deny"
    trusted_servers: Collection[str] = ()

    def decide(self, call: ToolCall) -> tuple[str, str | None]:
        """Say what the session's policies make of a call: the decision and the code of its reason."""
        kind = classify_tool(call.tool_id, call.arguments)
        effect: dict[str, Any] = {"kind": kind}
        if kind == MCP:
            effect["server"] = server_of(call.tool_id)
        return decide(
            self.spec.approval_policy,
            self.spec.sandbox_policy,
            effect,
            workspace=str(self.spec.workspace),
            trusted_servers=self.trusted_servers,
        )

    async def answer(self) -> str | None:
        """Give the reason of a refusal, None for a grant; in mode ``wait`` there is no answer, ever."""
        if self.mode == "wait":
            await asyncio.Event().wait()
        return None if self.mode == "allow" else NO_APPROVER


def server_of(tool_id: str) -> str:
    """Give the server of ``mcp.{server}.{tool}``; ids of servers have no dots."""
    return tool_id.split(".")[1]


class ToolRunner:
    """Carries out the calls of one session, one after the other."""

    def __init__(
        self,
        tools: Mapping[str, Tool],
        approver: Approver,
        log: EventLog,
        hooks: Hooks,
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._tools, self._approver, self._log, self._hooks = tools, approver, log, hooks
        self._now_s = now_s

    def definitions(self) -> Sequence[ToolDefinition]:
        return [tool.definition for tool in self._tools.values()]

    async def run(self, call: ToolCall) -> str:
        """Decide on a call, carry it out, and give the text for the model; see ``CallRunner``."""
        refusal = await self._refusal(call)
        if refusal is not None:
            self._log.add(events.PERMISSION_DENIED, request_id=call.id, reason=refusal)
            return f"Permission denied: {refusal}"
        self._log.add(events.PERMISSION_GRANTED, request_id=call.id)
        return await self._carry_out(call)

    async def _refusal(self, call: ToolCall) -> str | None:
        """Give the reason why a call is refused, None when it may run."""
        decision, code = self._approver.decide(call)
        if decision == ALLOWED:
            return None
        if decision == DENIED:
            return _EXPLAINED.get(code or "", code or decision)
        self._log.add(
            events.PERMISSION_REQUESTED, request_id=call.id, tool_id=call.tool_id, preview=_preview(call), reason=code
        )
        try:
            await self._hooks.fire("PermissionRequest", call.tool_id, {"call_id": call.id, "reason": code})
            return await self._approver.answer()
        except asyncio.CancelledError:
            self._log.add(events.PERMISSION_DENIED, request_id=call.id, reason=BROKEN_OFF)
            raise

    async def _carry_out(self, call: ToolCall) -> str:
        task_id = new_id("task")
        self._log.add(events.TASK_CREATED, task_id=task_id, title=call.tool_id, role="Worker", dependencies=[])
        self._log.add(events.TASK_STARTED, task_id=task_id)
        self._log.add(events.TOOL_STARTED, invocation_id=call.id, tool_id=call.tool_id, input_preview=_preview(call))
        began = self._now_s()
        try:
            await self._hooks.fire("PreToolUse", call.tool_id, _told(call))
            output = await self._invoke(call)
        except ToolError as error:
            self._fail(call, task_id, str(error))
            await self._hooks.fire("PostToolUse", call.tool_id, {**_told(call), "error": str(error)})
            return f"Error: {error}"
        except asyncio.CancelledError:
            self._fail(call, task_id, BROKEN_OFF)
            raise
        self._complete(call, task_id, output, int((self._now_s() - began) * 1000))
        await self._hooks.fire("PostToolUse", call.tool_id, {**_told(call), "output": output.text})
        return output.text + (_CUT if output.truncated else "")

    async def _invoke(self, call: ToolCall) -> ToolOutput:
        tool = self._tools.get(call.tool_id)
        if tool is None:
            raise ToolError(f"unknown tool: {call.tool_id}")
        try:
            return await tool.invoke(call.arguments)
        except ToolError:
            raise
        except Exception as error:  # one tool must not end the session, whatever befalls it
            raise ToolError(f"{type(error).__name__}: {error}") from error

    def _complete(self, call: ToolCall, task_id: str, output: ToolOutput, duration_ms: int) -> None:
        self._log.add(
            events.TOOL_COMPLETED,
            invocation_id=call.id,
            tool_id=call.tool_id,
            output_preview=output.text[-_PREVIEW:] if output.exit_code else output.text[:_PREVIEW],
            exit_code=output.exit_code,
            duration_ms=duration_ms,
            truncated=output.truncated,
            images=[],
        )
        self._log.add(events.TASK_COMPLETED, task_id=task_id)

    def _fail(self, call: ToolCall, task_id: str, error: str) -> None:
        self._log.add(events.TOOL_FAILED, invocation_id=call.id, tool_id=call.tool_id, error=error)
        self._log.add(events.TASK_FAILED, task_id=task_id, error=error)


def _preview(call: ToolCall) -> str:
    return f"{call.tool_id}({json.dumps(thaw(call.arguments), ensure_ascii=False, separators=(',', ':'))})"


def _told(call: ToolCall) -> dict[str, Any]:
    return {"call_id": call.id, "tool_id": call.tool_id, "arguments": thaw(call.arguments)}
