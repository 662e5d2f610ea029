"""How an MCP server is reached: as a process of ours, or over HTTP."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from pathlib import Path
from typing import Any, Final, TextIO

import httpx2
from mcp import StdioServerParameters
from mcp.client.sse import sse_client
from mcp.client.stdio import get_default_environment, stdio_client
from mcp.client.streamable_http import streamable_http_client

from evalrunner.harness.runtime.config import McpServer

_CONNECT_S: Final = 30.0
_READ_S: Final = 300.0
_variable: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def connect(
    server: McpServer, workspace: Path, environment: Mapping[str, str] | None, variables: Mapping[str, str]
) -> Any:
    """Give the transport of a server, an async context manager of the ``mcp`` package."""
    if server.transport == "stdio":
        return _stdio(process_of(server, workspace, environment, variables))
    assert server.url is not None  # the configuration has seen to it
    headers = headers_of(server, variables)
    if server.transport == "sse":
        return sse_client(server.url, headers, timeout=_CONNECT_S, sse_read_timeout=_READ_S)
    return _streamable_http(server.url, headers)


@asynccontextmanager
async def _stdio(process: StdioServerParameters) -> AsyncGenerator[Any]:
    """Start a server; what it says on standard error goes to ours.

    Not to ``sys.stderr``: a host may have put something in its place that no process can write to.
    """
    with _standard_error() as errors:
        async with stdio_client(process, errors) as streams:
            yield streams


def _standard_error() -> AbstractContextManager[TextIO]:
    if sys.__stderr__ is None or sys.__stderr__.closed:
        return open(os.devnull, "w")  # noqa: PTH123 (no path of ours)
    return nullcontext(sys.__stderr__)


@asynccontextmanager
async def _streamable_http(url: str, headers: dict[str, str]) -> AsyncGenerator[Any]:
    timeout = httpx2.Timeout(_CONNECT_S, read=_READ_S)
    async with (
        httpx2.AsyncClient(headers=headers, timeout=timeout, trust_env=False) as client,
        streamable_http_client(url, http_client=client) as streams,
    ):
        yield streams


def process_of(
    server: McpServer, workspace: Path, environment: Mapping[str, str] | None, variables: Mapping[str, str]
) -> StdioServerParameters:
    """Say how a server's process is started.

    An empty value in its table is taken from ``variables``. The package adds some of our own variables whatever it is
    given; when ``environment`` says what a process may see, the others are taken away again by ``env -u``.
    """
    assert server.command is not None  # the configuration has seen to it
    own = {name: value or variables.get(name, "") for name, value in server.env.items()}
    seen = {**(environment or {}), **own}
    surplus = [] if environment is None else sorted(get_default_environment().keys() - seen.keys())
    argv = [server.command, *server.args]
    if surplus:
        argv = ["env", *(word for name in surplus for word in ("-u", name)), *argv]
    return StdioServerParameters(
        command=argv[0],
        args=argv[1:],
        env=seen,
        cwd=os.path.join(workspace, server.cwd or ""),  # noqa: PTH118
    )


def headers_of(server: McpServer, variables: Mapping[str, str]) -> dict[str, str]:
    """Give the headers for a server: ``${NAME}`` is replaced by the variable, nothing if it is not set."""
    headers = {
        name: _variable.sub(lambda match: variables.get(match[1], ""), value) for name, value in server.headers.items()
    }
    key = variables.get(server.api_key_env) if server.api_key_env else None
    return headers if key is None else {"Authorization": f"Bearer {key}", **headers}
