"""A refused upload still gets its answer.

A site may answer before it has read the body of a request: the token is unknown, the form has expired, the report is
refused at its beginning. When a connection is closed with bytes unread, the system resets it, and the answer may be
lost on its way: a proxy says "502 Bad Gateway" then. So what is left of a large body is read and thrown away once the
answer is out, until it ends, the client has gone, or ``LINGER_S`` are over.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from _typeshed.wsgi import InputStream, StartResponse, WSGIApplication, WSGIEnvironment

LINGER_S = 10.0
SMALL_BODY = 64 * 1024  # bytes; the web server itself reads so much
_PIECE = 256 * 1024


def reading_what_is_left(application: WSGIApplication) -> WSGIApplication:
    """Wrap an application so that large bodies are read to their end after the answer."""

    def wrapped(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        answer = application(environ, start_response)
        return _Answer(answer, environ) if _has_large_body(environ) else answer

    return wrapped


def _has_large_body(environ: WSGIEnvironment) -> bool:
    """Tell whether a request brings, or may bring, more than the web server reads by itself."""
    length = environ.get("CONTENT_LENGTH") or ""
    is_chunked = "chunked" in environ.get("HTTP_TRANSFER_ENCODING", "").lower()
    return is_chunked or (length.isascii() and length.isdigit() and int(length) > SMALL_BODY)


class _Answer:
    """An answer that, when it is closed, reads the rest of its request. WSGI: ``close`` is called at the end."""

    def __init__(self, answer: Iterable[bytes], environ: WSGIEnvironment) -> None:
        self._answer = answer
        self._body: InputStream = environ["wsgi.input"]
        self._connection: Any = environ.get("gunicorn.socket")

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._answer)

    def close(self) -> None:
        close: Callable[[], None] = getattr(self._answer, "close", lambda: None)
        try:
            close()
        finally:
            with (
                _for_a_while(self._connection),
                contextlib.suppress(Exception),
            ):  # the client may be gone: nobody to tell
                _read_to_the_end(self._body)


def _read_to_the_end(body: InputStream) -> None:
    until = time.monotonic() + LINGER_S
    while body.read(_PIECE) and time.monotonic() < until:
        pass


@contextlib.contextmanager
def _for_a_while(connection: Any) -> Iterator[None]:
    """Let reads end after ``LINGER_S``, however slowly the client sends: a time limit begins anew with each byte."""
    if connection is None:
        yield
        return
    timer = threading.Timer(LINGER_S, _hear_no_more, (connection,))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _hear_no_more(connection: Any) -> None:
    with contextlib.suppress(OSError):  # closed meanwhile
        connection.shutdown(socket.SHUT_RD)  # whoever waits for bytes is told that none will come
