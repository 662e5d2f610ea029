"""Every fault of a report, also those behind the first payload that cannot be read.

``parse_evaluation_report`` ends at the first bad suite, input, observation, checkpoint or evidence, and does not say
which one it was. Whoever repairs a file wants all of them with their places; the rules are the same ones: bad payloads
are looked for, put aside, and the rest is checked as if they were sound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from evalrunner.cli.faults import describe_faults
from evalrunner.data import check_bounds, check_object
from evalrunner.errors import DATA_LIMIT, RESUME_INVALID, EvaluationError
from evalrunner.models import EvaluationSuite
from evalrunner.reports import ReportCheck

Path: TypeAlias = tuple[str | int, ...]

_ANY_SUITE: Final = EvaluationSuite(id="any", name="any", scenarios=())
_TURN_PAYLOADS: Final = ("input", "observation", "checkpoint")
_RESULTS: Final = "assertions"
_TOO_LARGE: Final = "nested more than 60 levels deep, or more than 500,000 values"
_NO_OBJECT: Final = "missing, no JSON object, or with something in it that is no JSON"


class BadPayload(NamedTuple):
    path: Path
    code: str

    def line(self, where: str) -> str:
        place = ".".join(map(str, (where, *self.path) if where else self.path))
        return f"{place}: {_TOO_LARGE if self.code == DATA_LIMIT else _NO_OBJECT} ({self.code})"


def report_faults(report: Mapping[str, Any]) -> list[str]:
    """Give one line for each fault, payloads first; none for a valid report."""
    check = ReportCheck()
    lines = _head_faults(check, report)
    lines += _case_faults(check, report)
    lines += _payload_faults(check.tail, report, check.tail_findings, _bad_results, "")
    if check.findings:
        lines += describe_faults(EvaluationError(RESUME_INVALID, check.findings), report, "report")
    return lines or _summary_faults(check, report)


def _head_faults(check: ReportCheck, report: Mapping[str, Any]) -> list[str]:
    try:
        check.head(report)
    except EvaluationError as error:
        check.head_findings.clear()
        check.head({**report, "suite": _ANY_SUITE})
        return describe_faults(error, report, "report") if error.paths else [f"suite: {_TOO_LARGE} ({error.code})"]
    return []


def _case_faults(check: ReportCheck, report: Mapping[str, Any]) -> list[str]:
    cases = report.get("cases")
    if not isinstance(cases, list | tuple):
        check.cases(report)
        return []
    lines = []
    for index, case in enumerate(cases):
        lines += _case_fault(check, case, index)
    check.case_count(len(cases))
    return lines


def _case_fault(check: ReportCheck, case: Any, index: int) -> list[str]:
    def check_case(value: Any) -> None:
        check.case(value, index)

    return _payload_faults(check_case, case, check.case_findings, _bad_in_case, f"cases.{index}")


def _payload_faults(
    check: Callable[[Any], None],
    value: Any,
    findings: list[str],
    look: Callable[[Any], Iterator[BadPayload]],
    where: str,
) -> list[str]:
    """Check a value; if a payload in it is refused, name all that are and check the rest without them."""
    found = len(findings)
    try:
        check(value)
    except EvaluationError as error:
        del findings[found:]
        bad = list(look(value))
        if not bad:
            return [BadPayload((), error.code).line(where)]
        for payload in bad:
            value = _with(value, payload.path, [] if payload.path[-1] == _RESULTS else {})
        check(value)
        return [payload.line(where) for payload in bad]
    return []


def _with(value: Any, path: Path, new: object) -> Any:
    """Give a value with another one at a path; what is not on the path is shared."""
    if not path:
        return new
    if isinstance(value, Mapping):
        return {**value, path[0]: _with(value.get(path[0]), path[1:], new)}
    items = list(value)
    items[int(path[0])] = _with(items[int(path[0])], path[1:], new)
    return items


# ------------------------------------------------------------------------------------------------- looking for payloads


def _bad_in_case(case: Mapping[str, Any]) -> Iterator[BadPayload]:
    for index, turn in enumerate(_list(case.get("turns"))):
        if isinstance(turn, Mapping):
            for bad in _bad_in_turn(turn):
                yield BadPayload(("turns", index, *bad.path), bad.code)
    yield from _bad_results(case)


def _bad_in_turn(turn: Mapping[str, Any]) -> Iterator[BadPayload]:
    for name in _TURN_PAYLOADS:
        if name in turn or name == "input":
            yield from _refused((name,), check_object, turn.get(name))
    yield from _bad_results(turn)


def _bad_results(holder: Mapping[str, Any]) -> Iterator[BadPayload]:
    """Look at a list of results; one that is out of bounds is not looked into."""
    results = holder.get(_RESULTS)
    refused = list(_refused((_RESULTS,), check_bounds, results))
    yield from refused or _bad_evidence(results, (_RESULTS,))


def _bad_evidence(results: object, path: Path) -> Iterator[BadPayload]:
    for index, result in enumerate(_list(results)):
        if isinstance(result, Mapping):
            if "evidence" in result:
                yield from _refused((*path, index, "evidence"), check_object, result["evidence"])
            yield from _bad_evidence(result.get("children"), (*path, index, "children"))


def _refused(path: Path, check: Callable[[object], None], value: object) -> Iterator[BadPayload]:
    try:
        check(value)
    except EvaluationError as error:
        yield BadPayload(path, error.code)


def _list(value: object) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else ()


# --------------------------------------------------------------------------------------------------------------- counts


def _summary_faults(check: ReportCheck, report: Mapping[str, Any]) -> list[str]:
    """Compare the summary with the cases once everything else is sound."""
    counted = {**check.counts, "total": check.counts.total()}
    return [
        f"summary.{name}: says {number}, but the cases give {counted.get(name, 0)} ({RESUME_INVALID})"
        for name, number in report["summary"].items()
        if number != counted.get(name, 0)
    ]
