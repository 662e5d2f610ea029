"""Sentences for the places at which the runner core refuses a report.

The core names codes and locations only. What is said here is a help to the reader and decides nothing.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from evalrunner.data import check_bounds, check_object
from evalrunner.errors import DATA_LIMIT, OBSERVATION_INVALID, EvaluationError

from reports.importers.refusals import Fault

_ABSENT = object()
_TEXT = "must be text that is not empty"
_RULES = {
    "schemaVersion": "must be 1",
    "repetition": "must be a whole number from 0",
    "durationMs": "must be a number of milliseconds from 0",
    "status": "must be one of the statuses that the format knows here",
    "turns": "must be a list of at most 500 turns",
    "assertions": "must be a list of at most 200 items (in a suite with different ids)",
    "children": "must be a list of results",
    "variants": "must be an object from step id to variant id (in a suite a list of 1 to 100 with different ids)",
    "input": "must be an object of JSON values",
    "observation": "must be an object of JSON values",
    "checkpoint": "must be an object of JSON values",
    "evidence": "must be an object of JSON values",
    "metadata": "must be an object of JSON values",
    "parameters": "must be an object of JSON values",
    "passed": "must be true or false",
    "present": "must be true or false",
    "actual": "must be an object with present and, where there is one, value",
    "target": "must be an object with id and fingerprint",
    "summary": "must be an object with the number of cases in total and by status",
    "cases": "must be a list of at most 100,000 cases",
    "suite": "must be a suite definition",
    "scenarios": "must be a list of 1 to 10,000 scenarios with different ids",
    "steps": "must be a list of 1 to 500 steps with different ids",
    "writePolicy": "must be read_only or external",
    "tags": "must be a list of at most 100 texts",
    "label": "must be text",
    "id": "must be text that is not empty (in a suite 1 to 160 letters, digits and _.:-)",
}
_COUNTS = {"total", "pending", "running", "passed", "failed", "error", "skipped", "blocked", "cancelled"}
_KNOWN = {
    "cases": "id scenarioId name repetition variants threadId status turns assertions errorCode skipReason",
    "turns": "stepId turnId input status observation assertions errorCode durationMs checkpoint",
    "assertions": "id label passed actual expected errorCode evidence children",
    "children": "id label passed actual expected errorCode evidence children",
    "target": "id fingerprint",
    "actual": "present value",
    "summary": " ".join(_COUNTS),
    "scenarios": "id name description tags writePolicy skipReason metadata steps assertions",
    "steps": "id input assertions variants",
    "suite": "schemaVersion id name metadata scenarios assertions",
}
LIMIT = "is nested deeper than 60 levels or holds more than 500,000 values"
NOT_DATA = "must be an object that holds only JSON values"


def fault(path: str, root: object, root_path: str = "") -> Fault:
    """Return a place with what must hold there; ``root`` is the value at ``root_path``, in which the place lies."""
    names = path.removeprefix(root_path).strip(".").split(".") if path != root_path else []
    return path, _sentence(path.split("."), root, names)


def _sentence(path: list[str], root: object, names: list[str]) -> str:
    holder, value = _ABSENT, root
    for name in names:
        holder, value = value, _member(value, name)
    if value is _ABSENT:
        return f"is missing; it {_rule(path)}" if isinstance(holder, Mapping) else "has ids that repeat"
    unknown = _unknown_members(path, value)
    if unknown:
        return f"has members that the format does not know: {', '.join(unknown)}"
    return _rule(path)


def _member(holder: object, name: str) -> Any:
    if isinstance(holder, Mapping):
        return holder.get(name, _ABSENT)
    if isinstance(holder, list) and name.isdecimal() and int(name) < len(holder):
        return holder[int(name)]
    return _ABSENT


def _rule(path: list[str]) -> str:
    if len(path) > 1 and path[-2] == "summary" and path[-1] in _COUNTS:
        return "must be a whole number from 0"
    if path[-1].isdecimal():
        return "must be an object"
    return _RULES.get(path[-1], _TEXT)


def _unknown_members(path: list[str], value: object) -> list[str]:
    if not isinstance(value, Mapping):
        return []
    sort = path[-2] if path[-1].isdecimal() and len(path) > 1 else path[-1]
    known = _KNOWN.get(sort)
    if known is None or (path[0] == "suite" and sort == "assertions"):
        return []
    return [ascii(name)[1:-1][:80] for name in value if name not in known.split()][:5]


# ------------------------------------------------------------------------------------------------- payloads of a case


def payload_faults(case: object, where: str, code: str) -> Iterator[Fault]:
    """Find the payloads for which the core refused a case at once, without naming them."""
    for path, value, is_object in _payloads(case, where):
        try:
            (check_object if is_object else check_bounds)(value)
        except EvaluationError as error:
            yield path, LIMIT if error.code == DATA_LIMIT else NOT_DATA if error.code == OBSERVATION_INVALID else code


def _payloads(case: object, where: str) -> Iterator[tuple[str, object, bool]]:
    """Give the parts with bounds of their own: path, value, and whether it must be an object."""
    if not isinstance(case, Mapping):
        return
    turns = case.get("turns")
    for index, turn in enumerate(turns if isinstance(turns, list) else ()):
        if not isinstance(turn, Mapping):
            continue
        for name in ("input", "observation", "checkpoint"):
            if name in turn or name == "input":
                yield f"{where}.turns.{index}.{name}", turn.get(name), True
        yield from results_payloads(turn, f"{where}.turns.{index}")
    yield from results_payloads(case, where)


def results_payloads(holder: Mapping[str, Any], where: str) -> Iterator[tuple[str, object, bool]]:
    results = holder.get("assertions")
    place = f"{where}.assertions" if where else "assertions"
    yield place, results, False
    try:
        check_bounds(results)
    except EvaluationError:
        return
    yield from _evidence(results, place)


def _evidence(results: object, place: str) -> Iterator[tuple[str, object, bool]]:
    for index, result in enumerate(results if isinstance(results, list) else ()):
        if not isinstance(result, Mapping):
            continue
        if "evidence" in result:
            yield f"{place}.{index}.evidence", result["evidence"], True
        yield from _evidence(result.get("children"), f"{place}.{index}.children")
