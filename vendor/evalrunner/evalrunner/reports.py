"""Reading reports: strict checks first (``report_checks``), then models that share nothing with what was read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from evalrunner.checks import Object, is_object
from evalrunner.data import PROTO, FreeData, FrozenDict, freeze_bounded, freeze_bounded_object
from evalrunner.errors import RESUME_INVALID, EvaluationError
from evalrunner.models import (
    SUMMARY_NAMES,
    Actual,
    AssertionResult,
    CaseStatus,
    EvaluationCase,
    EvaluationReport,
    EvaluationSuite,
    EvaluationSummary,
    EvaluationTarget,
    EvaluationTurn,
    RunStatus,
    TurnStatus,
)
from evalrunner.report_checks import ReportCheck, check_case

__all__ = [
    "ReportCheck",
    "check_case",
    "make_case",
    "make_report",
    "parse_evaluation_case",
    "parse_evaluation_report",
    "read_case",
]

_CASE_STATUSES: Final = {str(status): status for status in CaseStatus}
_TURN_STATUSES: Final = {str(status): status for status in TurnStatus}


def parse_evaluation_report(value: object) -> EvaluationReport:
    """Read a report from a plain JSON value; a report model is given back as it is.

    Raises EvaluationError. What is nested raises first, at the place where it is met: EVALUATION_SUITE_INVALID
    (locations relative to the suite), EVALUATION_OBSERVATION_INVALID for inputs, observations, checkpoints and
    evidence, EVALUATION_DATA_LIMIT for their bounds. Then EVALUATION_RESUME_INVALID with every location, or without
    any when only the summary disagrees with the cases. Whether cases fit the suite is not looked at.
    """
    if isinstance(value, EvaluationReport):
        return value
    if not is_object(value):
        raise EvaluationError(RESUME_INVALID, [""])
    members = cast(Object, value)
    check = ReportCheck()
    check.head(members)
    check.cases(members)
    check.tail(members)
    check.finish()
    return make_report(members, cast(EvaluationSuite, check.suite))


def read_case(value: object, index: int = 0) -> Object:
    """Check one case of a report and give it back as it is, for readers that stream; see ``ReportCheck`` for the rest.

    Locations begin with ``cases.<index>``. Raises as ``parse_evaluation_report`` does.
    """
    check_case(value, index)
    return cast(Object, value)


def parse_evaluation_case(value: object, index: int = 0) -> EvaluationCase:
    """Check one case as ``read_case`` does and make its model."""
    return make_case(read_case(value, index))


# -------------------------------------------------------------------------------------- models of what was checked


def make_report(report: Object, suite: EvaluationSuite) -> EvaluationReport:
    """Make the model of a report that was checked."""
    return EvaluationReport(
        run_id=report["runId"],
        suite=suite,
        fingerprint=report["fingerprint"],
        target=EvaluationTarget(report["target"]["id"], report["target"]["fingerprint"]),
        started_at=report["startedAt"],
        status=RunStatus(report["status"]),
        cases=tuple([make_case(case) for case in report["cases"]]),
        summary=EvaluationSummary(**{name: int(report["summary"][name]) for name in SUMMARY_NAMES}),
        resumed_from=report.get("resumedFrom"),
        finished_at=report.get("finishedAt"),
        assertions=_make_results(report["assertions"]) if "assertions" in report else None,
    )


def make_case(case: Object) -> EvaluationCase:
    """Make the model of a case that was checked."""
    return EvaluationCase(
        id=case["id"],
        scenario_id=case["scenarioId"],
        name=case["name"],
        repetition=int(case["repetition"]),
        variants=_make_variants(case["variants"]),
        thread_id=case["threadId"],
        status=_CASE_STATUSES[case["status"]],
        turns=tuple([_make_turn(turn) for turn in case["turns"]]),
        assertions=_make_results(case["assertions"]),
        error_code=case.get("errorCode"),
        skip_reason=case.get("skipReason"),
    )


def _make_variants(variants: Mapping[str, str]) -> Mapping[str, str]:
    return FrozenDict({step: variant for step, variant in variants.items() if step != PROTO})


def _make_turn(turn: Object) -> EvaluationTurn:
    return EvaluationTurn(
        step_id=turn["stepId"],
        turn_id=turn["turnId"],
        input=freeze_bounded_object(turn["input"]),
        status=_TURN_STATUSES[turn["status"]],
        duration_ms=turn["durationMs"],
        observation=_make_data(turn, "observation"),
        assertions=_make_results(turn["assertions"]),
        error_code=turn.get("errorCode"),
        checkpoint=_make_data(turn, "checkpoint"),
    )


def _make_data(holder: Object, name: str) -> FreeData | None:
    return freeze_bounded_object(holder[name]) if name in holder else None


def _make_results(results: Any) -> tuple[AssertionResult, ...]:
    return tuple([_make_result(result) for result in results])


def _make_result(result: Object) -> AssertionResult:
    return AssertionResult(
        id=result["id"],
        passed=result["passed"],
        label=result.get("label"),
        actual=_make_actual(result["actual"]) if "actual" in result else None,
        expected=freeze_bounded(result.get("expected")),
        has_expected="expected" in result,
        error_code=result.get("errorCode"),
        evidence=_make_data(result, "evidence"),
        children=_make_results(result["children"]) if "children" in result else None,
    )


def _make_actual(actual: Object) -> Actual:
    return Actual(actual["present"], freeze_bounded(actual.get("value")), "value" in actual)
