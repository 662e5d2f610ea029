"""The rules of a report, piece by piece: head, one case at a time, tail.

Nothing is copied and no model is made, so a reader that streams can check 100,000 cases in bounded memory.
Nested payloads (the suite, inputs, observations, checkpoints, evidence, and the bounds of result lists) raise at once
with codes of their own and win over every finding; all other faults are collected as locations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from evalrunner.checks import (
    Findings,
    Object,
    at,
    check_choice,
    check_list,
    check_no_others,
    check_text,
    check_text_value,
    check_whole,
    in_listing_order,
    is_finite,
    is_json,
    is_object,
)
from evalrunner.data import PROTO, check_bounds, check_object
from evalrunner.errors import RESUME_INVALID, EvaluationError
from evalrunner.models import CASE_STATUSES, SUMMARY_NAMES, EvaluationSuite, RunStatus, TurnStatus
from evalrunner.suites import MAX_ASSERTIONS, MAX_STEPS, check_schema_version, parse_evaluation_suite

MAX_CASES: Final = 100_000
MAX_TURNS: Final = MAX_STEPS
MAX_RESULTS: Final = MAX_ASSERTIONS

_REPORT: Final = frozenset(
    {"schemaVersion", "runId", "resumedFrom", "suite", "fingerprint", "target", "startedAt", "finishedAt", "status"}
    | {"cases", "assertions", "summary"}
)
_CASE: Final = frozenset(
    {"id", "scenarioId", "name", "repetition", "variants", "threadId", "status", "turns", "assertions"}
    | {"errorCode", "skipReason"}
)
_TURN: Final = frozenset(
    {"stepId", "turnId", "input", "status", "observation", "assertions", "errorCode", "durationMs", "checkpoint"}
)
_RESULT: Final = frozenset({"id", "label", "passed", "actual", "expected", "errorCode", "evidence", "children"})
_ACTUAL: Final = frozenset({"present", "value"})
_TARGET: Final = frozenset({"id", "fingerprint"})
_SUMMARY: Final = frozenset(SUMMARY_NAMES)
_RUN_STATUSES: Final = frozenset(map(str, RunStatus))
_CASE_STATUSES: Final = frozenset(CASE_STATUSES)
_TURN_STATUSES: Final = frozenset(map(str, TurnStatus))


class ReportCheck:
    """Check one report: ``head`` and ``tail`` take all its members but ``cases``, ``case`` one case after the other.

    The three may come in any order, since a file may list its members in any order; ``finish`` refuses the report for
    what was found (EVALUATION_RESUME_INVALID, locations in the order of the format) or, without locations, when the
    summary disagrees with the cases. Payload errors are raised by the call that meets them.
    """

    def __init__(self) -> None:
        self.suite: EvaluationSuite | None = None
        self.counts: Counter[str] = Counter()
        self.head_findings: Findings = []
        self.case_findings: Findings = []
        self.tail_findings: Findings = []
        self._summary: object = None

    def head(self, members: Object) -> None:
        """Check the members that stand before the cases; the suite is read and kept as ``suite``."""
        findings = self.head_findings
        check_schema_version(members, findings)
        check_text(members, "runId", "", findings)
        check_text(members, "resumedFrom", "", findings, optional=True)
        self.suite = parse_evaluation_suite(members.get("suite"))
        check_text(members, "fingerprint", "", findings)
        _check_target(members.get("target"), findings)
        check_text(members, "startedAt", "", findings)
        check_text(members, "finishedAt", "", findings, optional=True)
        check_choice(members, "status", "", findings, _RUN_STATUSES)

    def case(self, value: Any, index: int) -> None:
        """Check the case at a place in the list and count its status."""
        _check_case(value, f"cases.{index}", self.case_findings)
        if is_object(value):
            status = value.get("status")
            if isinstance(status, str):
                self.counts[status] += 1

    def cases(self, members: Object) -> None:
        """Check the whole list of cases where it is at hand."""
        values = members.get("cases")
        if isinstance(values, list | tuple):
            for index, value in enumerate(values):
                self.case(value, index)
            self.case_count(len(values))
        else:
            self.case_findings.append("cases")

    def case_count(self, count: int) -> None:
        """Check the number of cases once all are known."""
        if count > MAX_CASES:
            self.case_findings.append("cases")

    def tail(self, members: Object) -> None:
        """Check the members that stand behind the cases, and that there are no unknown ones."""
        if "assertions" in members:
            _check_results(members, "", self.tail_findings)
        self._summary = members.get("summary")
        _check_summary(self._summary, self.tail_findings)
        check_no_others(members, "", self.tail_findings, _REPORT)

    def finish(self) -> None:
        """Refuse the report if anything was found, or if its summary disagrees with its cases."""
        findings = self.findings
        if findings or not _is_sum_of(self._summary, self.counts):
            raise EvaluationError(RESUME_INVALID, findings)

    @property
    def findings(self) -> Findings:
        """All locations found so far, in the order of the format."""
        return [*self.head_findings, *self.case_findings, *self.tail_findings]


def check_case(value: object, index: int = 0) -> None:
    """Check one case on its own; locations begin with ``cases.<index>``. Raises as ``parse_evaluation_report``."""
    findings: Findings = []
    _check_case(value, f"cases.{index}", findings)
    if findings:
        raise EvaluationError(RESUME_INVALID, findings)


# -------------------------------------------------------------------------------------------------------- head and tail


def _check_target(target: Any, findings: Findings) -> None:
    if not is_object(target):
        findings.append("target")
        return
    check_text(target, "id", "target", findings)
    check_text(target, "fingerprint", "target", findings)
    check_no_others(target, "target", findings, _TARGET)


def _check_summary(summary: Any, findings: Findings) -> None:
    if not is_object(summary):
        findings.append("summary")
        return
    for name in SUMMARY_NAMES:
        check_whole(summary, name, "summary", findings)
    check_no_others(summary, "summary", findings, _SUMMARY)


def _is_sum_of(summary: Any, counts: Counter[str]) -> bool:
    return bool(summary["total"] == counts.total()) and all(summary[name] == counts[name] for name in CASE_STATUSES)


# --------------------------------------------------------------------------------------------------------------- cases


def _check_case(case: Any, where: str, findings: Findings) -> None:
    if not is_object(case):
        findings.append(where)
        return
    check_text(case, "id", where, findings)
    check_text(case, "scenarioId", where, findings)
    check_text(case, "name", where, findings)
    check_whole(case, "repetition", where, findings)
    _check_variants(case.get("variants"), f"{where}.variants", findings)
    check_text(case, "threadId", where, findings)
    check_choice(case, "status", where, findings, _CASE_STATUSES)
    check_list(case, "turns", where, findings, _check_turn, maximum=MAX_TURNS)
    _check_results(case, where, findings)
    check_text(case, "errorCode", where, findings, optional=True)
    check_text(case, "skipReason", where, findings, optional=True)
    check_no_others(case, where, findings, _CASE)


def _check_variants(variants: Any, where: str, findings: Findings) -> None:
    if not isinstance(variants, Mapping):
        findings.append(where)
        return
    for key in in_listing_order(variants) if variants else ():
        if not isinstance(key, str):
            findings.append(at(where, key))
        elif key != PROTO:
            check_text_value(variants[key], at(where, key), findings, 1, None)


def _check_turn(turn: Any, where: str, findings: Findings) -> None:
    if not is_object(turn):
        findings.append(where)
        return
    check_text(turn, "stepId", where, findings)
    check_text(turn, "turnId", where, findings)
    check_object(turn.get("input"))
    check_choice(turn, "status", where, findings, _TURN_STATUSES)
    if "observation" in turn:
        check_object(turn["observation"])
    _check_results(turn, where, findings)
    check_text(turn, "errorCode", where, findings, optional=True)
    duration = turn.get("durationMs")
    if not (is_finite(duration) and duration >= 0):
        findings.append(f"{where}.durationMs")
    if "checkpoint" in turn:
        check_object(turn["checkpoint"])
    check_no_others(turn, where, findings, _TURN)


# ------------------------------------------------------------------------------------------------------------- results


def _check_results(holder: Object, where: str, findings: Findings) -> None:
    """Check a list of assertion results; its bounds hold for the list as a whole, counted from the list."""
    check_bounds(holder.get("assertions"))
    check_list(holder, "assertions", where, findings, _check_result, maximum=MAX_RESULTS)


def _check_result(result: Any, where: str, findings: Findings) -> None:
    if not is_object(result):
        findings.append(where)
        return
    check_text(result, "id", where, findings)
    check_text(result, "label", where, findings, minimum=0, optional=True)
    if not isinstance(result.get("passed"), bool):
        findings.append(f"{where}.passed")
    if "actual" in result:
        _check_actual(result["actual"], f"{where}.actual", findings)
    if "expected" in result and not is_json(result["expected"]):
        findings.append(f"{where}.expected")
    check_text(result, "errorCode", where, findings, optional=True)
    if "evidence" in result:
        check_object(result["evidence"])
    check_list(result, "children", where, findings, _check_result, optional=True)
    check_no_others(result, where, findings, _RESULT)


def _check_actual(actual: Any, where: str, findings: Findings) -> None:
    if not is_object(actual):
        findings.append(where)
        return
    if not isinstance(actual.get("present"), bool):
        findings.append(f"{where}.present")
    if "value" in actual and not is_json(actual["value"]):
        findings.append(f"{where}.value")
    check_no_others(actual, where, findings, _ACTUAL)
