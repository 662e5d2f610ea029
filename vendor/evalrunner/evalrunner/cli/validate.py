"""``evalrunner validate FILE…``: say of every file whether it is a valid suite or report, and list every fault."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
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
    try:
        print(f"{path}: {_describe(value)}")
    except EvaluationError as error:
        for fault in describe_faults(error, value):
            print(f"{path}: {fault}", file=sys.stderr)
        return FAULTY
    except InputError as error:
        print(f"{path}: {error}", file=sys.stderr)
        return FAULTY
    return VALID


def _describe(value: object) -> str:
    """Parse a value as what it looks like and say what it is."""
    if _has(value, "runId", "cases"):
        report = parse_evaluation_report(value)
        return f"valid report of {len(report.cases):,} cases, {report.status}"
    if _has(value, "scenarios"):
        suite = parse_evaluation_suite(value)
        return f"valid suite of {len(suite.scenarios):,} scenarios"
    raise InputError("neither a suite (no member scenarios) nor a report (no member runId or cases)")


def _has(value: object, *names: str) -> bool:
    return isinstance(value, Mapping) and any(name in value for name in names)
