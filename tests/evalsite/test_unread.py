"""What is left of a large body is read after the answer."""

import io
from collections.abc import Iterable
from typing import Any

import pytest

from evalsite.unread import SMALL_BODY, reading_what_is_left


def answered(body: io.BytesIO, **environ: Any) -> Iterable[bytes]:
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


def test_a_silent_client_is_not_waited_for_long() -> None:
    class Socket:
        timeout: float | None = None

        def gettimeout(self) -> float | None:
            return self.timeout

        def settimeout(self, seconds: float | None) -> None:
            self.timeout = seconds

    class Silent(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            seen.append(socket.timeout)
            raise TimeoutError

    socket, seen = Socket(), list[float | None]()

    answered(Silent(), CONTENT_LENGTH="1000000", **{"gunicorn.socket": socket})

    assert seen == [10.0] and socket.timeout is None
