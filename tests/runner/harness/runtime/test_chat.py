"""Chat profiles against a real server: streaming, slow, broken, large and faulty answers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from contextlib import aclosing
from typing import Any

import pytest
from evalrunner.harness.errors import ModelError
from evalrunner.harness.runtime import chat
from evalrunner.harness.runtime.chat import ChatProvider
from evalrunner.harness.runtime.config import Profile, Usage
from evalrunner.harness.runtime.model import (
    Chunk,
    Message,
    ModelRequest,
    StreamStatus,
    TextDelta,
    ToolCall,
    ToolDefinition,
)

from tests.runner.harness.runtime.chat_server import (
    CUT,
    STREAM_HEAD,
    WAIT,
    ChatServer,
    Part,
    call_delta,
    chat_server,
    delta,
    event,
    plain,
    streamed,
    text_answer,
)

pytestmark = pytest.mark.asyncio

HELLO = ModelRequest((Message("user", "hello"),))
A_MOMENT_S = 0.3
PATIENCE_S = 20


def profile(server: ChatServer | str, **members: Any) -> Profile:
    url = server if isinstance(server, str) else server.url
    given: dict[str, Any] = {
        "name": "m",
        "provider": "openai",
        "model_id": "model-1",
        "context_window": 1,
        "output_limit": 1,
    }
    return Profile(**(given | {"base_url": url} | members))


async def ask(
    profile: Profile,
    request: ModelRequest = HELLO,
    *,
    idle_s: float = PATIENCE_S,
    variables: dict[str, str] | None = None,
) -> list[Chunk]:
    provider = ChatProvider(variables or {}, idle_s=idle_s)
    try:
        return [chunk async for chunk in provider.open(profile).stream(request)]
    finally:
        await provider.close()


async def fault(profile: Profile, **options: Any) -> str:
    with pytest.raises(ModelError) as caught:
        await ask(profile, **options)
    return str(caught.value)


async def answered(parts: Sequence[Part], **options: Any) -> list[Chunk]:
    async with chat_server(parts) as server:
        return await ask(profile(server), **options)


async def fault_of(*script: Sequence[Part], idle_s: float = PATIENCE_S, **members: Any) -> str:
    async with chat_server(*script) as server:
        return await fault(profile(server, **members), idle_s=idle_s)


# ------------------------------------------------------------------------------------------------------- what is sent


async def test_a_request_says_what_the_profile_says_and_extra_parameters_win() -> None:
    async with chat_server(text_answer("x")) as server:
        await ask(
            profile(
                server,
                temperature=0.25,
                top_p=0.5,
                headers={"X-Team": "blue"},
                extra_params={"seed": 7, "top_p": 0.75},
                api_key="sk-own",
            )
        )

    [asked] = server.requests
    assert asked.path == "/v1/chat/completions"
    assert asked.body == {
        "model": "model-1",
        "messages": [{"role": "user", "content": "hello"}],
        "stream": True,
        "stream_options": {"include_usage": True},
        "temperature": 0.25,
        "top_p": 0.75,
        "seed": 7,
    }
    assert (asked.headers["authorization"], asked.headers["x-team"]) == ("Bearer sk-own", "blue")


@pytest.mark.parametrize(
    ("members", "variables", "sent"),
    [
        ({}, {"OPENAI_API_KEY": "sk-usual"}, "Bearer sk-usual"),
        ({"api_key_env": "OTHER"}, {"OTHER": "sk-other", "OPENAI_API_KEY": "sk-usual"}, "Bearer sk-other"),
        ({"api_key": "sk-own"}, {"OPENAI_API_KEY": "sk-usual"}, "Bearer sk-own"),
        ({"api_key_env": "OTHER"}, {"OPENAI_API_KEY": "sk-usual"}, None),
        ({"headers": {"authorization": "Basic x"}, "api_key": "sk-own"}, {}, "Basic x"),
        ({}, {}, None),
    ],
)
async def test_the_key_comes_from_the_profile_or_a_variable(
    members: dict[str, Any], variables: dict[str, str], sent: str | None
) -> None:
    async with chat_server(text_answer("x")) as server:
        await ask(profile(server, **members), variables=variables)

    assert server.requests[0].headers.get("authorization") == sent


async def test_a_base_address_that_has_the_whole_path_gets_nothing_appended() -> None:
    async with chat_server(text_answer("x")) as server:
        await ask(profile(f"{server.url}/chat/completions/"))

    assert server.requests[0].path == "/v1/chat/completions"


async def test_a_conversation_with_tools_is_written_in_the_names_of_the_wire() -> None:
    tools = (ToolDefinition("fs.read", "Read.", {"type": "object"}), ToolDefinition("fs/read", "", {}))
    call = ToolCall("c1", "fs.read", {"path": "ä"})
    messages = (Message("assistant", "", (call,)), Message("tool", "text", tool_call_id="c1"))
    async with chat_server(text_answer("x")) as server:
        await ask(profile(server), ModelRequest(messages, tools))

    body = server.requests[0].body
    assert [tool["function"]["name"] for tool in body["tools"]] == ["fs_read", "fs_read_2"]
    assert body["messages"] == [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "fs_read", "arguments": '{"path": "ä"}'}}
            ],
        },
        {"role": "tool", "content": "text", "tool_call_id": "c1"},
    ]


# ---------------------------------------------------------------------------------------------------- what is answered


async def test_text_arrives_piece_by_piece_and_usage_in_the_end() -> None:
    usage = {"prompt_tokens": 12, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 8}}
    chunks = await answered(
        streamed(
            delta(role="assistant", content=""),
            delta(content="Grüß "),
            b": a comment\n\n",
            delta(content="dich\u2028"),
            delta("length"),
            event({"choices": [], "usage": usage}),
        )
    )

    assert chunks == [TextDelta("Grüß "), TextDelta("dich\u2028"), Usage(12, 3, None, 8)]


async def test_pieces_of_calls_are_put_together_and_mapped_back() -> None:
    tools = tuple(ToolDefinition(tool_id, "", {}) for tool_id in ("fs.read", "mcp.a.b"))
    chunks = await answered(
        streamed(
            delta(content="Look"),
            call_delta(0, "", id="one", name="fs_read"),
            call_delta(1, '{"x"', name="mcp_a_b"),
            call_delta(0, '{"path": "a'),
            call_delta(1, ": [1]}"),
            call_delta(0, '.txt"}'),
            call_delta(2, "no json", id="three", name="invented"),
            delta("tool_calls"),
        ),
        request=ModelRequest(HELLO.messages, tools),
    )

    assert chunks == [
        TextDelta("Look"),
        ToolCall("one", "fs.read", {"path": "a.txt"}),
        ToolCall("call_0_1", "mcp.a.b", {"x": [1]}),
        ToolCall("three", "invented", {}),
    ]


async def test_a_server_that_does_not_stream_gives_one_piece() -> None:
    call = {"id": "c", "function": {"name": "fs_read", "arguments": '{"path": "."}'}}
    answer = {
        "choices": [{"message": {"content": "Hi", "tool_calls": [call]}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 2},
    }

    async with chat_server(plain(answer)) as server:
        chunks = await ask(profile(server, extra_params={"stream": False}))

    assert "stream_options" not in server.requests[0].body
    assert chunks == [TextDelta("Hi"), ToolCall("c", "fs_read", {"path": "."}), Usage(1, 2)]


async def test_pieces_may_be_cut_anywhere() -> None:
    whole = b"".join(part for part in text_answer("ä\u2028", "b") if isinstance(part, bytes)).removeprefix(STREAM_HEAD)
    crlf = whole.replace(b"\n", b"\r\n")

    for answer in (whole, crlf):
        chunks = await answered((STREAM_HEAD, *(answer[at : at + 1] for at in range(len(answer)))))
        assert chunks == [TextDelta("ä\u2028"), TextDelta("b")]


async def test_an_answer_may_end_without_its_last_mark() -> None:
    assert await answered((STREAM_HEAD, delta(content="a"), delta("stop"))) == [TextDelta("a")]
    assert await answered((STREAM_HEAD, delta(content="a"), event("[DONE]"))) == [TextDelta("a")]


async def test_a_server_that_keeps_the_line_open_after_the_end_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(chat, "_AFTER_END_S", A_MOMENT_S)

    assert await answered((STREAM_HEAD, delta(content="a"), delta("stop"), WAIT)) == [TextDelta("a")]
    assert await answered((STREAM_HEAD, delta(content="a"), event("[DONE]"), WAIT)) == [TextDelta("a")]


# --------------------------------------------------------------------------------------------------- what goes wrong


@pytest.mark.parametrize("status", ["400 Bad Request", "401 Unauthorized", "429 Slow down", "500 Oops", "302 Found"])
async def test_an_error_of_the_server_is_told_with_its_body_and_not_tried_again(status: str) -> None:
    async with chat_server(plain(b"what\nis wrong\n", status, "text/plain")) as server:
        text = await fault(profile(server))

    assert text == f"model error: HTTP {status[:3]}: what\nis wrong"
    assert len(server.requests) == 1


async def test_an_error_text_is_cut_and_never_shows_the_key() -> None:
    text = await fault_of(plain(b"bad key sk-123 " + b"x" * 100_000, "401 No"), api_key="sk-123")

    assert text.startswith("model error: HTTP 401: bad key [key] xxx")
    assert len(text) < 5000


async def test_an_error_in_the_stream_fails_the_request() -> None:
    async with chat_server((STREAM_HEAD, delta(content="Hal"), event({"error": {"message": "overloaded"}}))) as server:
        provider = ChatProvider({})
        seen: list[Chunk] = []
        with pytest.raises(ModelError, match=r"^model error: overloaded$"):
            async for chunk in provider.open(profile(server)).stream(HELLO):
                seen.append(chunk)
        await provider.close()

    assert seen == [TextDelta("Hal")]


@pytest.mark.parametrize(
    ("parts", "told"),
    [
        ((STREAM_HEAD, event("{broken")), "model error: broken answer: {broken"),
        ((STREAM_HEAD, event("[1]")), "model error: broken answer: [1]"),
        ((STREAM_HEAD, event('{"a": NaN}')), 'model error: broken answer: {"a": NaN}'),
        ((STREAM_HEAD, event("[" * 100_000)), "model error: broken answer: " + "[" * 200),
        (plain(b"<html>"), "model error: broken answer: <html>"),
        ((STREAM_HEAD, delta(content="a")), "model error: connection: the stream ended before the answer did"),
        (plain(b"<html>", content_type="text/html"), "model error: connection: the stream ended before the answer did"),
    ],
)
async def test_a_broken_answer_is_told(parts: Sequence[Part], told: str) -> None:
    assert await fault_of(parts) == told


@pytest.mark.parametrize(
    "odd",
    [
        {},
        {"choices": None},
        {"choices": [None]},
        {"choices": [{"delta": None}]},
        {"choices": [{"delta": {"content": ["part"], "tool_calls": "x"}}]},
        {"choices": [{"delta": {"tool_calls": []}}], "usage": {"prompt_tokens": -1, "completion_tokens": "2"}},
    ],
)
async def test_odd_pieces_say_nothing(odd: Any) -> None:
    assert await answered(streamed(event(odd), delta(content="a"), delta("stop"))) == [TextDelta("a")]


async def test_a_connection_that_breaks_in_the_middle_is_not_tried_again() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    piece = delta(content="a")
    async with chat_server((head, f"{len(piece):x}\r\n".encode() + piece + b"\r\n", CUT)) as server:
        text = await fault(profile(server))

    assert text.startswith("model error: connection: ")
    assert len(server.requests) == 1


async def test_a_connection_that_breaks_before_anything_arrived_is_tried_once_more() -> None:
    async with chat_server((CUT,), text_answer("a")) as server:
        chunks = await ask(profile(server))

    assert isinstance(chunks[0], StreamStatus)
    assert (chunks[0].retrying, chunks[0].retry_attempt, chunks[0].max_retries) == (True, 1, 1)
    assert chunks[1:] == [TextDelta("a")]
    assert server.requests[0] == server.requests[1]


async def test_silence_is_tried_once_more_and_then_told() -> None:
    async with chat_server((WAIT,)) as server:
        text = await fault(profile(server), idle_s=A_MOMENT_S)

    assert text == "model error: connection: nothing arrived for 0.3 s"
    assert len(server.requests) == 2


async def test_silence_in_the_middle_of_an_answer_is_not_tried_again() -> None:
    async with chat_server((STREAM_HEAD, delta(content="a"), WAIT)) as server:
        text = await fault(profile(server), idle_s=2.0)

    assert text == "model error: connection: nothing arrived for 2 s"
    assert len(server.requests) == 1


async def test_the_limit_of_a_request_holds_however_busy_the_line_is() -> None:
    drip: list[Part] = [STREAM_HEAD, *[delta(content="x")] * 3, WAIT]

    text = await fault_of(drip, request_timeout_secs=A_MOMENT_S)

    assert text == "model error: connection: no complete answer within 0.3 s"


async def test_a_refused_connection_is_told() -> None:
    async with chat_server(text_answer("x")) as server:
        address = server.url

    assert (await fault(profile(address))).startswith("model error: connection: ")


@pytest.mark.parametrize(
    "address", ["ftp://127.0.0.1/", "http://", "nonsense", "http://[::1", "http://127.0.0.1:99999"]
)
async def test_an_address_that_is_none_is_an_error_of_the_turn(address: str) -> None:
    assert (await fault(profile(address))).startswith("model error: connection: ")


async def test_a_key_that_no_header_can_hold_is_an_error_of_the_turn() -> None:
    async with chat_server(text_answer("x")) as server:
        text = await fault(profile(server, api_key="sk-\n\u2028"))

    assert text.startswith("model error: connection: ")
    assert "sk-" not in text


@pytest.mark.parametrize("is_one_event", [True, False])
async def test_an_oversized_answer_is_broken_off(monkeypatch: pytest.MonkeyPatch, is_one_event: bool) -> None:
    monkeypatch.setattr(chat, "MOST_ANSWER_BYTES", 200_000)
    monkeypatch.setattr("evalrunner.harness.runtime.sse.MOST_EVENT_BYTES", 100_000)
    parts: Sequence[Part] = [b"data: " + b"x" * 10_000_000] if is_one_event else [delta(content="x" * 1000)] * 1000

    text = await fault_of([STREAM_HEAD, *parts, WAIT])

    assert text.startswith("model error: the answer is larger than ")


async def test_an_answer_with_too_many_calls_is_refused() -> None:
    parts = (call_delta(index, "{}", name="x") for index in range(129))

    assert await fault_of(streamed(*parts)) == "model error: more than 128 tool calls in one answer"


async def test_a_cancelled_request_hangs_up_at_once() -> None:
    async with chat_server((STREAM_HEAD, delta(content="a"), WAIT)) as server:
        provider = ChatProvider({})

        async def listen() -> None:
            async with aclosing(provider.open(profile(server)).stream(HELLO)) as stream:  # type: ignore[type-var]
                async for _ in stream:
                    pass

        task = asyncio.create_task(listen())
        await asyncio.wait_for(server.waiting.wait(), PATIENCE_S)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

        await asyncio.wait_for(server.hung_up.wait(), PATIENCE_S)
        await provider.close()


async def test_half_characters_of_a_tool_can_be_sent() -> None:
    async with chat_server(text_answer("x")) as server:
        await ask(profile(server), ModelRequest((Message("tool", "\ud800", tool_call_id="c"),)))

    assert json.dumps(server.requests[0].body["messages"][0]["content"]) == '"\\ud800"'
