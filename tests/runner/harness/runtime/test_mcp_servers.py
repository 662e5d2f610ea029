"""MCP servers of the ``mcp`` package, running as processes."""

from __future__ import annotations

import asyncio
import io
import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from evalrunner.harness.errors import ToolError
from evalrunner.harness.runtime.config import McpServer
from evalrunner.harness.runtime.mcp_servers import McpServers
from evalrunner.harness.runtime.mcp_transports import headers_of, process_of
from evalrunner.harness.runtime.tools.base import MOST_OUTPUT_BYTES
from mcp.server.mcpserver import MCPServer
from starlette.applications import Starlette

from tests.runner.harness.runtime.processes import PATIENCE_S, line_in, until_dead

PROGRAM = Path(__file__).with_name("mcp_program.py")


def server(notes: Path, **members: Any) -> McpServer:
    given: dict[str, Any] = {
        "id": "tests",
        "transport": "stdio",
        "command": sys.executable,
        "args": (str(PROGRAM), str(notes)),
        "keep_alive": True,
    }
    return McpServer(**(given | members))


@asynccontextmanager
async def started(
    *servers: McpServer, workspace: Path, environment: Mapping[str, str] | None = None
) -> AsyncIterator[McpServers]:
    running = McpServers(servers, workspace, environment, {})
    await running.start()
    try:
        yield running
    finally:
        await running.close()


async def call(servers: McpServers, tool: str, **arguments: Any) -> str:
    return (await servers.tools()[f"mcp.tests.{tool}"].invoke(arguments)).text


@pytest.mark.asyncio
async def test_tools_of_a_server_are_listed_and_called_and_its_process_ends(tmp_path: Path) -> None:
    async with started(server(tmp_path / "notes"), workspace=tmp_path) as servers:
        definition = servers.tools()["mcp.tests.add"].definition
        sums = await asyncio.gather(*(call(servers, "add", a=1, b=number) for number in range(5)))
        pid = int(await line_in(tmp_path / "notes"))

    assert (definition.description, definition.parameters["required"]) == ("Add two numbers.", ["a", "b"])
    assert sums == ["1", "2", "3", "4", "5"]
    await until_dead(pid)


@pytest.mark.asyncio
async def test_what_a_tool_reports_as_an_error_is_a_failure(tmp_path: Path) -> None:
    async with started(server(tmp_path / "notes"), workspace=tmp_path) as servers:
        with pytest.raises(ToolError, match=r"it did not work|Error executing tool"):
            await call(servers, "fail")
        with pytest.raises(ToolError):
            await call(servers, "add", a="no number")


@pytest.mark.asyncio
async def test_a_large_result_is_cut(tmp_path: Path) -> None:
    async with started(server(tmp_path / "notes"), workspace=tmp_path) as servers:
        output = await servers.tools()["mcp.tests.large"].invoke({})

    assert (len(output.text), output.truncated) == (MOST_OUTPUT_BYTES, True)


@pytest.mark.asyncio
async def test_a_server_sees_only_what_it_is_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SITE_SECRET", "s3cret")
    monkeypatch.setenv("LOGNAME", "somebody")
    given = {"PATH": os.environ["PATH"], "EXTRA": "1"}

    async with started(server(tmp_path / "notes", env={"OWN": "2"}), workspace=tmp_path, environment=given) as servers:
        seen = dict(pair.partition("=")[::2] for pair in (await call(servers, "environment")).split(" "))

    assert {"EXTRA": "1", "OWN": "2"}.items() <= seen.items()
    assert seen.keys() - {"LC_CTYPE"} == {"PATH", "EXTRA", "OWN"}


@pytest.mark.asyncio
async def test_a_server_that_dies_fails_one_call_and_is_started_anew_as_often_as_allowed(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    async with started(server(notes, max_restart_attempts=1), workspace=tmp_path) as servers:
        first = await line_in(notes)
        with pytest.raises(ToolError, match=r"^MCP server tests: "):
            await call(servers, "die")
        assert await call(servers, "add", a=1, b=1) == "2"
        assert await line_in(notes) != first
        with pytest.raises(ToolError, match=r"^MCP server tests: "):
            await call(servers, "die")
        with pytest.raises(ToolError, match=r"^MCP server tests is not running$"):
            await call(servers, "add", a=1, b=1)


@pytest.mark.asyncio
async def test_a_call_from_a_task_that_is_cancelled_leaves_the_server_to_others(tmp_path: Path) -> None:
    async with started(server(tmp_path / "notes"), workspace=tmp_path) as servers:
        task = asyncio.create_task(call(servers, "add", a=1, b=1))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait({task})

        assert await call(servers, "add", a=2, b=2) == "4"


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "members",
    [
        {"command": "/no/such/program"},
        {"args": ("-c", "print('rubbish', flush=True)")},
        {"args": ("-c", "raise SystemExit(1)")},
        {"transport": "streamable_http", "url": "http://127.0.0.1:9/mcp"},
        {"transport": "sse", "url": "http://127.0.0.1:9/sse"},
    ],
)
async def test_a_server_that_cannot_be_started_is_a_warning_and_has_no_tools(
    tmp_path: Path, members: dict[str, Any], capfd: pytest.CaptureFixture[str]
) -> None:
    async with started(server(tmp_path / "notes", **members), workspace=tmp_path) as servers:
        assert servers.tools() == {}

    told = capfd.readouterr().err
    assert told.startswith("warning: MCP server tests: ")
    assert "Traceback" not in told


@pytest.mark.asyncio
@pytest.mark.parametrize("real", [True, False])
async def test_a_host_may_have_replaced_standard_error_or_have_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], real: bool
) -> None:
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    if not real:
        monkeypatch.setattr(sys, "__stderr__", None)
    said = server(tmp_path, args=("-c", "import sys; print('said', file=sys.stderr)"))

    async with started(said, workspace=tmp_path):
        pass

    assert ("said" in capfd.readouterr().err) == real


@pytest.mark.asyncio
async def test_a_server_that_need_not_be_kept_alive_is_not_started(tmp_path: Path) -> None:
    async with started(server(tmp_path / "notes", keep_alive=False), workspace=tmp_path) as servers:
        assert servers.tools() == {}

    assert not (tmp_path / "notes").exists()


def test_empty_values_come_from_the_variables_and_what_was_not_given_is_taken_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HOME", "LOGNAME", "SHELL", "TERM", "USER"):
        monkeypatch.setenv(name, "x")
    configured = server(tmp_path, command="serve", args=("--fast",), env={"TOKEN": "", "MODE": "m"}, cwd="sub")

    process = process_of(configured, tmp_path, {"PATH": "/bin", "HOME": "/h"}, {"TOKEN": "t"})
    free = process_of(configured, tmp_path, None, {})

    taken_away = "env -u LOGNAME -u SHELL -u TERM -u USER serve --fast"
    assert [process.command, *process.args] == taken_away.split()
    assert process.env == {"PATH": "/bin", "HOME": "/h", "TOKEN": "t", "MODE": "m"}
    assert process.cwd == str(tmp_path / "sub")
    assert (free.command, free.env) == ("serve", {"TOKEN": "", "MODE": "m"})


def test_headers_are_filled_from_the_variables(tmp_path: Path) -> None:
    configured = server(tmp_path, headers={"X-Team": "${TEAM}/${NONE}"}, api_key_env="KEY")

    assert headers_of(configured, {"TEAM": "blue", "KEY": "k"}) == {"Authorization": "Bearer k", "X-Team": "blue/"}
    assert headers_of(configured, {}) == {"X-Team": "/"}


@asynccontextmanager
async def web_server(app: Starlette) -> AsyncIterator[str]:
    """Serve an application in this process; gives its address."""
    web = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error", lifespan="on"))
    task = asyncio.create_task(web.serve())
    async with asyncio.timeout(PATIENCE_S):
        while not web.started:  # noqa: ASYNC110 (a flag is all that uvicorn offers)
            await asyncio.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{web.servers[0].sockets[0].getsockname()[1]}"
    finally:
        web.should_exit = True
        await task


@pytest.mark.asyncio
@pytest.mark.parametrize("transport", ["streamable_http", "sse"])
async def test_a_server_is_reached_over_http(tmp_path: Path, transport: str) -> None:
    far = MCPServer("far")
    far.add_tool(lambda a, b: a + b, "add", description="Add two texts.")
    app, path = (far.sse_app(), "sse") if transport == "sse" else (far.streamable_http_app(), "mcp")

    async with web_server(app) as address:
        configured = server(tmp_path, transport=transport, url=f"{address}/{path}", command=None)
        async with started(configured, workspace=tmp_path) as servers:
            assert await call(servers, "add", a="x", b="y") == "xy"
