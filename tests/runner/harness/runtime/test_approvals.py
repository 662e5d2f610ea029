"""Who may carry out a call, and the events of its life."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from evalrunner.harness.policies import SandboxPolicy
from evalrunner.harness.runtime.approvals import NO_APPROVER, Approver, server_of
from evalrunner.harness.runtime.base import SessionSpec
from evalrunner.harness.runtime.model import ToolCall

from tests.runner.harness.runtime.conversations import calling, conversation, payload, scripted, talk, types
from tests.runner.harness.runtime.processes import PATIENCE_S, is_alive, line_in

GRANTED = ["PermissionGranted", "AgentTaskCreated", "AgentTaskStarted", "ToolInvocationStarted"]
DONE = [*GRANTED, "ToolInvocationCompleted", "AgentTaskCompleted"]
FAILED = [*GRANTED, "ToolInvocationFailed", "AgentTaskFailed"]
DENIED = ["PermissionDenied"]
ASKED_AND_DENIED = ["PermissionRequested", "PermissionDenied"]

Call = tuple[str, dict[str, Any]]

READ: Call = ("fs.list", {})
WRITE = ("fs.write", {"path": "new.txt", "content": "x"})
REMOVE = ("shell.exec", {"command": "rm -f kept.txt"})
ADD = ("patch.apply", {"patch": "--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+x\n"})
SHELL_READ = ("shell.exec", {"command": "ls"})
UNKNOWN = ("db.query", {"sql": "drop"})
MCP: Call = ("mcp.nowhere.tool", {})


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("approval", "sandbox", "call", "follows"),
    [
        ("never", "read_only", READ, DONE),
        ("never", "read_only", SHELL_READ, DONE),
        ("never", "read_only", WRITE, DENIED),
        ("never", "read_only", REMOVE, DENIED),
        ("never", "workspace_write", WRITE, DONE),
        ("never", "workspace_write", REMOVE, DENIED),
        ("never", "workspace_write", ADD, DENIED),
        ("never", "danger_full_access", REMOVE, DONE),
        ("never", "danger_full_access", MCP, DENIED),
        ("on_request", "read_only", WRITE, DENIED),
        ("on_request", "read_only", ADD, DENIED),
        ("on_request", "workspace_write", WRITE, DONE),
        ("on_request", "workspace_write", REMOVE, ASKED_AND_DENIED),
        ("on_request", "workspace_write", ADD, ASKED_AND_DENIED),
        ("on_request", "danger_full_access", REMOVE, ASKED_AND_DENIED),
        ("on_request", "workspace_write", MCP, ASKED_AND_DENIED),
        ("on_request", "read_only", UNKNOWN, FAILED),
        ("always", "read_only", READ, DONE),
        ("always", "read_only", WRITE, DENIED),
        ("always", "workspace_write", WRITE, ASKED_AND_DENIED),
        ("always", "danger_full_access", SHELL_READ, DONE),
        ("always", "danger_full_access", REMOVE, ASKED_AND_DENIED),
    ],
)
async def test_policies_decide_what_happens_to_a_call(
    tmp_path: Path, approval: str, sandbox: Any, call: Call, follows: list[str]
) -> None:
    (tmp_path / "kept.txt").write_text("")
    spec = {"approval_policy": approval, "sandbox_policy": SandboxPolicy(sandbox)}

    told, _ = await talk(scripted(calling(call[0], **call[1])), tmp_path, spec=spec)

    start = types(told).index("AssistantMessageCompleted") + 1
    end = types(told).index("ModelTokenDelta", start)
    assert types(told)[start:end] == follows
    assert (tmp_path / "kept.txt").exists() == (call is not REMOVE or follows is not DONE)
    assert (tmp_path / "new.txt").exists() == (call in (WRITE, ADD) and follows is DONE)
    assert types(told)[-1] == "AgentTaskCompleted"


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("spec", "call", "reason"),
    [
        ({"sandbox_policy": SandboxPolicy("read_only")}, WRITE, "(sandbox)"),
        ({"approval_policy": "never"}, REMOVE, "(never_asks)"),
        ({"approval_policy": "never"}, MCP, "(untrusted_mcp_server)"),
        ({}, REMOVE, NO_APPROVER),
    ],
)
async def test_a_refusal_says_why_to_the_reader_and_to_the_model(
    tmp_path: Path, spec: dict[str, Any], call: Call, reason: str
) -> None:
    told, session = await talk(scripted(calling(call[0], **call[1])), tmp_path, spec=spec)

    denied = payload(told, "PermissionDenied")
    assert denied["request_id"] == "c1"
    assert reason in denied["reason"]
    assert session.messages[-2].content == f"Permission denied: {denied['reason']}"


@pytest.mark.asyncio
async def test_a_question_shows_the_call_and_may_be_allowed(tmp_path: Path) -> None:
    (tmp_path / "kept.txt").write_text("")

    told, _ = await talk(scripted(calling(*REMOVE[:1], **REMOVE[1])), tmp_path, approvals="allow")

    asked = payload(told, "PermissionRequested")
    assert (asked["tool_id"], asked["preview"]) == ("shell.exec", 'shell.exec({"command":"rm -f kept.txt"})')
    assert types(told)[types(told).index("PermissionRequested") :][1:][: len(DONE)] == DONE
    assert not (tmp_path / "kept.txt").exists()


@pytest.mark.asyncio
async def test_a_question_that_waits_is_denied_when_the_session_is_cancelled(tmp_path: Path) -> None:
    async with conversation(scripted(calling(*REMOVE[:1], **REMOVE[1])), tmp_path, approvals="wait") as session:
        task = asyncio.create_task(session.send("go"))
        async with asyncio.timeout(PATIENCE_S):
            while "PermissionRequested" not in types(session.events()):  # noqa: ASYNC110 (events are only read)
                await asyncio.sleep(0)
        session.cancel("time is up")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    assert types(session.events())[-4:] == [
        "PermissionRequested",
        "PermissionDenied",
        "TaskCancelled",
        "SessionCancelled",
    ]
    assert session.events()[-1].payload["reason"] == "time is up"


@pytest.mark.asyncio
async def test_a_running_tool_is_broken_off_when_the_session_is_cancelled(tmp_path: Path) -> None:
    step = calling("shell.exec", command="echo $$ > pid; sleep 600")
    async with conversation(scripted(step), tmp_path, approvals="allow") as session:
        task = asyncio.create_task(session.send("go"))
        pid = int(await line_in(tmp_path / "pid"))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    assert not is_alive(pid)
    assert types(session.events())[-4:] == [
        "ToolInvocationFailed",
        "AgentTaskFailed",
        "TaskCancelled",
        "SessionCancelled",
    ]


@pytest.mark.asyncio
async def test_a_completed_call_shows_its_output_code_and_time(tmp_path: Path) -> None:
    told, session = await talk(scripted(calling("shell.exec", command="echo hi")), tmp_path)

    done = payload(told, "ToolInvocationCompleted")
    assert done["duration_ms"] >= 0
    assert {key: done[key] for key in done if key != "duration_ms"} == {
        "invocation_id": "c1",
        "tool_id": "shell.exec",
        "output_preview": "hi\n",
        "exit_code": 0,
        "truncated": False,
        "images": [],
    }
    assert payload(told, "ToolInvocationStarted")["input_preview"] == 'shell.exec({"command":"echo hi"})'
    assert (session.messages[-2].role, session.messages[-2].content) == ("tool", "hi\n")


@pytest.mark.asyncio
async def test_a_preview_shows_the_beginning_or_the_end_of_a_command_that_failed(tmp_path: Path) -> None:
    long = "printf 'first'; yes | head -c 2000; printf 'last'"

    good, _ = await talk(scripted(calling("shell.exec", command=long)), tmp_path)
    bad, _ = await talk(scripted(calling("shell.exec", command=f"{long}; exit 1")), tmp_path)

    previews = [payload(told, "ToolInvocationCompleted")["output_preview"] for told in (good, bad)]
    assert [len(preview) for preview in previews] == [500, 500]
    assert previews[0].startswith("first")
    assert previews[1].endswith("last")


@pytest.mark.asyncio
async def test_the_model_is_told_when_an_output_was_cut(tmp_path: Path) -> None:
    (tmp_path / "large.txt").write_text("x" * 200_000)

    told, session = await talk(scripted(calling("fs.read", path="large.txt")), tmp_path)

    assert payload(told, "ToolInvocationCompleted")["truncated"]
    assert session.messages[-2].content.endswith("x\n[the output was cut]")


@pytest.mark.asyncio
async def test_a_failure_is_told_to_the_model_and_the_turn_goes_on(tmp_path: Path) -> None:
    told, session = await talk(scripted(calling("fs.read", path="no.txt")), tmp_path)

    assert payload(told, "ToolInvocationFailed")["error"] == "no.txt: No such file or directory"
    assert session.messages[-2].content == "Error: no.txt: No such file or directory"
    assert types(told)[-2:] == ["AssistantMessageCompleted", "AgentTaskCompleted"]


@pytest.mark.asyncio
async def test_a_tool_that_is_not_allowed_is_an_unknown_one(tmp_path: Path) -> None:
    told, session = await talk(scripted(calling("shell.exec", command="ls")), tmp_path, tools=["fs.read"])

    assert payload(told, "ToolInvocationFailed")["error"] == "unknown tool: shell.exec"
    assert [tool.tool_id for tool in session.calls.definitions()] == ["fs.read"]


@pytest.mark.asyncio
async def test_commands_see_the_variables_that_the_host_gives_them(tmp_path: Path) -> None:
    step = calling("shell.exec", command="echo $PATH-$EXTRA-$HOME")

    told, _ = await talk(scripted(step), tmp_path, environment={"PATH": "/bin", "EXTRA": "1"})

    assert payload(told, "ToolInvocationCompleted")["output_preview"] == "/bin-1-\n"


def test_a_trusted_server_is_not_asked_about() -> None:
    call = ToolCall("c", "mcp.good.do.it", {})
    spec = SessionSpec("p", Path("/w"), approval_policy="never")

    assert server_of(call.tool_id) == "good"
    assert Approver(spec, trusted_servers={"good"}).decide(call) == ("allowed", None)
    assert Approver(spec, trusted_servers={"other"}).decide(call) == ("denied", "untrusted_mcp_server")
