"""Recognising what a file is by its content, and checking it by the importer of its format."""

import re
from enum import StrEnum

from reports.importers.containers import Content
from reports.importers.given import NOTHING, Given
from reports.importers.harness import check_harness_report, check_harness_rows
from reports.importers.refusals import ReportRejected
from reports.importers.report_json import CheckedReport, TakeCase, check_report

PEEKED = 1 << 16  # bytes


class Format(StrEnum):
    REPORT = "report"
    HARNESS_ROWS = "harness_rows"
    HARNESS_REPORT = "harness_report"
    HARNESS_SUMMARY = "harness_summary"
    HARNESS_COMPARISON = "harness_comparison"
    HARNESS_SCENARIOS = "harness_scenarios"


_REFUSED = {
    Format.HARNESS_SUMMARY: (
        "This is a summary of the scenario harness. It adds rows up but holds none, so there is no scenario to show or "
        "compare. Import the result rows (--output) or the report (--report) of the same run."
    ),
    Format.HARNESS_COMPARISON: (
        "This is a comparison of the scenario harness. It holds differences, but no results. Import both reports; the "
        "site compares them itself."
    ),
    Format.HARNESS_SCENARIOS: (
        "This is a scenario file of the scenario harness: it says what to ask, not what came of it. Import the results "
        "of its run, or run it here from the form for a new run."
    ),
}

# One of them is enough: a first row that lacks a member is told of as a row, with its line.
_OF_SCENARIOS = {"prompt", "turns", "expected"}


def check_content(content: Content, take_case: TakeCase, given: Given = NOTHING) -> CheckedReport:
    """Read a file of any known format to its end and hand each sound case on; ReportRejected with the first faults.

    Cases are handed on before the rest is known to be sound: only the returned value says that all of it is.
    """
    match recognise(content.peek(PEEKED)):
        case Format.REPORT:
            return check_report(content, take_case)
        case Format.HARNESS_ROWS:
            return check_harness_rows(content, take_case, given)
        case Format.HARNESS_REPORT:
            return check_harness_report(content, take_case, given)
        case refused:
            raise ReportRejected("no_results", _REFUSED[refused])


def recognise(start: bytes) -> Format:
    """Name the format of a file from its first bytes; a file that is nothing known is left to the report's importer."""
    own, inner = _names(start.decode("utf-8", "replace"))
    if "scenario_id" in own:
        return Format.HARNESS_ROWS
    if "schemaVersion" in own or "runId" in own:
        return Format.REPORT
    if "summary" in own and ("success_rate" in inner or "avg_elapsed_ms" in inner):
        return Format.HARNESS_REPORT
    if "results" in own and "scenario_id" in inner:
        return Format.HARNESS_REPORT
    if "success_rate" in own:
        return Format.HARNESS_SUMMARY
    if "pass_rate_delta" in own:
        return Format.HARNESS_COMPARISON
    if own & _OF_SCENARIOS:
        return Format.HARNESS_SCENARIOS
    return Format.REPORT


_token = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|\n', re.DOTALL)


def _names(text: str) -> tuple[set[str], set[str]]:
    """Collect the names of members of the first object in a text, and of the objects directly in it or in its lists.

    What the text ends in the midst of is left out. Blank lines and lines with ``#`` may stand before the object.
    """
    text = re.sub(r"\A(?:[ \t\r]*(?:#[^\n]*)?\n)+", "", text.lstrip("\ufeff"))
    own: set[str] = set()
    inner: set[str] = set()
    open_: list[str] = []
    last = ""
    for match in _token.finditer(text):
        token = match.group()
        if token == ":":
            objects = open_.count("{")
            if objects == 1 and open_ == ["{"]:
                own.add(last[1:-1])
            elif objects == 2 and len(open_) <= 3:
                inner.add(last[1:-1])
        elif token in "{[":
            open_.append(token)
        elif token in "}]" and open_:
            open_.pop()
            if not open_:
                break
        last = token
    return own, inner
