"""The figures of a row that follow from the events of its session (SPEC 7 and 14)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from evalrunner.harness.runtime import events

USAGE_SUMS: Final = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
USAGE_KEYS: Final = ("request_count", *USAGE_SUMS)


def fold_events(events_of_session: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Give the figures of a row from its events, each with ``event_type`` and ``payload``.

    Always all ten keys; None or an empty list stands for what is absent.
    """
    answers = _payloads(events_of_session, events.ASSISTANT_MESSAGE_COMPLETED)
    started = _payloads(events_of_session, events.TOOL_STARTED)
    contexts = _payloads(events_of_session, events.CONTEXT_ASSEMBLED)
    context = (contexts[-1].get("usage") or {}) if contexts else {}
    return {
        "assistant_response": answers[-1].get("content") if answers else None,
        "event_types": [event["event_type"] for event in events_of_session],
        "tool_invocations": len(started),
        "tool_failures": len(_payloads(events_of_session, events.TOOL_FAILED)),
        "context_input_tokens": context.get("total_tokens"),
        "context_window": context.get("context_window"),
        "model_usage": _sum_usage(_payloads(events_of_session, events.USAGE_RECORDED)),
        "turns_count": len(answers),
        "trajectory_actions": [payload.get("tool_id", "") for payload in started],
        "trajectory_step_count": len(started),
    }


def _payloads(events_of_session: Sequence[Mapping[str, Any]], event_type: str) -> list[Mapping[str, Any]]:
    return [event["payload"] for event in events_of_session if event["event_type"] == event_type]


def _sum_usage(usages: Sequence[Mapping[str, Any]]) -> dict[str, int] | None:
    if not usages:
        return None
    return {"request_count": len(usages)} | {key: sum(usage.get(key) or 0 for usage in usages) for key in USAGE_SUMS}
