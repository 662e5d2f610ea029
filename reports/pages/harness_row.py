"""What the scenario harness recorded of a row, beside its conversation: figures, tool calls, the sequence of events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from reports.text import storable

EVENTS_SHOWN = 400
TOOLS_SHOWN = 100


@dataclass(frozen=True, slots=True)
class Figure:
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class EventStep:
    """So many events of one type in a row; ``type`` in stored form."""

    type: str
    count: int


@dataclass(frozen=True, slots=True)
class HarnessRowView:
    """``tools`` are the ids of the tools that were called, in order; ``more_…`` count what is left out here."""

    figures: tuple[Figure, ...]
    tools: tuple[str, ...]
    more_tools: int
    events: tuple[EventStep, ...]
    more_events: int
    event_words: str


def harness_row_view(row: Mapping[str, Any]) -> HarnessRowView:
    types = [str(type) for type in row.get("event_types") or ()]
    steps = [EventStep(storable(type), sum(1 for _ in same)) for type, same in groupby(types)]
    tools = [storable(str(tool)) for tool in row.get("trajectory_actions") or ()]
    return HarnessRowView(
        figures=tuple(_figures(row)),
        tools=tuple(tools[:TOOLS_SHOWN]),
        more_tools=max(0, len(tools) - TOOLS_SHOWN),
        events=tuple(steps[:EVENTS_SHOWN]),
        more_events=sum(step.count for step in steps[EVENTS_SHOWN:]),
        event_words=f"{len(types):,} event{'' if len(types) == 1 else 's'}",
    )


def _figures(row: Mapping[str, Any]) -> Iterable[Figure]:
    yield Figure("Profile", storable(str(row["profile"])))
    yield Figure("Answers", f"{row.get('turns_count') or 0:,}")
    yield Figure("Tool calls", _tool_words(row))
    if row.get("context_input_tokens") is not None:
        window = row.get("context_window")
        of = f" of {window:,}" if window is not None else ""
        yield Figure("Context tokens", f"{row['context_input_tokens']:,}{of}")
    usage = row.get("model_usage")
    if usage:
        yield Figure("Tokens in", _tokens_in_words(usage))
        yield Figure("Tokens out", f"{usage.get('output_tokens') or 0:,}")
        yield Figure("Model requests", f"{usage.get('request_count') or 0:,}")


def _tool_words(row: Mapping[str, Any]) -> str:
    failed = row.get("tool_failures") or 0
    return f"{row.get('tool_invocations') or 0:,}" + (f", {failed:,} failed" if failed else "")


def _tokens_in_words(usage: Mapping[str, Any]) -> str:
    cached = usage.get("cache_read_input_tokens") or 0
    return f"{usage.get('input_tokens') or 0:,}" + (f", {cached:,} from the cache" if cached else "")
