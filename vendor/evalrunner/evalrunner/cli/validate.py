"""``evalrunner validate FILE…``: say of every file whether it is a valid suite or report, and list every fault."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from typing import Final

from evalrunner.cli.faults import describe_faults
from evalrunner.cli.inputs import InputError, UnreadableError, read_json
from evalrunner.errors import EvaluationError
from evalrunner.reports import parse_evaluation_report
from evalrunner.suites import parse_evaluation_suite

SUMMARY = "check suites and reports; every fault is listed with its place"
USAGE_EXIT = 2
VALID: Final = 0
FAULTY: Final = 1


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", metavar="FILE", nargs="+", help="a suite or a report, JSON or gzipped JSON")


def execute(arguments: argparse.Namespace) -> int:
    """Check all files, whatever is wrong with one; the worst of their exit statuses."""
    return max(_check(path) for path in arguments.files)


def _check(path: str) -> int:
    try:
        value = read_json(path)
    except UnreadableError as error:
        print(error, file=sys.stderr)
        return USAGE_EXIT
    except InputError as error:
        print(error, file=sys.stderr)
        return FAULTY
    return _check_value(path, value)


def _check_value(path: str, value: object) -> int:
    kind = _kind(value)
    if kind is None:
        print(f"{path}: neither a suite (no scenarios) nor a report (no runId, no cases)", file=sys.stderr)
        return FAULTY
    try:
        print(f"{path}: valid {kind} {_DESCRIBE[kind](value)}")
    except EvaluationError as error:
        for fault in describe_faults(error, value, kind):
            print(f"{path}: {fault}", file=sys.stderr)
        return FAULTY
    return VALID


def _kind(value: object) -> str | None:
    """Tell what a document is meant to be by the members that only it can have."""
    if not isinstance(value, Mapping):
        return None
    if "runId" in value or "cases" in value:
        return "report"
    return "suite" if "scenarios" in value else None


def _describe_suite(value: object) -> str:
    return f"of {len(parse_evaluation_suite(value).scenarios):,} scenarios"


def _describe_report(value: object) -> str:
    report = parse_evaluation_report(value)
    return f"of {len(report.cases):,} cases, {report.status}"


_DESCRIBE: Final[Mapping[str, Callable[[object], str]]] = {"suite": _describe_suite, "report": _describe_report}
