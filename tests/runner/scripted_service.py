"""A fake HTTP service: it records every request and answers with exactly the bytes it was given."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any


def answer(content: bytes | Any, status: str = "200 OK", *headers: str) -> bytes:
    """Write a whole HTTP answer; anything but bytes is sent as JSON."""
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


@dataclass(frozen=True)
class Request:
    path: str
    headers: dict[str, str]
    message: Any


class ScriptedService:
    """``script`` maps the name of a message to its answer: bytes, or None to answer never."""

    def __init__(self, script: dict[str, bytes | None]) -> None:
        self.script: dict[str, bytes | None] = {"open": answer({}), "close": answer({}), **script}
        self.requests: list[Request] = []
        self.waiting = asyncio.Event()
        self.hung_up = asyncio.Event()
        self.url = ""
        self.connections: set[asyncio.Task[None]] = set()

    def names(self) -> list[str]:
        return [request.path.rpartition("/")[2] for request in self.requests]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.connections.add(task)
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while await self.answer_one(reader, writer):
                pass
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()

    async def answer_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; False when the connection is to be closed."""
        self.requests.append(await _read_request(reader))
        content = self.script[self.names()[-1]]
        if content is None:
            self.waiting.set()
            await reader.read()
            self.hung_up.set()
            return False
        writer.write(content)
        await writer.drain()
        return content.startswith(b"HTTP/1.1 2") and b"Connection: close" not in content

    async def hang_up(self) -> None:
        for task in self.connections:
            task.cancel()
        await asyncio.gather(*self.connections)


async def _read_request(reader: asyncio.StreamReader) -> Request:
    head = (await reader.readuntil(b"\r\n\r\n")).decode().splitlines()
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
    content = await reader.readexactly(int(headers["content-length"]))
    return Request(head[0].split()[1], headers, json.loads(content))


@contextlib.asynccontextmanager
async def serving(**script: bytes | None) -> AsyncIterator[ScriptedService]:
    """Serve on a free port of the loopback interface."""
    service = ScriptedService(script)
    server = await asyncio.start_server(service.serve, "127.0.0.1", 0)
    service.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/agent"
    try:
        yield service
    finally:
        server.close()
        await server.wait_closed()
        await service.hang_up()
