"""The early alarm."""

from dataclasses import replace

from evalrunner.data import freeze_object
from evalrunner.models import AssertionResult, CaseStatus, EvaluationCase, EvaluationTurn, TurnStatus

from reports.domain.alarm import EarlyAlarm, error_code_of

CASE = EvaluationCase("c", "s", "S", 0, {}, "t", CaseStatus.ERROR, error_code="DOWN")
TURN = EvaluationTurn("ask", "t", freeze_object({}), TurnStatus.ERROR, 1, error_code="HTTP_CONNECT_FAILED")


def ring(alarm: EarlyAlarm, *cases: EvaluationCase) -> list[str | None]:
    return [alarm.note(case) for case in cases]


def test_it_goes_off_when_the_first_five_end_in_one_code_and_only_once() -> None:
    alarm = EarlyAlarm(total=50)

    said = ring(alarm, *[CASE] * 7)

    assert said == [None] * 4 + ["stopped early: 5 of 5 ended in DOWN", None, None]


def test_it_is_content_with_fewer_where_fewer_were_asked_for() -> None:
    assert ring(EarlyAlarm(total=2), CASE, CASE) == [None, "stopped early: 2 of 2 ended in DOWN"]


def test_one_other_ending_silences_it_for_good() -> None:
    passed = replace(CASE, status=CaseStatus.PASSED, error_code=None)
    others = (passed, replace(CASE, error_code="OTHER"), replace(CASE, status=CaseStatus.BLOCKED))

    for other in others:
        assert ring(EarlyAlarm(total=50), CASE, other, *[CASE] * 6) == [None] * 8


def test_the_code_of_a_case_is_its_own_else_that_of_its_first_turn_in_error() -> None:
    result = AssertionResult("chosen", False, error_code="EVALUATOR_FAILED")
    without = replace(CASE, error_code=None)

    assert error_code_of(CASE) == "DOWN"
    assert error_code_of(replace(without, turns=(TURN,))) == "HTTP_CONNECT_FAILED"
    assert error_code_of(replace(without, assertions=(result,))) == "EVALUATOR_FAILED"
    assert error_code_of(replace(CASE, status=CaseStatus.FAILED)) is None
