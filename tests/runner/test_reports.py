"""Reading reports: the corpus, every limit at its boundary, and reading piece by piece."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from evalrunner.canonical import canonical_text
from evalrunner.data import thaw
from evalrunner.errors import EvaluationError
from evalrunner.jsontext import parse_json
from evalrunner.models import CaseStatus, EvaluationReport
from evalrunner.reports import ReportCheck, parse_evaluation_case, parse_evaluation_report, read_case
from hypothesis import given
from hypothesis import strategies as st

from tests.runner.documents import (
    CASE,
    RESULT,
    STATUSES,
    TURN,
    apply_change,
    count_calls,
    generate_report,
    make_report,
    make_report_with_result,
    make_report_with_turn,
    nest,
)
from tests.runner.replay import CORPUS, read_corpus

VECTORS = read_corpus("reports-validity.json")
FILES = sorted(  # one of each family: the others hold no other kinds of values
    path.relative_to(CORPUS).as_posix()
    for pattern in ("reports/*.json", "families/*/1-*.json*")
    for path in CORPUS.glob(pattern)
    if path.name not in ("index.json", "truth.json")
)
RESUME_INVALID = "EVALUATION_RESUME_INVALID"


def read_file(path: Path) -> Any:
    content = path.read_bytes()
    return parse_json(gzip.decompress(content) if path.suffix == ".gz" else content)


def make_value(vector: Mapping[str, Any]) -> Any:
    """Build what a vector has read: a document of its own, or a changed report of the corpus."""
    if "report" in vector:
        return thaw(vector["report"])
    value = read_corpus(vector["base"])
    if "generator" in vector:
        generate_report(value, vector["generator"])
    for change in vector.get("patch", []):
        apply_change(value, change)
    return value


def refusal(value: object) -> tuple[str, tuple[str, ...]]:
    with pytest.raises(EvaluationError) as caught:
        parse_evaluation_report(value)
    return caught.value.code, caught.value.paths


@pytest.mark.parametrize("name", FILES)
def test_a_report_of_the_corpus_is_given_back_as_it_was(name: str) -> None:
    value = read_file(CORPUS / name)

    report = parse_evaluation_report(value)

    assert canonical_text(report.to_data()) == canonical_text(value)


@pytest.mark.parametrize("vector", [v for v in VECTORS if v["ok"]], ids=lambda vector: vector["name"])
def test_a_changed_report_of_the_corpus_is_still_read(vector: Mapping[str, Any]) -> None:
    value = make_value(vector)

    assert canonical_text(parse_evaluation_report(value).to_data()) == canonical_text(value)


@pytest.mark.parametrize("vector", [v for v in VECTORS if not v["ok"]], ids=lambda vector: vector["name"])
def test_a_changed_report_of_the_corpus_is_refused_at_these_places(vector: Mapping[str, Any]) -> None:
    assert refusal(make_value(vector)) == (vector["code"], tuple(vector["paths"]))


# -------------------------------------------------------------------------------------------------------------- limits


def copies(item: Mapping[str, Any], count: int) -> list[Any]:
    return [dict(item) for _ in range(count)]


def make_report_of_many(count: int) -> dict[str, Any]:
    counts = dict.fromkeys(STATUSES, 0) | {"passed": count, "total": count}
    return make_report() | {"cases": [CASE | {"turns": []}] * count, "summary": counts}


# name: (what makes the report of a size, largest size, location of the finding)
SIZES: dict[str, tuple[Any, int, str]] = {
    "cases": (make_report_of_many, 100_000, "cases"),
    "turns": (lambda n: make_report(CASE | {"turns": copies(TURN, n)}), 500, "cases.0.turns"),
    "results of a turn": (
        lambda n: make_report_with_turn(assertions=copies(RESULT, n)),
        200,
        "cases.0.turns.0.assertions",
    ),
    "results of a case": (
        lambda n: make_report(CASE | {"assertions": copies(RESULT, n)}),
        200,
        "cases.0.assertions",
    ),
    "results of the suite": (lambda n: make_report(assertions=copies(RESULT, n)), 200, "assertions"),
    "repetition": (lambda n: make_report(CASE | {"repetition": n}), 2**53 - 1, "cases.0.repetition"),
}


@pytest.mark.parametrize("name", SIZES)
def test_a_size_is_accepted_up_to_its_limit_and_refused_beyond(name: str) -> None:
    make, largest, location = SIZES[name]

    parse_evaluation_report(make(largest))

    assert refusal(make(largest + 1)) == (RESUME_INVALID, (location,))


@pytest.mark.parametrize(
    ("make", "deepest"),
    [
        (lambda n: make_report_with_turn(input=nest(n)), 60),
        (lambda n: make_report_with_turn(observation=nest(n)), 60),
        (lambda n: make_report_with_turn(checkpoint=nest(n)), 60),
        (lambda n: make_report_with_result(actual={"present": True, "value": nest(n)}), 57),
        (lambda n: make_report_with_result(expected=nest(n)), 58),
        (lambda n: make_report_with_result(evidence=nest(n)), 58),
        (lambda n: make_report(suite=make_report()["suite"] | {"metadata": nest(n)}), 59),
        (lambda n: make_report(assertions=[nest_children(n)]), 29),
        (lambda n: make_report(CASE | {"assertions": [nest_children(n)]}), 29),
    ],
    ids=["input", "observation", "checkpoint", "actual", "expected", "evidence", "suite", "children", "of a case"],
)
def test_each_payload_has_a_depth_of_its_own(make: Any, deepest: int) -> None:
    parse_evaluation_report(make(deepest))

    assert refusal(make(deepest + 1)) == ("EVALUATION_DATA_LIMIT", ())


def nest_children(depth: int) -> dict[str, Any]:
    result: dict[str, Any] = dict(RESULT)
    for _ in range(depth):
        result = RESULT | {"children": [result]}
    return result


@pytest.mark.parametrize("member", ["input", "observation", "checkpoint"])
def test_each_payload_may_hold_500_000_values_of_its_own(member: str) -> None:
    parse_evaluation_report(make_report_with_turn(**{member: {"list": [0] * 499_998}}))

    assert refusal(make_report_with_turn(**{member: {"list": [0] * 499_999}}))[0] == "EVALUATION_DATA_LIMIT"


def test_a_payload_nested_beyond_the_recursion_limit_is_refused_before_anything_recurses() -> None:
    deep = make_report()
    deep["cases"][0]["turns"][0]["observation"] = nest(100_000)

    assert refusal(deep) == ("EVALUATION_DATA_LIMIT", ())


@pytest.mark.parametrize(
    ("member", "value", "location"),
    [
        ("id", "", "id"),
        ("scenarioId", 5, "scenarioId"),
        ("repetition", -1, "repetition"),
        ("repetition", True, "repetition"),
        ("variants", {"a": ""}, "variants.a"),
        ("variants", None, "variants"),
        ("status", "ok", "status"),
        ("turns", None, "turns"),
        ("turns", [None], "turns.0"),
        ("assertions", [5], "assertions.0"),
        ("errorCode", "", "errorCode"),
        ("skipReason", None, "skipReason"),
    ],
)
def test_a_fault_of_a_case_is_found_at_its_place(member: str, value: object, location: str) -> None:
    assert refusal(make_report(CASE, CASE | {member: value})) == (RESUME_INVALID, (f"cases.1.{location}",))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), True, None, -1, -0.5, "1"])
def test_a_duration_is_a_finite_number_from_0_on(value: object) -> None:
    assert refusal(make_report_with_turn(durationMs=value)) == (RESUME_INVALID, ("cases.0.turns.0.durationMs",))


@pytest.mark.parametrize("member", ["input", "observation", "checkpoint"])
@pytest.mark.parametrize("value", [None, [], "x", {"n": float("nan")}, {"n": [float("inf")]}])
def test_a_payload_that_is_no_free_data_wins_over_every_finding(member: str, value: object) -> None:
    bad = make_report(CASE | {"id": 5, "turns": [TURN | {member: value}]}, runId="")

    assert refusal(bad) == ("EVALUATION_OBSERVATION_INVALID", ())


@pytest.mark.parametrize(
    ("result", "location"),
    [
        ({"actual": {"present": True, "value": float("nan")}}, "actual.value"),
        ({"expected": [float("inf")]}, "expected"),
        ({"children": [RESULT, RESULT | {"passed": 1}]}, "children.1.passed"),
        ({"children": {}}, "children"),
        ({"label": None}, "label"),
    ],
)
def test_a_fault_of_a_result_is_found_at_its_place(result: dict[str, Any], location: str) -> None:
    assert refusal(make_report_with_result(**result)) == (
        RESUME_INVALID,
        (f"cases.0.turns.0.assertions.0.{location}",),
    )


def test_members_named_proto_are_dropped_from_free_data_and_choices_of_variants() -> None:
    report = make_report(
        CASE | {"variants": {"__proto__": "", "s": "v"}, "turns": [TURN | {"input": {"__proto__": 1}}]}
    )

    case = parse_evaluation_report(report).cases[0]

    assert (case.variants, case.turns[0].input) == ({"s": "v"}, {})


@given(st.lists(st.sampled_from(STATUSES), max_size=6), st.sampled_from(["total", *STATUSES]), st.integers(-1, 1))
def test_a_summary_must_count_the_cases(statuses: list[str], name: str, by: int) -> None:
    report = make_report(*[CASE | {"status": status} for status in statuses])
    if not statuses:
        report = make_report(cases=[], summary=dict.fromkeys(["total", *STATUSES], 0))
    report["summary"][name] += by

    if by == 0:
        summary = parse_evaluation_report(report).summary
        assert summary.total == sum(getattr(summary, status) for status in CaseStatus) == len(statuses)
    else:
        below_zero = (f"summary.{name}",) if report["summary"][name] < 0 else ()
        assert refusal(report) == (RESUME_INVALID, below_zero)


def test_a_model_is_given_back_as_it_is_and_does_not_depend_on_what_it_was_read_from() -> None:
    value = make_report()
    report = parse_evaluation_report(value)

    value["cases"][0]["turns"][0]["observation"]["text"] = "written"

    assert parse_evaluation_report(report) is report
    assert report.to_data() == make_report()


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | st.binary(max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
PLACES: dict[str, tuple[Any, Any]] = {
    "report": (lambda **members: make_report() | members, [*make_report(), "assertions", "other"]),
    "case": (lambda **members: make_report(CASE | members), [*CASE, "errorCode", "other"]),
    "turn": (make_report_with_turn, [*TURN, "checkpoint", "errorCode", "other"]),
    "result": (make_report_with_result, [*RESULT, "actual", "expected", "evidence", "children", "label", "other"]),
}


@given(st.sampled_from(sorted(PLACES)), st.data())
def test_whatever_stands_in_a_report_is_read_or_refused_with_a_code(place: str, data: st.DataObject) -> None:
    make, members = PLACES[place]
    junk = data.draw(st.dictionaries(st.sampled_from(members), JUNK, min_size=1, max_size=3))

    try:
        outcome: object = parse_evaluation_report(make(**junk))
    except EvaluationError as error:
        outcome = error

    assert isinstance(outcome, EvaluationReport | EvaluationError)


# --------------------------------------------------------------------------------------------------- piece by piece


def has_pieces(vector: Mapping[str, Any]) -> bool:
    """Leave out what has no list of cases, so that a stream ends before there are pieces."""
    return "report" not in vector and vector["name"] != "cases is an object"


@pytest.mark.parametrize("vector", [v for v in VECTORS if has_pieces(v)], ids=lambda vector: vector["name"])
def test_reading_piece_by_piece_in_the_order_of_a_file_finds_the_same_faults(vector: Mapping[str, Any]) -> None:
    value = make_value(vector)
    with_pieces: object = None
    try:
        check = ReportCheck()
        check.head(value)
        check.tail({name: member for name, member in value.items() if name != "cases"})
        for index, case in enumerate(value["cases"]):
            check.case(case, index)
        check.case_count(len(value["cases"]))
        check.finish()
    except EvaluationError as error:
        with_pieces = (error.code, error.paths)

    assert with_pieces == (None if vector["ok"] else (vector["code"], tuple(vector["paths"])))


def test_a_case_is_checked_alone_and_given_back_without_a_copy() -> None:
    case = make_report()["cases"][0]

    assert read_case(case, 7) is case
    assert parse_evaluation_case(case, 7).to_data() == case


def test_a_case_that_is_checked_alone_names_its_place_in_the_report() -> None:
    with pytest.raises(EvaluationError) as caught:
        read_case(CASE | {"name": "", "turns": [TURN | {"status": "x"}], "other": 1}, 41)

    assert caught.value.code == RESUME_INVALID
    assert caught.value.paths == ("cases.41.name", "cases.41.turns.0.status", "cases.41")


def test_the_cost_of_reading_grows_with_the_number_of_cases_and_no_faster() -> None:
    small, large = (make_report(*copies(CASE, count)) for count in (300, 3_000))

    assert count_calls(lambda: parse_evaluation_report(large)) < 10.5 * count_calls(
        lambda: parse_evaluation_report(small)
    )
