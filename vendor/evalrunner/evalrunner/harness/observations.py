"""Making the harness's events from what an adapter's agent observed (SPEC 19).

An observation is free data about one turn. If it holds ``events`` in the harness's form (``event_type`` and
``payload``), they are taken as they are and nothing is made up. Else, in this order:

    ``toolCalls`` or ``tool_calls``   each with ``tool_id``, ``tool`` or ``name``; failed with ``error``, ``isError`` or
                                      a ``status`` of ``failed`` or ``error``
    ``usage``                         an object, or a list of them: ``inputTokens``, ``input_tokens`` or
                                      ``prompt_tokens`` and so on
    ``context``                       ``totalTokens`` and ``contextWindow``, if the agent knows its context size
    the answer                        the first text at one of ``ANSWER_PATHS``, else the last of ``messages``
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from evalrunner.harness.runtime import events

Made: TypeAlias = "tuple[str, dict[str, Any]]"

ANSWER_PATHS: Final = (
    ("response", "message"),
    ("response", "text"),
    ("response", "content"),
    ("response", "message", "text"),
    ("response", "message", "content"),
    ("message", "text"),
    ("message", "content"),
    ("message",),
    ("text",),
    ("reply",),
    ("answer",),
    ("output",),
    ("output", "text"),
    ("content",),
    ("response",),
    ("finalMessage",),
)
_TOOL_NAMES: Final = ("tool_id", "toolId", "tool", "name")
_FAILED: Final = ("failed", "error")
_USAGE_NAMES: Final[Mapping[str, Sequence[str]]] = {
    "input_tokens": ("input_tokens", "inputTokens", "prompt_tokens", "promptTokens"),
    "output_tokens": ("output_tokens", "outputTokens", "completion_tokens", "completionTokens"),
    "cache_creation_input_tokens": ("cache_creation_input_tokens", "cacheCreationInputTokens"),
    "cache_read_input_tokens": ("cache_read_input_tokens", "cacheReadInputTokens"),
}
_CONTEXT_NAMES: Final[Mapping[str, Sequence[str]]] = {
    "total_tokens": ("total_tokens", "totalTokens"),
    "context_window": ("context_window", "contextWindow"),
}


def read_events(observation: Mapping[str, Any]) -> list[Made] | None:
    """Give the events that the agent itself made, or None if it makes none in the harness's form."""
    given = observation.get("events")
    if not isinstance(given, list | tuple) or not given or not all(_is_event(event) for event in given):
        return None
    return [(event["event_type"], _payload(event)) for event in given]


def make_events(observation: Mapping[str, Any], *, profile: str, prefix: str) -> Iterator[Made]:
    """Make up the events of one turn; ``prefix`` makes the ids of its calls unique in the session."""
    for number, call in enumerate(_entries(observation, "toolCalls", "tool_calls")):
        yield from _call_events(call, f"{prefix}_{number}")
    for usage in _entries(observation, "usage"):
        if figures := _figures(usage, _USAGE_NAMES):
            yield events.USAGE_RECORDED, {"model_profile": profile, "input_tokens": 0, "output_tokens": 0, **figures}
    context = observation.get("context")
    if isinstance(context, Mapping) and "total_tokens" in (figures := _figures(context, _CONTEXT_NAMES)):
        yield events.CONTEXT_ASSEMBLED, {"usage": figures}
    if (answer := find_answer(observation)) is not None:
        yield events.ASSISTANT_MESSAGE_COMPLETED, {"message_id": events.new_id("msg"), "content": answer}


def find_answer(observation: Mapping[str, Any]) -> str | None:
    """Give what the agent said, or None where nothing reads like speech."""
    for path in ANSWER_PATHS:
        value: Any = observation
        for name in path:
            value = value.get(name) if isinstance(value, Mapping) else None
        if isinstance(value, str):
            return value
    messages = observation.get("messages")
    last = messages[-1] if isinstance(messages, list | tuple) and messages else None
    content = last.get("content") if isinstance(last, Mapping) else None
    return content if isinstance(content, str) else None


def _is_event(event: object) -> bool:
    return isinstance(event, Mapping) and isinstance(event.get("event_type"), str) and "payload" in event


def _payload(event: Mapping[str, Any]) -> dict[str, Any]:
    """Take a payload as far as the harness reads it: a figure of a wrong type counts as absent."""
    payload = event["payload"] if isinstance(event["payload"], Mapping) else {}
    taken = {key: value for key, value in payload.items() if key != "type"}
    kind = event["event_type"]
    if kind == events.ASSISTANT_MESSAGE_COMPLETED and not isinstance(taken.get("content"), str):
        taken["content"] = ""
    elif kind == events.TOOL_STARTED and not isinstance(taken.get("tool_id"), str):
        taken["tool_id"] = ""
    elif kind == events.USAGE_RECORDED:
        taken |= {key: None for key in _USAGE_NAMES if key in taken and not _is_count(taken[key])}
    elif kind == events.CONTEXT_ASSEMBLED:
        usage = taken.get("usage")
        taken["usage"] = _figures(usage, _CONTEXT_NAMES) if isinstance(usage, Mapping) else {}
    return taken


def _entries(observation: Mapping[str, Any], *names: str) -> list[Any]:
    """Give the first member of these names as a list of objects and texts."""
    value = next((observation[name] for name in names if observation.get(name)), None)
    entries = value if isinstance(value, list | tuple) else [value]
    return [entry for entry in entries if isinstance(entry, Mapping | str)]


def _call_events(call: Mapping[str, Any] | str, id: str) -> Iterator[Made]:
    tool_id = call if isinstance(call, str) else _first(call, _TOOL_NAMES, str) or ""
    yield events.TOOL_STARTED, {"invocation_id": id, "tool_id": tool_id, "input_preview": tool_id}
    error = None if isinstance(call, str) else _error_of(call)
    if error is None:
        done: dict[str, Any] = {
            "output_preview": "",
            "exit_code": None,
            "duration_ms": 0,
            "truncated": False,
            "images": [],
        }
        yield events.TOOL_COMPLETED, {"invocation_id": id, "tool_id": tool_id, **done}
    else:
        yield events.TOOL_FAILED, {"invocation_id": id, "tool_id": tool_id, "error": error}


def _error_of(call: Mapping[str, Any]) -> str | None:
    error = call.get("error")
    if error:
        return error if isinstance(error, str) else "the tool failed"
    return "the tool failed" if call.get("isError") is True or call.get("status") in _FAILED else None


def _figures(data: Any, names: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Give the whole numbers of an object under our names."""
    if not isinstance(data, Mapping):
        return {}
    counts = {name: value for name, value in data.items() if _is_count(value)}
    found = {ours: next((counts[name] for name in theirs if name in counts), None) for ours, theirs in names.items()}
    return {name: value for name, value in found.items() if value is not None}


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _first(data: Mapping[str, Any], names: Sequence[str], kind: type) -> Any:
    return next((data[name] for name in names if isinstance(data.get(name), kind)), None)
