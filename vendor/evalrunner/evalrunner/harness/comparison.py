"""Comparing two reports: what got worse and what got better (SPEC 9)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from evalrunner.harness import readers
from evalrunner.harness.errors import ReportParseError
from evalrunner.harness.figures import USAGE_KEYS
from evalrunner.harness.readers import U32, U64, Place, ReadError, list_of, object_of, optional, whole
from evalrunner.harness.strictjson import StrictJsonError, parse_strict, plain

LIMIT_PERCENT: Final = 50.0

_count: Final = whole(U64)
_usage: Final = object_of(dict.fromkeys(USAGE_KEYS, _count), allow_unknown=True)
_summary_required: Final = {
    "total": _count,
    "passed": _count,
    "failed": _count,
    "success_rate": readers.number,
    "total_elapsed_ms": _count,
    "avg_elapsed_ms": readers.number,
    "total_tool_invocations": _count,
    "total_tool_failures": _count,
}
_summary: Final = object_of(
    {**_summary_required, "total_context_input_tokens": optional(_count), "total_model_usage": optional(_usage)},
    tuple(_summary_required),
    allow_unknown=True,
)
_row: Final = object_of(
    {
        "scenario_id": readers.text,
        "profile": readers.text,
        "passed": readers.boolean,
        "failures": list_of(readers.text),
        "error": optional(readers.text),
        "elapsed_ms": _count,
        "assistant_response": optional(readers.text),
        "event_types": list_of(readers.text),
        "tool_invocations": _count,
        "tool_failures": _count,
        "context_input_tokens": optional(_count),
        "context_window": optional(_count),
        "model_usage": optional(_usage),
        "trace": optional(list_of(readers.anything)),
        "turns_count": _count,
        "trajectory_actions": list_of(readers.text),
        "trajectory_step_count": whole(U32),
    },
    ("scenario_id", "profile", "passed", "elapsed_ms"),
    allow_unknown=True,
)
_report: Final = object_of({"summary": _summary, "results": list_of(_row)}, ("summary", "results"), allow_unknown=True)


def parse_report(text: str) -> dict[str, Any]:
    """Read the text of a report as plain data; ReportParseError for one that lacks or garbles a key."""
    try:
        value = parse_strict(text)
        _report(value, Place())
    except (StrictJsonError, ReadError) as error:
        raise ReportParseError(str(error)) from None
    return cast("dict[str, Any]", plain(value))


def check_result_row(value: object) -> None:
    """Check one result row, parsed strictly or plain; ReportParseError for a key that is missing or garbled."""
    _check(_row, value)


def check_summary(value: object) -> None:
    """Check a summary, parsed strictly or plain; ReportParseError for a key that is missing or garbled."""
    _check(_summary, value)


def _check(reader: readers.Reader, value: object) -> None:
    try:
        reader(value, Place())
    except ReadError as error:
        raise ReportParseError(str(error)) from None


def compare_reports(baseline: Mapping[str, Any], candidate: Mapping[str, Any]) -> dict[str, Any]:
    """Compare two valid reports; all five keys, in order.

    The deltas come from the summaries as written. Rows are matched by id, the last of a repeated one; ids are visited
    in the order of the candidate.
    """
    before, after = _rows_by_id(baseline), _rows_by_id(candidate)
    pairs = [(id, before[id], after[id]) for id in after if id in before]
    return {
        "pass_rate_delta": _delta(baseline, candidate, "success_rate"),
        "avg_elapsed_delta_ms": _delta(baseline, candidate, "avg_elapsed_ms"),
        "total_token_delta": _token_delta(baseline["summary"], candidate["summary"]),
        "regressions": [{"scenario_id": id, "kind": kind} for id, b, c in pairs for kind in _regressions(b, c)],
        "improvements": [{"scenario_id": id, "kind": kind} for id, b, c in pairs for kind in _improvements(b, c)],
    }


def _rows_by_id(report: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """A repeated id keeps the place of its first row and gets the last one."""
    return {row["scenario_id"]: row for row in report["results"]}


def _delta(baseline: Mapping[str, Any], candidate: Mapping[str, Any], key: str) -> float:
    return float(candidate["summary"][key]) - float(baseline["summary"][key])


def _token_delta(before: Mapping[str, Any], after: Mapping[str, Any]) -> int | None:
    old, new = (summary.get("total_context_input_tokens") for summary in (before, after))
    return None if old is None or new is None else new - old


def _regressions(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    if before["passed"] and not after["passed"]:
        yield "passed_to_failed"
    slower = _growth(before["elapsed_ms"], after["elapsed_ms"])
    if slower > LIMIT_PERCENT:
        yield f"slower_by_{slower:.0f}%"
    more = _growth(before.get("context_input_tokens") or 0, after.get("context_input_tokens") or 0)
    if more > LIMIT_PERCENT:
        yield f"more_tokens_{more:.0f}%"


def _improvements(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    if after["passed"] and not before["passed"]:
        yield "failed_to_passed"
    faster = -_growth(before["elapsed_ms"], after["elapsed_ms"])
    if faster > LIMIT_PERCENT:
        yield f"faster_by_{faster:.0f}%"


def _growth(before: int, after: int) -> float:
    """Give by how many percent a figure grew; negative if it shrank, 0 when nothing can be said of a baseline of 0.

    Both figures become doubles first, as in the original: ties of the rounding depend on it.
    """
    return (float(after) - float(before)) / float(before) * 100.0 if before > 0 else 0.0
