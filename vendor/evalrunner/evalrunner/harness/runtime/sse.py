"""Server-sent events, as far as chat servers use them: the data of one event after the other.

Source: WHATWG HTML, section 9.2.6. Lines are split at LF and CRLF alone; httpx's own ``aiter_lines`` also splits at
separators that may stand inside JSON strings.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator
from typing import Final

MOST_EVENT_BYTES: Final = 4 * 1024 * 1024


class EventTooLargeError(Exception):
    """One event is larger than anything that a chat server has to say."""


async def read_events(pieces: AsyncIterable[bytes], most: int = MOST_EVENT_BYTES) -> AsyncGenerator[str]:
    """Give the data of each event that has any; one that is not ended by a blank line counts, too.

    Servers forget the last blank line. EventTooLargeError; bytes that are not UTF-8 become U+FFFD.
    """
    data: list[str] = []
    size = 0
    async for line in _lines(pieces, most):
        size += len(line)
        if size > most:
            raise EventTooLargeError
        if line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
        elif not line:
            if data:
                yield "\n".join(data)
            data, size = [], 0
    if data:
        yield "\n".join(data)


async def _lines(pieces: AsyncIterable[bytes], most: int) -> AsyncIterator[str]:
    held = bytearray()
    async for piece in pieces:
        held += piece
        if b"\n" in piece:
            *lines, rest = bytes(held).split(b"\n")
            for line in lines:
                yield line.removesuffix(b"\r").decode("utf-8", "replace")
            held = bytearray(rest)
        if len(held) > most:
            raise EventTooLargeError
    if held:
        yield bytes(held).removesuffix(b"\r").decode("utf-8", "replace")
