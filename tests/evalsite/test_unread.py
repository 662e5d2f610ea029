"""What is left of a large body is read after the answer."""

import contextlib
import io
import socket
import threading
from collections.abc import Iterable
from typing import IO, Any

import pytest

from evalsite.unread import SMALL_BODY, reading_what_is_left


def answered(body: IO[bytes], **environ: Any) -> Iterable[bytes]:
    """Call an application that answers without reading; as a web server does, ask for the answer and close it."""
    application = reading_what_is_left(lambda environ, start_response: [b"no"])
    answer = application({"wsgi.input": body, **environ}, lambda *given: lambda data: None)
    pieces = list(answer)
    getattr(answer, "close", lambda: None)()
    return pieces


@pytest.mark.parametrize(
    ("environ", "left"),
    [
        ({"CONTENT_LENGTH": str(SMALL_BODY + 1)}, 0),
        ({"HTTP_TRANSFER_ENCODING": "chunked"}, 0),
        ({"CONTENT_LENGTH": str(SMALL_BODY)}, SMALL_BODY + 1),
        ({"CONTENT_LENGTH": ""}, SMALL_BODY + 1),
        ({}, SMALL_BODY + 1),
    ],
)
def test_large_bodies_are_read_to_their_end(environ: dict[str, str], left: int) -> None:
    body = io.BytesIO(b" " * (SMALL_BODY + 1))

    assert answered(body, **environ) == [b"no"]

    assert len(body.read()) == left


def test_a_client_that_is_gone_is_nobodys_fault() -> None:
    class Gone(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            raise ConnectionResetError

    assert answered(Gone(), CONTENT_LENGTH="1000000") == [b"no"]


@pytest.mark.parametrize("pause_s", [60.0, 0.02], ids=["silent", "trickling"])
def test_a_slow_client_is_not_waited_for_long(monkeypatch: pytest.MonkeyPatch, pause_s: float) -> None:
    monkeypatch.setattr("evalsite.unread.LINGER_S", 0.3)
    client, server = socket.socketpair()
    is_over = threading.Event()

    def trickle() -> None:
        with contextlib.suppress(OSError):
            client.sendall(b" ")
            while not is_over.wait(pause_s):
                client.sendall(b" ")

    sender = threading.Thread(target=trickle)
    sender.start()
    try:
        with server, server.makefile("rb") as body:
            assert answered(body, CONTENT_LENGTH="1000000000", **{"gunicorn.socket": server}) == [b"no"]
    finally:
        is_over.set()
        sender.join(5)
        client.close()
