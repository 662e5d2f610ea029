"""MCP servers of the configuration, through the official ``mcp`` package.

Servers with ``keep_alive`` are started once, before the first row; the others are not started in a headless run. Each
connection lives in a task of its own: the package binds what it holds to the task that opened it, and a connection that
breaks must not take a row along.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import anyio
from mcp import Client, MCPError
from mcp.types import CONNECTION_CLOSED, CallToolResult, TextContent
from mcp.types import Tool as ServerTool

from evalrunner.data import JsonObject, freeze_object, thaw
from evalrunner.errors import EvaluationError
from evalrunner.harness.errors import ToolError
from evalrunner.harness.runtime.config import McpServer
from evalrunner.harness.runtime.mcp_transports import connect
from evalrunner.harness.runtime.model import ToolDefinition
from evalrunner.harness.runtime.tools.base import Tool, ToolOutput, cut

START_S: Final = 30.0
CALL_S: Final = 300.0
_CLOSE_S: Final = 10.0
_MOST_PAGES: Final = 100
_ANY_OBJECT: Final[JsonObject] = {"type": "object"}

# Without a handler anywhere, Python would write the package's own records, tracebacks included, to standard error.
logging.getLogger("mcp").addHandler(logging.NullHandler())


class McpServers:
    """All servers of a run. ``start`` and ``close`` may be called in any task, calls in any other.

    ``environment`` is what a server's process sees beside its own table (None: what the package gives it);
    ``variables`` is where the configuration's names of variables are looked up.
    """

    def __init__(
        self,
        servers: Sequence[McpServer],
        workspace: Path,
        environment: Mapping[str, str] | None,
        variables: Mapping[str, str],
    ) -> None:
        self.trusted = frozenset(server.id for server in servers if server.trusted)
        self._connections = [
            Connection(server, workspace, environment, variables) for server in servers if server.keep_alive
        ]

    async def start(self) -> None:
        """Start all servers; one that fails is a warning, its tools do not exist."""
        await asyncio.gather(*(self._start(connection) for connection in self._connections))

    async def close(self) -> None:
        await asyncio.gather(*(connection.close() for connection in self._connections))

    def tools(self) -> dict[str, Tool]:
        """Give the tools of all servers that were started, by id: ``mcp.{server}.{tool}``."""
        tools = [McpTool(connection, tool) for connection in self._connections for tool in connection.tools]
        return {tool.definition.tool_id: tool for tool in tools}

    async def _start(self, connection: Connection) -> None:
        try:
            await connection.start()
        except ToolError as error:
            print(f"warning: {error}", file=sys.stderr)  # noqa: T201


class Connection:
    """The connection to one server; it is made anew when a call finds it broken."""

    def __init__(
        self,
        server: McpServer,
        workspace: Path,
        environment: Mapping[str, str] | None,
        variables: Mapping[str, str],
    ) -> None:
        self.server = server
        self.tools: tuple[ServerTool, ...] = ()
        self._workspace, self._environment, self._variables = workspace, environment, variables
        self._client: Client | None = None
        self._keeper: asyncio.Task[None] | None = None
        self._stop = asyncio.Event()
        self._restarts = 0
        self._starting = asyncio.Lock()

    async def start(self) -> None:
        """Connect and ask for the tools; ToolError when that fails or takes too long."""
        self._stop = asyncio.Event()
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._keeper = asyncio.create_task(self._keep(ready))
        try:
            async with asyncio.timeout(START_S):
                await ready
        except TimeoutError:
            await self.close()
            raise ToolError(f"MCP server {self.server.id}: no connection within {START_S:g} s") from None
        except asyncio.CancelledError:
            await self.close()
            raise

    async def call(self, tool: str, arguments: JsonObject) -> CallToolResult:
        """Call a tool; ToolError. A call that may have arrived is never made a second time."""
        client = await self._living_client()
        try:
            return await client.call_tool(tool, thaw(arguments), read_timeout_seconds=CALL_S)
        except MCPError as error:
            if error.code == CONNECTION_CLOSED:
                await self.close()
            raise ToolError(f"MCP server {self.server.id}: {error.message}") from None
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            await self.close()
            raise ToolError(f"MCP server {self.server.id}: the connection is closed") from None

    async def close(self) -> None:
        """End the connection and with it the process of a server that we started."""
        keeper, self._keeper, self._client = self._keeper, None, None
        self._stop.set()
        if keeper is not None:
            await asyncio.wait({keeper}, timeout=_CLOSE_S)
            keeper.cancel()

    async def _living_client(self) -> Client:
        async with self._starting:
            if self._client is None or self._keeper is None or self._keeper.done():
                await self._restart()
            assert self._client is not None
            return self._client

    async def _restart(self) -> None:
        if not self.server.auto_restart or self._restarts >= self.server.max_restart_attempts:
            raise ToolError(f"MCP server {self.server.id} is not running")
        self._restarts += 1
        await self.start()

    async def _keep(self, ready: asyncio.Future[None]) -> None:
        """Hold the connection open until it is to be closed; what goes wrong before it is ready goes to ``ready``."""
        try:
            streams = connect(self.server, self._workspace, self._environment, self._variables)
            async with Client(streams, cache=None) as client:
                self.tools = await _list_tools(client)
                if not ready.done():  # else nobody waits any longer
                    self._client = client
                    ready.set_result(None)
                    await self._stop.wait()
        except Exception as error:  # whatever the package or a foreign server comes up with
            if not ready.done():
                ready.set_exception(ToolError(f"MCP server {self.server.id}: {_describe(error)}"))
        finally:
            ready.cancel()


async def _list_tools(client: Client) -> tuple[ServerTool, ...]:
    tools: list[ServerTool] = []
    cursor: str | None = None
    for _ in range(_MOST_PAGES):
        page = await client.list_tools(cursor=cursor)
        tools += page.tools
        cursor = page.next_cursor
        if not cursor:
            break
    return tuple(tools)


class McpTool:
    """One tool of a server."""

    def __init__(self, connection: Connection, tool: ServerTool) -> None:
        self._connection, self._name = connection, tool.name
        self.definition = ToolDefinition(
            f"mcp.{connection.server.id}.{tool.name}", tool.description or "", _schema(tool.input_schema)
        )

    async def invoke(self, arguments: JsonObject) -> ToolOutput:
        result = await self._connection.call(self._name, arguments)
        text = "\n".join(_text(part) for part in result.content)
        if result.is_error:
            raise ToolError(cut(text).text or "the tool reports an error")
        return cut(text)


def _schema(schema: dict[str, Any]) -> JsonObject:
    """Take over a server's schema; one that is beyond bounds says nothing."""
    try:
        return freeze_object(schema)
    except EvaluationError:
        return _ANY_OBJECT


def _text(part: object) -> str:
    """Give the text of a part of a result; of pictures and the like only that they were there."""
    return part.text if isinstance(part, TextContent) else f"[{getattr(part, 'type', 'content')}]"


def _describe(error: BaseException) -> str:
    """Name what went wrong; of a group, the first of it."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return str(error) or type(error).__name__
