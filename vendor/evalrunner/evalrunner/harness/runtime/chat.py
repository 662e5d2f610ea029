"""The chat provider: models behind a server that speaks OpenAI's chat completions, over httpx."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from typing import Final

from evalrunner.harness.errors import ConfigError, ModelError
from evalrunner.harness.runtime.chat_wire import AnswerReader, ToolNames, join_url, request_body
from evalrunner.harness.runtime.config import Profile
from evalrunner.harness.runtime.model import Chunk, ModelRequest, ModelSession, StreamStatus, TextDelta
from evalrunner.harness.runtime.sse import EventTooLargeError, read_events

try:
    import httpx
except ImportError:  # an extra: fake profiles need no network
    httpx = None  # type: ignore[assignment]

DEFAULT_BASE: Final = "https://api.openai.com/v1"
DEFAULT_KEY_VARIABLE: Final = "OPENAI_API_KEY"
CONNECT_S: Final = 30.0
IDLE_S: Final = 90.0
MOST_RETRIES: Final = 1
MOST_ANSWER_BYTES: Final = 16 * 1024 * 1024
_MOST_ERROR_BYTES: Final = 4000
_AFTER_END_S: Final = 5.0
_DONE: Final = "[DONE]"
_TOO_LARGE: Final = f"the answer is larger than {MOST_ANSWER_BYTES} bytes"


class ConnectionLostError(Exception):
    """The connection failed, or nothing came over it for too long; asking again may help."""


class ChatProvider:
    """Models behind chat servers. ``variables`` is where keys are looked up by name, None: our own environment.

    ``idle_s`` limits each wait for something to arrive. ConfigError when httpx is not installed.
    """

    def __init__(self, variables: Mapping[str, str] | None = None, *, idle_s: float = IDLE_S) -> None:
        if httpx is None:
            raise ConfigError("chat profiles need httpx: install evalrunner[harness]")
        self._variables = os.environ if variables is None else variables
        # Proxies and passwords of whoever starts a benchmark are none of its business.
        self._client = httpx.AsyncClient(
            trust_env=False, follow_redirects=False, timeout=httpx.Timeout(idle_s, connect=min(idle_s, CONNECT_S))
        )
        self._idle_s = idle_s

    def open(self, profile: Profile) -> ModelSession:
        return ChatSession(self._client, profile, self._key(profile), self._idle_s)

    async def close(self) -> None:
        await self._client.aclose()

    def _key(self, profile: Profile) -> str | None:
        return profile.api_key or self._variables.get(profile.api_key_env or DEFAULT_KEY_VARIABLE) or None


class ChatSession:
    """One conversation; the server keeps nothing of it, so each request holds all messages."""

    def __init__(self, client: httpx.AsyncClient, profile: Profile, key: str | None, idle_s: float) -> None:
        self._client, self._profile, self._key, self._idle_s = client, profile, key, idle_s
        self._url = join_url(profile.base_url or DEFAULT_BASE)
        self._requests = 0

    async def stream(self, request: ModelRequest) -> AsyncIterator[Chunk]:
        """Ask, once more if the connection failed before anything had arrived; ModelError."""
        number, self._requests = self._requests, self._requests + 1
        names = ToolNames(tool.tool_id for tool in request.tools)
        body = json.dumps(request_body(self._profile, request, names)).encode()
        for attempt in range(1, MOST_RETRIES + 2):
            reader = AnswerReader(names)
            try:
                async with aclosing(_Exchange(self, body, reader).texts()) as texts:
                    async for text in texts:
                        yield TextDelta(text)
                break
            except ConnectionLostError as error:
                if reader.has_begun or attempt > MOST_RETRIES:
                    raise ModelError(f"connection: {error}") from None
                yield StreamStatus("connection_lost", True, attempt, MOST_RETRIES, str(error))
        for call in reader.calls(number):
            yield call
        if reader.usage is not None:
            yield reader.usage

    def prepare(self, body: bytes) -> httpx.Request:
        """Make the request; its own headers win over those of the protocol."""
        headers = {
            "Content-Type": "application/json",
            "Accept": "text/event-stream, application/json",
            "Accept-Encoding": "identity",  # what is packed has no size that could be limited
        }
        if self._key is not None:
            headers["Authorization"] = f"Bearer {self._key}"
        merged = httpx.Headers(headers)
        merged.update(self._profile.headers)
        return self._client.build_request("POST", self._url, content=body, headers=merged)

    async def send(self, request: httpx.Request) -> httpx.Response:
        return await self._client.send(request, stream=True)

    def without_key(self, text: str) -> str:
        """Take the key out of a text that goes into result files; servers like to repeat it."""
        return text if self._key is None else text.replace(self._key, "[key]")

    @property
    def idle_s(self) -> float:
        return self._idle_s

    @property
    def limit_s(self) -> float | None:
        return self._profile.request_timeout_secs


class _Exchange:
    """One request and its answer, within the limit of the whole."""

    def __init__(self, session: ChatSession, body: bytes, reader: AnswerReader) -> None:
        self._session, self._body, self._reader = session, body, reader
        self._now = asyncio.get_running_loop().time
        self._ends = None if session.limit_s is None else self._now() + session.limit_s

    async def texts(self) -> AsyncGenerator[str]:
        """Give the texts of the answer as they arrive; ModelError, ConnectionLostError."""
        try:
            async with aclosing(self._talk()) as texts:
                async for text in texts:
                    yield text
        except (ModelError, ConnectionLostError):
            raise
        except Exception as error:  # a client has many ways to say that an address or a header is impossible
            if not self._reader.is_finished:  # all was said; only the goodbye is missing
                raise self._explain(error) from None

    def _explain(self, error: Exception) -> Exception:
        if isinstance(error, httpx.TimeoutException):
            return ConnectionLostError(f"nothing arrived for {self._session.idle_s:g} s")
        if isinstance(error, TimeoutError):
            return ModelError(f"connection: no complete answer within {self._session.limit_s:g} s")
        while isinstance(error, ExceptionGroup):
            error = error.exceptions[0]
        text = self._session.without_key(str(error)) or type(error).__name__
        return (
            ConnectionLostError(text) if isinstance(error, httpx.TransportError) else ModelError(f"connection: {text}")
        )

    async def _talk(self) -> AsyncGenerator[str]:
        async with asyncio.timeout_at(self._ends):
            response = await self._session.send(self._session.prepare(self._body))
        try:
            if not response.is_success:
                raise ModelError(f"HTTP {response.status_code}: {await self._error_of(response)}")
            if "json" in response.headers.get("content-type", ""):
                yield self._reader.read((await self._whole(response)).decode("utf-8", "replace"))
                self._reader.is_finished = True
                return
            async with aclosing(self._events(response)) as texts:
                async for text in texts:
                    yield text
        finally:
            await response.aclose()

    async def _events(self, response: httpx.Response) -> AsyncGenerator[str]:
        try:
            async with aclosing(read_events(self._pieces(response, MOST_ANSWER_BYTES))) as events:
                async for event in events:
                    if event == _DONE:
                        self._reader.is_finished = True
                        return
                    if text := self._reader.read(event):
                        yield text
                    if self._reader.is_finished:
                        self._hurry()
        except EventTooLargeError:
            raise ModelError(_TOO_LARGE) from None
        if not self._reader.is_finished:
            raise ConnectionLostError("the stream ended before the answer did")

    def _hurry(self) -> None:
        """Wait no longer than a moment for what may follow the end of an answer: its usage."""
        soon = self._now() + _AFTER_END_S
        self._ends = soon if self._ends is None else min(soon, self._ends)

    async def _pieces(self, response: httpx.Response, most: int) -> AsyncIterator[bytes]:
        """Give the bytes of an answer; ModelError when there are too many."""
        pieces, size = response.aiter_bytes(), 0
        while True:
            async with asyncio.timeout_at(self._ends):
                piece = await anext(pieces, None)
            if piece is None:
                return
            size += len(piece)
            if size > most:
                raise ModelError(_TOO_LARGE)
            yield piece

    async def _whole(self, response: httpx.Response) -> bytes:
        return b"".join([piece async for piece in self._pieces(response, MOST_ANSWER_BYTES)])

    async def _error_of(self, response: httpx.Response) -> str:
        """Give the beginning of what a server says about an error."""
        said = b""
        async for piece in self._pieces(response, MOST_ANSWER_BYTES):
            said += piece
            if len(said) > _MOST_ERROR_BYTES:
                break
        return self._session.without_key(said[:_MOST_ERROR_BYTES].decode("utf-8", "replace").strip())
