"""A row of results as a case, and back.

The row stands whole in the evidence of the criterion ``row``, its trace apart in the last turn, so that lists and
comparisons need not read it. Exporting puts both together again: the row that comes out is the row that went in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evalrunner.harness.runtime import events
from evalrunner.harness.scenarios import Scenario

from reports.domain.harness.criteria import criteria_of, failed_result, results_of
from reports.domain.harness.names import ROW, ROW_LABEL, shown_name, step_id

TIMED_OUT = "HARNESS_TIMED_OUT"
TURN_FAILED = "HARNESS_TURN_FAILED"
ROW_FAILED = "HARNESS_ROW_FAILED"
_TRACE = "trace"
_is_timeout = re.compile(r"scenario timed out after [0-9]+ ms").fullmatch

Row = Mapping[str, Any]
Part = Sequence[Mapping[str, Any]]


def case_of_row(
    row: Row, *, scenario_id: str, scenario: Scenario | None, repetition: int, id: str, name: str = ""
) -> dict[str, Any]:
    """Return the case of a result row in the wire format; ``scenario`` is None where only its results are known.

    The row must be valid; ``scenario_id`` is the suite's id of its scenario.
    """
    error_code = error_code_of(row)
    sentences = list(row.get("failures") or ())
    criteria = criteria_of(scenario.expected) if scenario is not None else ()
    was_judged = error_code in ("", TURN_FAILED)
    results = results_of(criteria, _without_turn_error(sentences, error_code), was_judged=was_judged)
    if error_code == ROW_FAILED:
        results = [failed_result("harness_error", sentences or [str(row["error"])])]
    turns = [] if error_code == ROW_FAILED else _turns(row, scenario, error_code)
    case: dict[str, Any] = {
        "id": id,
        "scenarioId": scenario_id,
        "name": name or shown_name(row["scenario_id"]),
        "repetition": repetition,
        "variants": {},
        "threadId": id,
        "status": status_of(row),
        "turns": turns,
        "assertions": [*results, row_result(row)],
    }
    return case | ({"errorCode": error_code} if error_code else {})


def status_of(row: Row) -> str:
    if row["passed"]:
        return "passed"
    return "failed" if row.get("error") is None else "error"


def error_code_of(row: Row) -> str:
    """Name the error of a row: its time was up, its first turn failed, it is bare; "" where there is none."""
    error = row.get("error")
    if error is None or row["passed"]:
        return ""
    failures = row.get("failures") or ()
    if _is_timeout(error):
        return TIMED_OUT
    return TURN_FAILED if f"runtime error: {error}" in failures else ROW_FAILED


def row_result(row: Row) -> dict[str, Any]:
    """Return the result that carries a row. It fails only where nothing else says why the row did not pass."""
    is_explained = bool(row["passed"] or row.get("failures"))
    kept = {name: value for name, value in row.items() if name != _TRACE}
    return {"id": ROW, "label": ROW_LABEL, "passed": is_explained, "evidence": {"row": kept}}


def _without_turn_error(sentences: Sequence[str], error_code: str) -> list[str]:
    """Leave out what the failed turn itself says."""
    return [each for each in sentences if not (error_code == TURN_FAILED and each.startswith("runtime error: "))]


# --------------------------------------------------------------------------------------------------------------- turns


def _turns(row: Row, scenario: Scenario | None, error_code: str) -> list[dict[str, Any]]:
    """Return a turn for each message, as far as the row tells them apart; what it says of all stands in the last."""
    trace = [event for event in row.get(_TRACE) or () if isinstance(event, Mapping)]
    said = list(_messages(trace))
    asked = [scenario.prompt, *scenario.turns] if scenario is not None else []
    messages = _sent(asked, row) if asked else said[-1:] if len(said) > 500 else said
    texts: list[str | None] = [*messages] or [None]
    parts: Sequence[Part | None] = _parts(trace, len(texts)) or [None] * len(texts)
    turns = [
        _turn(place, text, row, part, is_last=place == len(texts) - 1)
        for place, (text, part) in enumerate(zip(texts, parts, strict=True))
    ]
    if error_code == TURN_FAILED:
        turns[0] |= _failed("runtime_error", f"runtime error: {row['error']}")
    elif error_code == TIMED_OUT:
        turns[-1] |= _failed("scenario_timeout", str(row["error"]))
    return turns


def _failed(id: str, sentence: str) -> dict[str, Any]:
    return {"status": "error", "assertions": [failed_result(id, [sentence])]}


def _sent(asked: Sequence[str], row: Row) -> list[str]:
    """Return the messages that were sent: all, unless the row's time was up before."""
    sent = list(row.get("event_types") or ()).count(events.USER_MESSAGE_ADDED)
    is_cut = error_code_of(row) == TIMED_OUT and sent
    return list(asked[:sent]) if is_cut else list(asked)


def _messages(trace: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for event in trace:
        if event.get("event_type") == events.USER_MESSAGE_ADDED:
            yield str(_payload(event).get("content") or "")


def _parts(trace: Sequence[Mapping[str, Any]], count: int) -> list[Part] | None:
    """Part the events of a session by its messages; None where these are not as many as there are turns."""
    parts: list[list[Mapping[str, Any]]] = [[]]
    for event in trace:
        if event.get("event_type") == events.USER_MESSAGE_ADDED and any(
            each.get("event_type") == events.USER_MESSAGE_ADDED for each in parts[-1]
        ):
            parts.append([])
        parts[-1].append(event)
    return list(parts) if trace and len(parts) == count else None


def _turn(
    place: int, text: str | None, row: Row, part: Sequence[Mapping[str, Any]] | None, *, is_last: bool
) -> dict[str, Any]:
    turn: dict[str, Any] = {
        "stepId": step_id(place),
        "turnId": step_id(place),
        "input": {"text": text} if text is not None else {"scenario": row["scenario_id"]},
        "status": "passed",
        "assertions": [],
        "durationMs": row["elapsed_ms"] if is_last else 0,
    }
    observation = _observation_of_events(part) if part is not None else {}
    if is_last:
        observation = _observation_of_row(row) | observation
        if row.get(_TRACE) is not None:
            observation[_TRACE] = row[_TRACE]
    return turn | ({"observation": observation} if observation else {})


def _observation_of_row(row: Row) -> dict[str, Any]:
    answer, actions, usage = row.get("assistant_response"), row.get("trajectory_actions"), row.get("model_usage")
    return {
        **({"text": answer} if answer is not None else {}),
        **({"toolCalls": [{"name": name} for name in actions]} if actions else {}),
        **({"usage": usage} if usage else {}),
    }


def _observation_of_events(part: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    answers = [_payload(event).get("content") for event in part if event.get("event_type") == _ANSWER]
    calls = list(_calls(part))
    return {
        **({"text": answers[-1]} if answers and isinstance(answers[-1], str) else {}),
        **({"toolCalls": calls} if calls else {}),
        "eventTypes": [str(event.get("event_type")) for event in part],
    }


_ANSWER = events.ASSISTANT_MESSAGE_COMPLETED


def _calls(part: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Give the tool calls of a turn with what came of them."""
    ended = {
        str(_payload(event).get("invocation_id")): _payload(event)
        for event in part
        if event.get("event_type") in (events.TOOL_COMPLETED, events.TOOL_FAILED)
    }
    for event in part:
        if event.get("event_type") == events.TOOL_STARTED:
            started = _payload(event)
            end = ended.get(str(started.get("invocation_id")), {})
            said = {
                "input": started.get("input_preview"),
                "output": end.get("output_preview"),
                "error": end.get("error"),
            }
            yield {"name": str(started.get("tool_id") or "")} | {
                name: text for name, text in said.items() if isinstance(text, str) and text
            }


def _payload(event: Mapping[str, Any]) -> Mapping[str, Any]:
    payload = event.get("payload")
    return payload if isinstance(payload, Mapping) else {}


# ------------------------------------------------------------------------------------------------------------ and back


def row_of_results(results: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Return the row, without its trace, that the results of a case carry; None where they carry none."""
    for result in reversed(results):
        if result["id"] == ROW:
            row = _evidence(result).get("row")
            return dict(row) if isinstance(row, Mapping) else None
    return None


def without_row(results: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Leave out the result that carries the row, which pages show apart, unless it is what failed."""
    return [each for each in results if not (each["passed"] and each["id"] == ROW and "row" in _evidence(each))]


def _evidence(result: Mapping[str, Any]) -> Mapping[str, Any]:
    evidence = result.get("evidence")
    return evidence if isinstance(evidence, Mapping) else {}


def row_of_case(case: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the whole row of a case with its turns; None for a case that no row was the source of."""
    row = row_of_results(case["assertions"])
    if row is None:
        return None
    last = case["turns"][-1].get("observation") if case["turns"] else None
    trace = last.get(_TRACE) if isinstance(last, Mapping) else None
    return row if trace is None else _with_trace(row, trace)


_BEHIND_TRACE = ("turns_count", "trajectory_actions", "trajectory_step_count")


def _with_trace(row: Mapping[str, Any], trace: Any) -> dict[str, Any]:
    """Put a trace back where the harness writes it."""
    behind = {name: value for name, value in row.items() if name in _BEHIND_TRACE}
    return {name: value for name, value in row.items() if name not in behind} | {_TRACE: trace} | behind
