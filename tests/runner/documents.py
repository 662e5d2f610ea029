"""Small documents that are valid as they stand, and the ways in which the corpus changes them."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any

from evalrunner.data import thaw

STEP = {"id": "ask", "input": {"text": "Madrid to Lisbon"}}
SCENARIO = {"id": "search", "name": "Search", "writePolicy": "read_only", "steps": [STEP]}
SUITE = {"schemaVersion": 1, "id": "flight-desk", "name": "Flight desk", "scenarios": [SCENARIO]}
CHECK = {"id": "present", "kind": "check", "path": ["text"], "operator": "exists"}
RESULT = {"id": "present", "passed": True}
TURN = {
    "stepId": "ask",
    "turnId": "eval.1",
    "input": {"text": "Madrid to Lisbon"},
    "status": "passed",
    "observation": {"text": "three flights"},
    "assertions": [RESULT],
    "durationMs": 12.5,
}
CASE = {
    "id": "case-1",
    "scenarioId": "search",
    "name": "Search",
    "repetition": 0,
    "variants": {},
    "threadId": "run-1:case-1",
    "status": "passed",
    "turns": [TURN],
    "assertions": [],
}
STATUSES = ("pending", "running", "passed", "failed", "error", "skipped", "blocked", "cancelled")


def make_suite(**members: Any) -> dict[str, Any]:
    """Give a suite of one scenario with one step, with some members put in."""
    return {**_copy(SUITE), **_copy(members)}


def make_suite_with_scenario(**members: Any) -> dict[str, Any]:
    return make_suite(scenarios=[SCENARIO | members])


def make_suite_with_step(**members: Any) -> dict[str, Any]:
    return make_suite_with_scenario(steps=[STEP | members])


def make_report(*cases: Mapping[str, Any], **members: Any) -> dict[str, Any]:
    """Give a completed report of these cases (default: one that passed) whose summary fits."""
    listed = _copy(list(cases or (CASE,)))
    counts = Counter(str(case.get("status")) for case in listed)
    report = {
        "schemaVersion": 1,
        "runId": "run-1",
        "suite": _copy(SUITE),
        "fingerprint": "f",
        "target": {"id": "bot", "fingerprint": "1"},
        "startedAt": "2026-01-01T00:00:00.000Z",
        "status": "completed",
        "cases": listed,
        "summary": {"total": len(listed)} | {status: counts[status] for status in STATUSES},
    }
    return {**report, **_copy(members)}


def make_report_with_turn(**members: Any) -> dict[str, Any]:
    return make_report(CASE | {"turns": [TURN | members]})


def make_report_with_result(**members: Any) -> dict[str, Any]:
    return make_report_with_turn(assertions=[RESULT | members])


def nest(depth: int, leaf: Any = 1, key: str = "d") -> Any:
    """Put a value into so many objects."""
    for _ in range(depth):
        leaf = {key: leaf}
    return leaf


def count_values(value: Any) -> int:
    """Count as the bounds do: each object, list and scalar counts one."""
    if isinstance(value, dict):
        return 1 + sum(map(count_values, value.values()))
    return 1 + sum(map(count_values, value)) if isinstance(value, list) else 1


def count_calls(work: Callable[[], object]) -> int:
    """Count the Python calls that a piece of work makes: a measure of its cost that no busy machine disturbs."""
    calls = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return calls


def generate_suite(generator: Mapping[str, Any]) -> dict[str, Any]:
    """Build the suite that a generator of the corpus describes in words."""
    kind, n = generator["kind"], generator["n"]
    exists = {"kind": "check", "operator": "exists"}
    assertions = [{"id": f"a{i}", **exists, "path": []} for i in range(n if kind.startswith("assertions-") else 0)]
    match kind:
        case "variants":
            return make_suite_with_step(variants=[{"id": f"v{i}", "input": {}} for i in range(n)])
        case "assertions-step":
            return make_suite_with_step(assertions=assertions)
        case "assertions-scenario":
            return make_suite_with_scenario(assertions=assertions)
        case "assertions-suite":
            return make_suite(assertions=assertions)
        case "children":
            return make_suite(assertions=[{"id": "x", "kind": "all", "assertions": _leaves(n)}])
        case "steps":
            return make_suite_with_scenario(steps=[{"id": f"s{i}", "input": {}} for i in range(n)])
        case "scenarios":
            return make_suite(scenarios=[_tiny_scenario(i) for i in range(n)])
        case "metadata-depth":
            return make_suite(metadata=nest(n))
        case "input-depth":
            return make_suite_with_step(input=nest(n))
        case "not-chain":
            return make_suite(assertions=[_not_chain(n)])
        case "total-values":
            suite = make_suite(metadata={"list": []})
            suite["metadata"]["list"] = [0] * (n - count_values(suite))
            return suite
    raise AssertionError(f"unknown generator {kind}")


def _leaves(n: int) -> list[dict[str, Any]]:
    return [CHECK | {"id": f"c{i}"} for i in range(n)]


def _tiny_scenario(index: int) -> dict[str, Any]:
    return {"id": f"c{index}", "name": "n", "writePolicy": "read_only", "steps": [{"id": "s", "input": {}}]}


def _not_chain(n: int) -> dict[str, Any]:
    assertion: dict[str, Any] = dict(CHECK)
    for _ in range(n):
        assertion = {"id": "n", "kind": "not", "assertion": assertion}
    return assertion


def generate_report(report: dict[str, Any], generator: Mapping[str, Any]) -> None:
    """Change a report as a generator of the corpus describes in words."""
    kind, n = generator["kind"], generator["n"]
    first = report["cases"][0]
    results = [{"id": f"a{i}", "passed": True} for i in range(n if kind in ("case-assertions", "children") else 0)]
    match kind:
        case "case-assertions":
            first["assertions"] = results
        case "children":
            first["assertions"] = [{"id": "x", "passed": True, "children": results}]
        case "turns":
            first["turns"] = [_copy(first["turns"][0]) for _ in range(n)]
        case "observation-list":
            first["turns"][0]["observation"] = {"list": [1] * n}
        case "many-large-observations":
            for case in report["cases"][:n]:
                case["turns"][0]["observation"] = {"list": [0] * 199_998}
        case _:
            raise AssertionError(f"unknown generator {kind}")


def apply_change(document: Any, change: Mapping[str, Any]) -> None:
    """Replace, add or remove one place of a document, as a patch of the corpus says."""
    *way, last = change["path"]
    for key in way:
        document = document[key]
    if change["op"] == "remove":
        del document[last]
    elif change["op"] == "add" and isinstance(document, list):
        document.insert(last, _copy(change["value"]))
    else:
        document[last] = _copy(change["value"])


def _copy(value: Any) -> Any:
    return thaw(value)
