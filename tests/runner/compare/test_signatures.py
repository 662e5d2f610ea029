from typing import Any

import pytest
from evalrunner.compare import FailureSignature, failing_in_words, failure_signature
from evalrunner.compare.signatures import value_text

from tests.factories import case, turn

Data = dict[str, Any]


def result(id: str, passed: bool = False, children: list[Data] | None = None, **members: Any) -> Data:
    return {"id": id, "passed": passed} | members | ({"children": children} if children is not None else {})


def failed_turn(*results: Data, step_id: str = "ask", **members: Any) -> Data:
    return turn("failed", step_id=step_id, assertions=list(results), **members)


def signature_of(*results: Data) -> FailureSignature:
    signature = failure_signature(case("failed", turns=[failed_turn(*results)]))
    assert signature is not None
    return signature


def test_a_passed_case_has_no_signature_whatever_its_checks_say() -> None:
    assert failure_signature(case("passed", turns=[failed_turn(result("informative"))])) is None


@pytest.mark.parametrize("status", ["pending", "running", "skipped", "cancelled"])
def test_what_did_not_fail_has_no_signature(status: str) -> None:
    assert failure_signature(case(status)) is None


def test_the_first_turn_that_failed_names_the_failure() -> None:
    turns = [turn(step_id="one"), failed_turn(result("b"), result("a"), step_id="two"), turn("error", step_id="three")]

    assert failure_signature(case("error", turns=turns)) == FailureSignature("turn", "two", (("a",), ("b",)))


def test_a_turn_error_is_named_by_its_code() -> None:
    signature = failure_signature(case("error"))

    assert signature == FailureSignature("turn", "ask", (), "EVALUATION_TRANSPORT_FAILED")
    assert failing_in_words(case("error")) == "ask: EVALUATION_TRANSPORT_FAILED"


def test_without_a_failed_turn_the_assertions_of_the_scenario_name_it() -> None:
    broken = case("failed", turns=[turn()], assertions=[result("calm", True), result("grounded")])

    assert failure_signature(broken) == FailureSignature("scenario", "", (("grounded",),))
    assert failing_in_words(broken) == "at the end: grounded"


def test_at_last_the_code_of_the_case_names_it() -> None:
    assert failure_signature(case("blocked")) == FailureSignature("case", error_code="EXTERNAL_WRITES_NOT_AUTHORIZED")


def test_a_failure_without_any_reason_is_still_a_failure() -> None:
    unexplained = case("failed", turns=[])

    assert failure_signature(unexplained) == FailureSignature("case")
    assert failing_in_words(unexplained) == "failed without a stated reason"


def test_paths_descend_to_the_leaves_that_decided() -> None:
    both = result("both", children=[result("x", True), result("either", children=[result("p"), result("q")])])

    assert signature_of(both).assertions == (("both", "either", "p"), ("both", "either", "q"))


def test_a_failed_child_of_a_passing_any_is_no_defect() -> None:
    passing_any = result("either", True, [result("p"), result("q", True)])

    assert signature_of(result("all", children=[passing_any, result("z")])).assertions == (("all", "z"),)


def test_a_not_that_fails_is_named_itself() -> None:
    forbidden = result("never", children=[result("either", True, [result("p"), result("q", True)])])

    assert signature_of(forbidden).assertions == (("never",),)
    assert "must not" in failing_in_words(case("failed", turns=[failed_turn(forbidden)]))


def test_an_error_inside_a_composite_wins_over_failed_children() -> None:
    code = "EVALUATOR_FAILED"
    mixed = result("either", children=[result("p"), result("q", errorCode=code)], errorCode=code)

    assert signature_of(mixed) == FailureSignature("turn", "ask", (("either", "q"),), code)


def test_ids_with_dots_stay_apart() -> None:
    assert len({signature_of(result(id)).key for id in ("a.b.c", "a.b", "a")}) == 3
    nested = result("a", children=[result("b")])
    assert signature_of(nested).key != signature_of(result("a.b")).key


@pytest.mark.parametrize(
    ("signature", "words"),
    [
        (FailureSignature("turn", "ask", (("a",), ("b", "c"))), "ask: a, b › c"),
        (FailureSignature("turn", "ask", (("a",),), "TIME_OUT"), "ask: a (TIME_OUT)"),
        (FailureSignature("turn", "ask", (), "TIME_OUT"), "ask: TIME_OUT"),
        (FailureSignature("scenario", "", (("a",),)), "at the end: a"),
        (FailureSignature("case", error_code="LIMIT"), "LIMIT"),
        (FailureSignature("case"), "failed without a stated reason"),
    ],
)
def test_a_signature_says_what_failed_without_anything_of_one_case(signature: FailureSignature, words: str) -> None:
    assert signature.words == words


def test_words_of_a_signature_stay_short() -> None:
    assert len(FailureSignature("turn", "ask", tuple((f"{number}" * 100,) for number in range(9))).words) == 300


def test_a_key_has_32_hex_digits_and_holds_any_text() -> None:
    key = FailureSignature("turn", "\ud83d\x00", (("é",),)).key

    assert len(key) == 32
    assert int(key, 16)


@pytest.mark.parametrize(
    ("members", "words"),
    [
        (
            {"actual": {"present": True, "value": "needs_input"}, "expected": "completed"},
            'expected "completed", got "needs_input"',
        ),
        ({"actual": {"present": False}, "expected": 0}, "expected 0, found nothing"),
        ({"actual": {"present": False}}, "found nothing"),
        ({"actual": {"present": True, "value": None}}, "got null"),
        ({"errorCode": "EVALUATOR_FAILED"}, "EVALUATOR_FAILED"),
    ],
)
def test_a_failed_check_says_what_it_wanted_and_what_it_found(members: Data, words: str) -> None:
    failing = case("failed", turns=[failed_turn(result("status", label="Order is placed") | members)])

    assert failing_in_words(failing) == f"ask: Order is placed: {words}"


def test_further_failures_are_counted() -> None:
    assert failing_in_words(case("failed", turns=[failed_turn(result("a"), result("b"))])) == "ask: a (and 1 more)"


def test_words_stay_short_whatever_the_values_are() -> None:
    huge = {"actual": {"present": True, "value": ["x" * 2_000_000] * 3}, "expected": "y" * 2_000_000}

    words = failing_in_words(case("failed", turns=[failed_turn(result("size") | huge, step_id="s" * 160)]))

    assert len(words) <= 300


def test_a_value_is_written_as_json() -> None:
    assert value_text({"a": [True, None, "é"]}) == '{"a": [true, null, "é"]}'
