"""Assertion results as expressions."""

from typing import Any

import pytest

from reports.domain.expressions import expressions


def check(id: str, *, passed: bool, **members: Any) -> dict[str, Any]:
    return {
        "id": id,
        "passed": passed,
        "actual": {"present": True, "value": "needs_input"},
        "expected": "completed",
    } | members


ASKED: dict[str, Any] = {
    "id": "status",
    "kind": "check",
    "path": ["response", "status"],
    "operator": "equals",
    "value": "completed",
}


def test_a_failed_check_says_what_was_asked_and_what_came() -> None:
    (found,) = expressions([check("status", passed=False)], [ASKED])

    assert found.asks == 'response.status equals "completed"'
    assert found.says == 'got "needs_input"'
    assert found.is_defect


def test_without_a_definition_the_result_speaks_for_itself() -> None:
    (found,) = expressions([check("status", passed=False)], None)

    assert found.asks == 'expected "completed"'
    assert found.kind == "check"


def test_a_failed_child_of_a_passing_any_is_no_defect() -> None:
    result = {"id": "either", "passed": True, "children": [check("a", passed=False), check("b", passed=True)]}

    (found,) = expressions(
        [result], [{"id": "either", "kind": "any", "assertions": [ASKED | {"id": "a"}, ASKED | {"id": "b"}]}]
    )

    assert [child.is_defect for child in found.children] == [False, False]
    assert not found.is_open


def test_a_failed_child_of_a_failed_all_is_the_defect() -> None:
    result = {"id": "both", "passed": False, "children": [check("a", passed=False), check("b", passed=True)]}

    (found,) = expressions(
        [result], [{"id": "both", "kind": "all", "assertions": [ASKED | {"id": "a"}, ASKED | {"id": "b"}]}]
    )

    assert [child.is_defect for child in found.children] == [True, False]
    assert found.is_open


@pytest.mark.parametrize("child_passed", [True, False])
def test_the_child_of_a_not_is_never_a_defect(child_passed: bool) -> None:
    result = {"id": "never", "passed": not child_passed, "children": [check("a", passed=child_passed)]}

    (found,) = expressions([result], [{"id": "never", "kind": "not", "assertion": ASKED | {"id": "a"}}])

    assert found.is_defect is child_passed
    assert not found.children[0].is_defect


def test_an_error_below_a_not_is_where_the_trouble_is() -> None:
    child = {"id": "judge", "passed": False, "errorCode": "EVALUATOR_FAILED"}
    result = {"id": "never", "passed": False, "errorCode": "EVALUATOR_FAILED", "children": [child]}

    (found,) = expressions([result], None)

    assert found.status == "error"
    assert found.children[0].is_defect


def test_results_find_their_definition_by_place_then_by_id() -> None:
    definitions: list[dict[str, Any]] = [ASKED | {"value": 1}, ASKED | {"value": 2}, ASKED | {"id": "other"}]

    found = expressions(
        [check("status", passed=True), check("status", passed=True), check("other", passed=True)], definitions
    )

    assert [each.asks[-1] for each in found[:2]] == ["1", "2"]
    assert found[2].asks.endswith('"completed"')


def test_absent_and_null_are_told_apart() -> None:
    absent = {"id": "a", "passed": True, "actual": {"present": False}}
    null = {"id": "b", "passed": True, "actual": {"present": True, "value": None}}

    first, second = expressions([absent, null], None)

    assert (first.says, first.has_actual) == ("it is absent", False)
    assert (second.says, second.has_actual) == ("got null", True)


def test_a_custom_evaluator_is_named_and_its_evidence_kept() -> None:
    result = {
        "id": "right",
        "label": "The right product",
        "passed": False,
        "expected": {"evaluator": "catalogue.selected-option", "parameters": {}},
        "evidence": {"expectedProductId": "desk-lamp", "actualProductId": "floor-lamp"},
    }

    (found,) = expressions(
        [result], [{"id": "right", "kind": "custom", "evaluator": "catalogue.selected-option", "parameters": {}}]
    )

    assert found.title == "The right product"
    assert found.asks == "evaluator catalogue.selected-option"
    assert found.evidence == result["evidence"]
    assert not found.has_expected
