"""``evalrunner list SUITE``: the cases that a selection makes, without running any."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any, Final

from evalrunner.cases import MAX_MAX_CASES, expand_cases
from evalrunner.cli.arguments import check_scenarios, whole
from evalrunner.cli.inputs import InputError, parse_input
from evalrunner.cli.output import encode_json
from evalrunner.cli.progress import printable
from evalrunner.cli.refusals import refusal_text
from evalrunner.cli.streams import result_stream
from evalrunner.errors import EvaluationError
from evalrunner.models import ExpandedCase
from evalrunner.suites import parse_evaluation_suite

SUMMARY = "list the cases that a selection of a suite makes"
USAGE_EXIT = 4
DONE: Final = 0


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("suite", metavar="SUITE", help="the suite, JSON or gzipped JSON")
    parser.add_argument("--scenario", action="append", metavar="ID", help="only this scenario; may be repeated")
    parser.add_argument("--tag", action="append", metavar="T", help="only scenarios with this tag; may be repeated")
    parser.add_argument("--repetitions", type=whole(100), default=1, metavar="N", help="1 to 100, default 1")
    parser.add_argument("--format", choices=["text", "json"], default="text", help="default text")


def execute(arguments: argparse.Namespace) -> int:
    """Print the cases in the order of a run; InputError when the suite or the selection is none."""
    suite = parse_input(arguments.suite, parse_evaluation_suite, "suite")
    check_scenarios(suite, arguments.scenario or ())
    try:
        cases = expand_cases(
            suite,
            scenario_ids=arguments.scenario,
            tags=arguments.tag,
            repetitions=arguments.repetitions,
            max_cases=MAX_MAX_CASES,
        )
    except EvaluationError as error:
        raise InputError(refusal_text(error).replace("than --max-cases allows", "than a run may have")) from None
    try:
        _print_json(cases) if arguments.format == "json" else _print_text(cases)
    except KeyboardInterrupt:
        return USAGE_EXIT
    return DONE


def _print_text(cases: Sequence[ExpandedCase]) -> None:
    """One line a case, named as in the progress of a run."""
    for case in cases:
        variants = [f"{step}={variant}" for step, variant in case.variants.items()]
        print(printable(" ".join([case.scenario.id, *variants, f"#{case.repetition + 1}"])), file=result_stream())
    turns = sum(len(case.steps) for case in cases)
    print(f"{_number(len(cases), 'case')}, {_number(turns, 'turn')}", file=result_stream())


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _print_json(cases: Sequence[ExpandedCase]) -> None:
    document = {
        "caseCount": len(cases),
        "turnCount": sum(len(case.steps) for case in cases),
        "cases": [_case_data(case) for case in cases],
    }
    print(encode_json(document, indent=2).decode(), file=result_stream())


def _case_data(case: ExpandedCase) -> dict[str, Any]:
    """Name members as a report does; the repetition counts from 0."""
    return {
        "id": case.id,
        "scenarioId": case.scenario.id,
        "name": case.scenario.name,
        "tags": list(case.scenario.tags or ()),
        "writePolicy": str(case.scenario.write_policy),
        "variants": dict(case.variants),
        "repetition": case.repetition,
        "steps": [step.id for step in case.steps],
    }
