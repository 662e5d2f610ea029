"""The chat protocol on the wire: what is sent, and what the pieces of an answer mean.

The protocol is that of OpenAI's chat completions, which many servers speak; none speaks all of it, so whatever is
missing or odd in an answer is read as if it were not there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from evalrunner.data import JsonObject, freeze_object, thaw
from evalrunner.errors import EvaluationError
from evalrunner.harness.errors import ModelError
from evalrunner.harness.runtime.config import Profile, Usage
from evalrunner.harness.runtime.model import Message, ModelRequest, ToolCall, ToolDefinition

MOST_CALLS: Final = 128
_SHOWN_OF_ODD_DATA: Final = 200
_odd_in_names: Final = re.compile(r"[^A-Za-z0-9_-]")


class ToolNames:
    """Names of tools on the wire, which knows fewer characters, and back."""

    def __init__(self, tool_ids: Iterable[str]) -> None:
        self._names: dict[str, str] = {}
        self._ids: dict[str, str] = {}
        for tool_id in tool_ids:
            self.name(tool_id)

    def name(self, tool_id: str) -> str:
        """Give the name of a tool; two that would read the same are told apart by ``_2``, ``_3`` …"""
        if tool_id not in self._names:
            plain = name = _odd_in_names.sub("_", tool_id)
            number = 1
            while name in self._ids:
                number += 1
                name = f"{plain}_{number}"
            self._names[tool_id], self._ids[name] = name, tool_id
        return self._names[tool_id]

    def tool_id(self, name: str) -> str:
        """Give the tool of a name; a name that was never given out stands for itself."""
        return self._ids.get(name, name)


def request_body(profile: Profile, request: ModelRequest, names: ToolNames) -> dict[str, Any]:
    """Give the body of a request; the profile's extra parameters come last and win."""
    body: dict[str, Any] = {
        "model": profile.model_id,
        "messages": [_message(message, names) for message in request.messages],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if request.tools:
        body["tools"] = [_tool(tool, names) for tool in request.tools]
    if profile.temperature is not None:
        body["temperature"] = profile.temperature
    if profile.top_p is not None:
        body["top_p"] = profile.top_p
    body.update(thaw(profile.extra_params))
    if not body["stream"]:
        body.pop("stream_options", None)  # servers refuse it then
    return body


def _message(message: Message, names: ToolNames) -> dict[str, Any]:
    sent: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        sent["content"] = message.content or None
        sent["tool_calls"] = [_call(call, names) for call in message.tool_calls]
    if message.tool_call_id is not None:
        sent["tool_call_id"] = message.tool_call_id
    return sent


def _call(call: ToolCall, names: ToolNames) -> dict[str, Any]:
    arguments = json.dumps(thaw(call.arguments), ensure_ascii=False)
    return {"id": call.id, "type": "function", "function": {"name": names.name(call.tool_id), "arguments": arguments}}


def _tool(tool: ToolDefinition, names: ToolNames) -> dict[str, Any]:
    function = {
        "name": names.name(tool.tool_id),
        "description": tool.description,
        "parameters": thaw(tool.parameters),
    }
    return {"type": "function", "function": function}


class AnswerReader:
    """Puts an answer together from its pieces, or from one whole answer."""

    def __init__(self, names: ToolNames) -> None:
        self._names = names
        self._calls: dict[int, _CallParts] = {}
        self.usage: Usage | None = None
        self.has_begun = False
        self.is_finished = False

    def read(self, data: str) -> str:
        """Take one piece (or a whole answer) as JSON text and give the text in it; ModelError."""
        self.has_begun = True
        piece = _object(_parse(data))
        if piece is None:
            raise ModelError(f"broken answer: {data[:_SHOWN_OF_ODD_DATA]}")
        if piece.get("error"):
            raise ModelError(_error_text(piece["error"]))
        self.usage = read_usage(piece.get("usage")) or self.usage
        choices = piece.get("choices")
        choice = _object(choices[0]) if isinstance(choices, list) and choices else None
        return "" if choice is None else self._read_choice(choice)

    def _read_choice(self, choice: Mapping[str, Any]) -> str:
        self.is_finished = self.is_finished or bool(choice.get("finish_reason"))
        message = _object(choice.get("delta")) or _object(choice.get("message")) or {}
        calls = message.get("tool_calls")
        for position, call in enumerate(calls if isinstance(calls, list) else ()):
            self._read_call(position, _object(call) or {})
        content = message.get("content")
        return content if isinstance(content, str) else ""

    def _read_call(self, position: int, call: Mapping[str, Any]) -> None:
        index = call.get("index")
        number = index if isinstance(index, int) else position
        if number not in self._calls and len(self._calls) == MOST_CALLS:
            raise ModelError(f"more than {MOST_CALLS} tool calls in one answer")
        self._calls.setdefault(number, _CallParts()).add(call)

    def calls(self, request_number: int) -> Iterator[ToolCall]:
        """Give the calls of the answer in order; one without an id gets one from its place."""
        for position, (_, parts) in enumerate(sorted(self._calls.items())):
            call_id = parts.id or f"call_{request_number}_{position}"
            yield ToolCall(call_id, self._names.tool_id(parts.name), read_arguments("".join(parts.arguments)))


class _CallParts:
    """One call, as far as it has arrived."""

    def __init__(self) -> None:
        self.id, self.name = "", ""
        self.arguments: list[str] = []

    def add(self, call: Mapping[str, Any]) -> None:
        function = _object(call.get("function")) or {}
        self.id = self.id or _text(call.get("id"))
        self.name = self.name or _text(function.get("name"))
        arguments = function.get("arguments")
        # Some servers send the arguments as the object itself.
        self.arguments.append(json.dumps(arguments) if isinstance(arguments, dict) else _text(arguments))


def read_arguments(text: str) -> JsonObject:
    """Read the arguments of a call; what is no JSON object counts as none."""
    value = _parse(text)
    try:
        return freeze_object(value if isinstance(value, dict) else {})
    except EvaluationError:  # too deep, or too much of it
        return {}


def read_usage(value: object) -> Usage | None:
    """Read the tokens of a request; None when the server does not tell both figures."""
    usage = _object(value) or {}
    figures = [_count(usage.get(name)) for name in ("prompt_tokens", "completion_tokens")]
    if figures[0] is None or figures[1] is None:
        return None
    details = _object(usage.get("prompt_tokens_details")) or {}
    return Usage(figures[0], figures[1], cache_read_input_tokens=_count(details.get("cached_tokens")))


def _parse(text: str) -> object:
    """Parse JSON; None for what is none."""

    def refuse(constant: str) -> None:
        raise ValueError(constant)

    try:
        return json.loads(text, parse_constant=refuse)
    except (ValueError, RecursionError):
        return None


def _error_text(error: object) -> str:
    told = _object(error)
    message = error if told is None else told.get("message")
    return str(message if message is not None else error)[: _SHOWN_OF_ODD_DATA * 10]


def _object(value: object) -> dict[str, Any] | None:
    return value if isinstance(value, dict) else None


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def join_url(base: str) -> str:
    """Give the address of chat completions, which a base address may have already."""
    base = base.rstrip("/")
    return base if base.endswith("/chat/completions") else f"{base}/chat/completions"
