"""Result rows and the files that hold them (SPEC 7 and 8)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from evalrunner.harness.figures import fold_events
from evalrunner.harness.runtime.events import Event

RowData: TypeAlias = "dict[str, Any]"


@dataclass(frozen=True, slots=True)
class Verdict:
    """How one row came out: ``failures`` empty means that it passed; ``error`` is the text of its error."""

    failures: tuple[str, ...]
    elapsed_ms: int
    error: str | None = None


def build_row(
    scenario_id: str, profile: str, verdict: Verdict, events: Sequence[Event], *, include_trace: bool
) -> RowData:
    """Give the row of a session that was run, also of one whose time was up."""
    envelopes = [event.to_data() for event in events] if include_trace else None
    figures = fold_events([{"event_type": event.event_type, "payload": event.payload} for event in events])
    return _written(scenario_id, profile, verdict, figures, envelopes)


def build_bare_row(scenario_id: str, profile: str, text: str) -> RowData:
    """Give the row that a harness error leaves of a scenario: the text and zeros."""
    figures = {**fold_events([]), "trajectory_step_count": None}
    return _written(scenario_id, profile, Verdict((text,), 0, text), figures, None)


def _written(
    scenario_id: str, profile: str, verdict: Verdict, figures: Mapping[str, Any], trace: list[Any] | None
) -> RowData:
    candidates = {
        "scenario_id": scenario_id,
        "profile": profile,
        "passed": not verdict.failures,
        "failures": list(verdict.failures) or None,
        "error": verdict.error,
        "elapsed_ms": verdict.elapsed_ms,
        "assistant_response": figures["assistant_response"],
        "event_types": figures["event_types"],
        "tool_invocations": figures["tool_invocations"],
        "tool_failures": figures["tool_failures"],
        "context_input_tokens": figures["context_input_tokens"],
        "context_window": figures["context_window"],
        "model_usage": figures["model_usage"],
        "trace": trace,
        "turns_count": figures["turns_count"],
        "trajectory_actions": figures["trajectory_actions"] or None,
        "trajectory_step_count": figures["trajectory_step_count"],
    }
    return {key: value for key, value in candidates.items() if value is not None}


def encode_rows(rows: Iterable[Mapping[str, Any]]) -> str:
    """Write rows as lines of compact JSON, each with LF."""
    return "".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n" for row in rows)


def encode_pretty(value: object) -> str:
    """Write summary, report or comparison: indented by two, without a newline at the end."""
    return json.dumps(value, ensure_ascii=False, indent=2)


def build_report(summary: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {"summary": dict(summary), "results": list(rows)}
