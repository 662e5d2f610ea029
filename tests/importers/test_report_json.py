"""Checking a report as a stream: what the runner core refuses is refused here, with the places."""

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from evalrunner import EvaluationError, parse_evaluation_report
from evalrunner.jsontext import parse_json

from reports.importers.containers import Content
from reports.importers.refusals import MAX_FAULTS, ReportRejected
from reports.importers.report_json import CheckedReport, check_report
from tests.bad_reports import BAD_FILES, BAD_NAMES, BadFile, hostile_report, nested, observing
from tests.factories import case, report, scenario, suite, turn

RESULT = "cases.0.turns.0.assertions.0"
CONFORMANCE = Path(__file__).parent.parent / "data" / "conformance"


def check(value: object) -> CheckedReport:
    text = value if isinstance(value, bytes) else json.dumps(value).encode()
    return check_report(Content(io.BytesIO(text)), lambda case, position: None)


def refusal(value: object) -> ReportRejected:
    with pytest.raises(ReportRejected) as caught:
        check(value)
    return caught.value


def test_a_sound_report_is_handed_on_case_by_case() -> None:
    value = report("PFS")
    taken: list[tuple[int, Mapping[str, Any]]] = []

    checked = check_report(
        Content(io.BytesIO(json.dumps(value).encode())), lambda case, position: taken.append((position, case))
    )

    assert taken == list(enumerate(value["cases"]))
    assert checked.head == {name: value[name] for name in value if name not in ("suite", "cases")}
    assert checked.suite.id == "desk"
    assert checked.counts == {name: count for name, count in value["summary"].items() if name != "total"}


@pytest.mark.parametrize("bad", BAD_FILES, ids=BAD_NAMES)
def test_bad_files_are_refused_with_code_and_place(bad: BadFile) -> None:
    error = refusal(bad.make())

    assert error.code == bad.code
    assert error.sentence.endswith(".")
    if bad.path is not None:
        assert error.faults[0][0] == bad.path


def test_the_boundaries_themselves_are_accepted() -> None:
    check(observing(nested(60)))
    check(observing({"a": [0] * 499_998}))
    check(report("", cases=[]))
    check(hostile_report())


def test_faults_of_all_parts_are_named_together_each_with_what_must_hold() -> None:
    value = report(cases=[case(name="", repetition=-1, status="done"), case(turns=[turn(durationMs="1")])], startedAt=5)
    del value["target"]

    places = dict(refusal(value).faults)

    assert places == {
        "cases.0.name": "must be text that is not empty",
        "cases.0.repetition": "must be a whole number from 0",
        "cases.0.status": "must be one of the statuses that the format knows here",
        "cases.1.turns.0.durationMs": "must be a number of milliseconds from 0",
        "target": "is missing; it must be an object with id and fingerprint",
        "startedAt": "must be text that is not empty",
    }


def test_unknown_members_are_named() -> None:
    faults = refusal(report(cases=[case(turns=[turn(verdict=1, why=2)])])).faults

    assert faults == [("cases.0.turns.0", "has members that the format does not know: verdict, why")]


def test_ids_that_repeat_in_a_suite_are_said_to_repeat() -> None:
    twice = suite("greet") | {"scenarios": [scenario("greet"), scenario("greet")]}

    faults = refusal(report("P", suite=twice)).faults

    assert faults == [("suite.scenarios", "must be a list of 1 to 10,000 scenarios with different ids")]


@pytest.mark.parametrize(
    ("members", "place"),
    [
        ({"evidence": []}, f"{RESULT}.evidence"),
        ({"evidence": {"a": float("1e999")}}, f"{RESULT}.evidence"),
        (
            {"children": [{"id": "x", "passed": True, "evidence": 1}]},
            f"{RESULT}.children.0.evidence",
        ),
        ({"expected": nested(61)}, "cases.0.turns.0.assertions"),
    ],
)
def test_payloads_of_results_are_found(members: dict[str, Any], place: str) -> None:
    result = {"id": "a", "passed": True} | members
    text = json.dumps(report(cases=[case(turns=[turn(assertions=[result])])])).replace("Infinity", "1e999")

    assert refusal(text.encode()).faults[0][0] == place


def test_suite_assertion_results_out_of_bounds_are_found() -> None:
    faults = refusal(report("P", assertions=[{"id": "a", "passed": True, "evidence": 1}])).faults

    assert faults == [("assertions.0.evidence", "must be an object that holds only JSON values")]


def test_only_the_first_faults_are_named_and_reading_ends_there() -> None:
    error = refusal(report(cases=[case(name="") for _ in range(200)]))

    assert len(error.faults) == MAX_FAULTS
    assert "49 more faults" in error.sentence


VECTORS = [
    vector
    for vector in json.loads((CONFORMANCE / "reports-validity.json").read_text())
    if "patch" in vector or "report" in vector
]


@pytest.mark.parametrize("vector", VECTORS, ids=[vector["name"] for vector in VECTORS])
def test_whatever_the_core_refuses_is_refused_and_nothing_else(vector: dict[str, Any]) -> None:
    text = json.dumps(_patched(vector))
    try:
        parse_evaluation_report(parse_json(text.encode()))
        is_sound = True
    except EvaluationError:
        is_sound = False

    if is_sound:
        check(text.encode())
    else:
        assert refusal(text.encode()).faults


def _patched(vector: dict[str, Any]) -> Any:
    if "report" in vector:
        return vector["report"]
    value = json.loads((CONFORMANCE / vector["base"]).read_text())
    for change in vector["patch"]:
        value = _changed(value, change)
    return value


def _changed(value: Any, change: dict[str, Any]) -> Any:
    *above, last = change["path"] or [None]
    if last is None:
        return change["value"]
    holder = value
    for name in above:
        holder = holder[name]
    if change["op"] == "remove":
        del holder[last]
    elif change["op"] == "add" and isinstance(holder, list):
        holder.insert(last, change["value"])
    else:
        holder[last] = change["value"]
    return value
