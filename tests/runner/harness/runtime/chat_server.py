"""A chat server on this machine: it records each request and answers with exactly the bytes of its script."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

WAIT: Final = "wait"  # say nothing more until the client hangs up
CUT: Final = "cut"  # close the connection

Part: TypeAlias = bytes | str
STREAM_HEAD: Final = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"


def event(data: Any) -> bytes:
    text = data if isinstance(data, str) else json.dumps(data)
    return f"data: {text}\n\n".encode()


def delta(finish_reason: str | None = None, **members: Any) -> bytes:
    """Write one piece of an answer."""
    return event({"choices": [{"index": 0, "delta": members, "finish_reason": finish_reason}]})


def call_delta(index: int, arguments: str, **members: str) -> bytes:
    """Write a piece of a tool call; ``id`` and ``name`` come with its first piece."""
    function = {"arguments": arguments} | ({"name": members["name"]} if "name" in members else {})
    call = {"index": index, "function": function} | ({"id": members["id"]} if "id" in members else {})
    return delta(tool_calls=[call])


def streamed(*parts: Part) -> tuple[Part, ...]:
    return (STREAM_HEAD, *parts, event("[DONE]"))


def text_answer(*texts: str) -> tuple[Part, ...]:
    return streamed(*(delta(content=text) for text in texts), delta("stop"))


def plain(body: bytes | Any, status: str = "200 OK", content_type: str = "application/json") -> tuple[Part, ...]:
    """Write a whole answer that is no stream."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    head = f"HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {len(content)}\r\n\r\n"
    return (head.encode() + content,)


@dataclass(frozen=True)
class Asked:
    path: str
    headers: dict[str, str]
    body: Any


class ChatServer:
    """Answers the k-th request with the k-th answer of its script, and all later ones with the last."""

    def __init__(self, script: Sequence[Sequence[Part]]) -> None:
        self.script = script
        self.requests: list[Asked] = []
        self.waiting = asyncio.Event()
        self.hung_up = asyncio.Event()
        self.url = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
                while await self._answer(reader, writer):
                    pass
            writer.close()
        except asyncio.CancelledError:
            writer.transport.abort()  # whoever is to read the rest has gone
            raise
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        self.requests.append(await _read_request(reader))
        parts = self.script[min(len(self.requests), len(self.script)) - 1]
        for part in parts:
            if part == WAIT:
                self.waiting.set()
                await reader.read()
                self.hung_up.set()
                return False
            if part == CUT:
                return False
            assert isinstance(part, bytes)
            writer.write(part)
            await writer.drain()
        return parts[0] != STREAM_HEAD


async def _read_request(reader: asyncio.StreamReader) -> Asked:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
    body = await reader.readexactly(int(headers["content-length"]))
    return Asked(head[0].split()[1], headers, json.loads(body))


@contextlib.asynccontextmanager
async def chat_server(*script: Sequence[Part]) -> AsyncIterator[ChatServer]:
    service = ChatServer(script)
    connections: set[asyncio.Task[None]] = set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.add(asyncio.create_task(service.serve(reader, writer)))

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    service.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    try:
        yield service
    finally:
        server.close()
        for task in connections:
            task.cancel()
        await asyncio.gather(*connections, return_exceptions=True)
        await server.wait_closed()
