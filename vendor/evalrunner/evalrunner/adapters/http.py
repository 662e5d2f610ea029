"""Reach an agent over HTTP: open, turn and close are each one POST of JSON (contract: docs/connect-an-agent.md).

Nothing is ever sent twice: no retry, no redirect. Secrets travel in headers only, are named by environment variable
and are read when a conversation opens; no error, report or log of this module holds one. Proxies and credentials that
the environment offers (``HTTPS_PROXY``, ``.netrc``) are not used, so that a request goes exactly where it was told to.
"""

from __future__ import annotations

import importlib
import os
import re
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import urlsplit

from evalrunner.adapters import wire
from evalrunner.adapters.base import OpenContext, SendContext, SendResult
from evalrunner.data import JsonObject, PlainObject
from evalrunner.errors import AdapterSetupError, EvaluationError, JsonTextError
from evalrunner.jsontext import parse_json

if TYPE_CHECKING:
    import asyncio

    import httpx

CONNECT_FAILED: Final = "HTTP_CONNECT_FAILED"
CONNECT_TIMEOUT: Final = "HTTP_CONNECT_TIMEOUT"
READ_TIMEOUT: Final = "HTTP_READ_TIMEOUT"
CONNECTION_LOST: Final = "HTTP_CONNECTION_LOST"
ANSWER_TOO_LARGE: Final = "HTTP_ANSWER_TOO_LARGE"
ANSWER_INVALID: Final = "HTTP_ANSWER_INVALID"
STATUS_PREFIX: Final = "HTTP_STATUS_"

MAX_ANSWER_BYTES: Final = 16 * 1024 * 1024
# Shorter than the idle limit of any common server, so that a request never meets a connection just being closed.
_KEEPALIVE_S: Final = 1.0
_LONGEST_SESSION_ID: Final = 1_000

T = TypeVar("T")

_is_header_name = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+").fullmatch
# These belong to the transport: another value would contradict what is really sent.
_OWN_HEADERS: Final = frozenset(
    {"host", "content-length", "content-type", "transfer-encoding", "connection", "accept", "accept-encoding"}
)


@dataclass(frozen=True)
class HttpAdapter:
    """Evaluate the agent that answers under ``url`` (``/open``, ``/turn`` and ``/close`` are appended to it).

    ``headers_from_env`` maps names of headers to names of environment variables that hold their values.
    ``connect_timeout_s`` bounds the connection, ``read_timeout_s`` each wait for bytes of an answer; the runner's own
    limit bounds the whole turn. ``close_timeout_s`` bounds the same waits when closing, so that a service that hangs
    does not hold up a cancelled run for long. ``supports_resume`` says that the service can restore a conversation
    from the checkpoint it gave. AdapterSetupError when httpx is missing or an argument cannot work.
    """

    url: str
    headers_from_env: Mapping[str, str] = field(default_factory=dict)
    connect_timeout_s: float = 10.0
    read_timeout_s: float = 120.0
    close_timeout_s: float = 10.0
    max_answer_bytes: int = MAX_ANSWER_BYTES
    supports_resume: bool = False
    id: str = "evalrunner.http"
    version: str = "1"

    def __post_init__(self) -> None:
        _load_httpx()
        _check_url(self.url)
        for header, variable in self.headers_from_env.items():
            _check_header(header, variable)
        self.secret_headers()

    async def open(self, context: OpenContext) -> HttpSession:
        client = self._make_client()
        talk = wire.conversation_of(context)
        session = HttpSession(client, talk, self.url.rstrip("/"), self.max_answer_bytes, self.close_timeout_s)
        try:
            await session.begin(context)
        except BaseException:
            await client.aclose()
            raise
        return session

    def _make_client(self) -> httpx.AsyncClient:
        module = _load_httpx()
        timeout = module.Timeout(self.read_timeout_s, connect=self.connect_timeout_s)
        limits = module.Limits(max_connections=1, keepalive_expiry=_KEEPALIVE_S)
        headers = {"Accept": "application/json", "Accept-Encoding": "identity", "Content-Type": "application/json"}
        client: httpx.AsyncClient = module.AsyncClient(
            headers=headers | self.secret_headers(),
            timeout=timeout,
            limits=limits,
            verify=self._tls,
            trust_env=False,
            follow_redirects=False,
        )
        return client

    def secret_headers(self) -> dict[str, str]:
        """Read the secret headers; AdapterSetupError names a variable that is not set or cannot be a header."""
        return {header: _secret(variable) for header, variable in self.headers_from_env.items()}

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        """Trust what the system trusts (``SSL_CERT_FILE`` names another store); made once, it takes long."""
        return ssl.create_default_context()


class HttpSession:
    """One conversation with its own connection."""

    def __init__(
        self,
        client: httpx.AsyncClient,
        conversation: wire.Conversation,
        url: str,
        max_answer_bytes: int,
        close_timeout_s: float,
    ) -> None:
        self._client = client
        self._conversation = conversation
        self._url = url
        self._max_answer_bytes = max_answer_bytes
        self._close_timeout_s = close_timeout_s

    async def begin(self, context: OpenContext) -> None:
        """Announce the conversation and learn the service's own name for it, if it gives one."""
        content = await self._ask("open", wire.open_message(context), context.signal)
        answer = _read(wire.read_answer, content)
        session_id = answer.get("sessionId")
        if not answer.keys() <= {"sessionId"} or not _is_session_id(session_id):
            raise EvaluationError(ANSWER_INVALID)
        ids = self._conversation
        self._conversation = wire.Conversation(ids.run_id, ids.case_id, ids.thread_id, session_id)

    async def send(self, input: JsonObject, context: SendContext) -> SendResult:
        message = wire.turn_message(self._conversation, input, context)
        return _read(wire.read_turn, await self._ask("turn", message, context.signal))

    async def close(self) -> None:
        """Tell the service that the conversation is over; an answer without content is fine."""
        self._client.timeout = self._close_timeout_s
        try:
            content = await self._post("close", wire.close_message(self._conversation))
            _read(wire.read_answer, content or b"{}")
        finally:
            await self._client.aclose()

    async def _ask(self, name: str, message: PlainObject, signal: asyncio.Event) -> bytes:
        content = await wire.until_cancelled(self._post(name, message), signal)
        return content if name == "turn" else content or b"{}"

    async def _post(self, name: str, message: PlainObject) -> bytes:
        """Send one message and give the content of the answer; every failure is an EvaluationError with our code."""
        httpx = _load_httpx()
        try:
            async with self._client.stream("POST", f"{self._url}/{name}", content=wire.encode(message)) as response:
                if not 200 <= response.status_code < 300:
                    raise EvaluationError(f"{STATUS_PREFIX}{response.status_code}")
                return await self._content(response)
        except httpx.ConnectTimeout:
            raise EvaluationError(CONNECT_TIMEOUT) from None
        except httpx.TimeoutException:
            raise EvaluationError(READ_TIMEOUT) from None
        except (httpx.ConnectError, httpx.UnsupportedProtocol):
            raise EvaluationError(CONNECT_FAILED) from None
        except httpx.HTTPError:
            raise EvaluationError(CONNECTION_LOST) from None

    async def _content(self, response: httpx.Response) -> bytes:
        """Read the answer as it was sent: a compressed one was not asked for and could burst when unpacked."""
        if response.headers.get("Content-Encoding", "identity").lower() != "identity":
            raise EvaluationError(ANSWER_INVALID)
        content = bytearray()
        async for chunk in response.aiter_raw():
            content += chunk
            if len(content) > self._max_answer_bytes:
                raise EvaluationError(ANSWER_TOO_LARGE)
        return bytes(content)


def _is_session_id(value: object) -> bool:
    return value is None or (isinstance(value, str) and 0 < len(value) <= _LONGEST_SESSION_ID)


def _read(read: Callable[[object], T], content: bytes) -> T:
    try:
        return read(parse_json(content))
    except (JsonTextError, wire.AnswerError):
        raise EvaluationError(ANSWER_INVALID) from None


def _load_httpx() -> Any:
    try:
        return importlib.import_module("httpx")
    except ImportError:
        raise AdapterSetupError("the HTTP adapter needs httpx: pip install 'evalrunner[http]'") from None


def _check_url(url: str) -> None:
    """Refuse what is no plain address; the message never repeats it, since it may hold a password."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        raise AdapterSetupError("the address of the HTTP agent cannot be read") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise AdapterSetupError("the address of the HTTP agent must begin with http:// or https:// and name a host")
    if parts.username is not None or parts.password is not None:
        raise AdapterSetupError("put no user or password into the address; name a variable for a header instead")
    if parts.query or parts.fragment:
        raise AdapterSetupError("the address of the HTTP agent takes no query and no fragment")


def _check_header(header: str, variable: str) -> None:
    if not _is_header_name(header):
        raise AdapterSetupError(f"{header!r} cannot be the name of a header")
    if header.lower() in _OWN_HEADERS:
        raise AdapterSetupError(f"the header {header} belongs to the adapter itself")
    if not variable:
        raise AdapterSetupError(f"the header {header} needs the name of an environment variable")


def _secret(variable: str) -> str:
    value = os.environ.get(variable)
    if not value:
        raise AdapterSetupError(f"the environment variable {variable} is not set")
    if not value.isascii() or not value.isprintable():
        raise AdapterSetupError(f"the value of the environment variable {variable} cannot be sent in a header")
    return value
