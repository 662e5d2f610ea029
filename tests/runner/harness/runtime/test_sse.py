"""Reading server-sent events."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import pytest
from evalrunner.harness.runtime.sse import EventTooLargeError, read_events
from hypothesis import given
from hypothesis import strategies as st

pytestmark = pytest.mark.asyncio


async def arriving(pieces: Sequence[bytes]) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece


async def events(*pieces: bytes, most: int = 1000) -> list[str]:
    return [event async for event in read_events(arriving(pieces), most)]


@pytest.mark.parametrize(
    ("stream", "found"),
    [
        (b"data: a\n\ndata:b\n\n", ["a", "b"]),
        (b"data: a\r\n\r\ndata: b\r\n\r\n", ["a", "b"]),
        (b"data: a\ndata: b\n\n", ["a\nb"]),
        (b": comment\nevent: x\nid: 1\nretry: 3\ndata: a\n\n", ["a"]),
        (b"\n\n\ndata: a\n\n", ["a"]),
        (b"data: forgotten end", ["forgotten end"]),
        (b"data:  two blanks\n\n", [" two blanks"]),
        (b"data\n\n", []),
        (b"", []),
        (b"data: \xff\n\n", ["\ufffd"]),
        ("data: a\u2028b\x85c\x0bd\n\n".encode(), ["a\u2028b\x85c\x0bd"]),
    ],
)
async def test_the_data_of_each_event_is_given(stream: bytes, found: list[str]) -> None:
    assert await events(stream) == found
    assert await events(*(stream[at : at + 1] for at in range(len(stream)))) == found


@pytest.mark.parametrize("pieces", [[b"data: " + b"x" * 2000], [b"x" * 600, b"x" * 600], [b"data: x\n"] * 300])
async def test_an_event_without_end_is_refused(pieces: list[bytes]) -> None:
    with pytest.raises(EventTooLargeError):
        await events(*pieces)


async def test_many_small_events_are_no_large_one() -> None:
    assert await events(*[b"data: x\n\n"] * 1000) == ["x"] * 1000


@given(
    st.lists(st.sampled_from([b"data: a", b"data:", b"\n", b"\r\n", b"\n\n", b": c", b"x", "é".encode()]), max_size=12)
)
async def test_it_makes_no_difference_how_a_stream_is_cut(parts: list[bytes]) -> None:
    whole = b"".join(parts)

    assert await events(*parts) == await events(whole)
    assert await events(*(whole[at : at + 1] for at in range(len(whole)))) == await events(whole)
