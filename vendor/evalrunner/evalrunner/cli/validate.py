"""``evalrunner validate FILE…``: say of every file whether it is a valid suite or report, and list every fault."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from typing import Final

from evalrunner.cli.faults import describe_faults
from evalrunner.cli.inputs import InputError, UnreadableError, read_json
from evalrunner.cli.report_faults import report_faults
from evalrunner.errors import EvaluationError
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
    faults, description = _examine(value)
    for fault in faults:
        print(f"{path}: {fault}", file=sys.stderr)
    if faults:
        return FAULTY
    print(f"{path}: {description}")
    return VALID


def _examine(value: object) -> tuple[list[str], str]:
    """Read a document as what it looks like; its faults, or else a description."""
    if isinstance(value, Mapping) and ("runId" in value or "cases" in value):
        faults = report_faults(value)
        return faults, "" if faults else f"valid report of {len(value['cases']):,} cases, {value['status']}"
    if isinstance(value, Mapping) and "scenarios" in value:
        return _examine_suite(value)
    return ["neither a suite (no scenarios) nor a report (no runId, no cases)"], ""


def _examine_suite(value: object) -> tuple[list[str], str]:
    try:
        suite = parse_evaluation_suite(value)
    except EvaluationError as error:
        return describe_faults(error, value, "suite"), ""
    return [], f"valid suite of {len(suite.scenarios):,} scenarios"
