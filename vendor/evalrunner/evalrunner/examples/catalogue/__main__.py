"""The tutorial as a command: ``python -m evalrunner.examples.catalogue`` (see the README of the package)."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from evalrunner.cli.arguments import check_scenarios, whole
from evalrunner.cli.ending import StopSignals, run_to_end
from evalrunner.cli.inputs import InputError, parse_input
from evalrunner.cli.output import ReportFile, encode_json
from evalrunner.cli.refusals import refusal_text
from evalrunner.cli.run import NOT_PASSED, PASSED, has_passed
from evalrunner.errors import EvaluationError
from evalrunner.examples.catalogue import CORRECT_SELECTION, WRONG_SELECTION, make_adapter, suite_file, target
from evalrunner.models import EvaluationReport, EvaluationSuite
from evalrunner.runner import run_evaluation
from evalrunner.suites import parse_evaluation_suite

USAGE_EXIT = 2


def main(argv: Sequence[str] | None = None) -> int:
    """Run the tutorial, print its outcome as JSON, give 0 only if everything passed."""
    arguments = _parser().parse_args(argv)
    try:
        suite = parse_input(arguments.suite, parse_evaluation_suite, "suite")
        check_scenarios(suite, () if arguments.scenario is None else (arguments.scenario,))
        given = None if arguments.output is None else ReportFile(arguments.output)
        return run_to_end(_evaluate(arguments, suite, given))
    except InputError as error:
        print(f"catalogue: {error}", file=sys.stderr)
        return USAGE_EXIT


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m evalrunner.examples.catalogue",
        description="Evaluate the scripted catalogue agent of the tutorial.",
        allow_abbrev=False,
    )
    parser.add_argument("--suite", metavar="FILE", default=str(suite_file), help="another suite for the same agent")
    parser.add_argument("--scenario", metavar="ID", help="run this scenario only, with its variants")
    parser.add_argument("--repetitions", metavar="N", type=whole(100), default=1, help="repeat each case so many times")
    parser.add_argument(
        "--output", metavar="FILE", help="where the report goes (default: a new folder under examples/.runs)"
    )
    parser.add_argument(
        "--latency-ms", metavar="N", type=whole(3_600_000, least=0), default=0, help="let each turn take so long"
    )
    parser.add_argument("--fail", action="store_true", help="turn on the bug: the wrong product is stored")
    return parser


async def _evaluate(arguments: argparse.Namespace, suite: EvaluationSuite, given: ReportFile | None) -> int:
    fingerprint = WRONG_SELECTION if arguments.fail else CORRECT_SELECTION
    cancel = asyncio.Event()
    with StopSignals(cancel.set, partial(os._exit, NOT_PASSED)):
        try:
            report = await run_evaluation(
                suite=suite,
                target={"id": target.id, "fingerprint": fingerprint},
                adapter=make_adapter(fingerprint, latency_ms=arguments.latency_ms),
                evaluators=target.evaluators,
                scenario_ids=None if arguments.scenario is None else [arguments.scenario],
                repetitions=arguments.repetitions,
                concurrency=2,
                cancel=cancel,
            )
        except EvaluationError as error:
            raise InputError(refusal_text(error)) from None
    return _tell(report, given or ReportFile(f"examples/.runs/evaluation-{report.run_id}/report.json"))


def _tell(report: EvaluationReport, file: ReportFile) -> int:
    try:
        file.put([encode_json(report.to_data(), indent=2), b"\n"])
    except OSError as error:
        raise InputError(f"{file.path}: the report cannot be written: {error.strerror or error}") from None
    passed = has_passed(report)
    outcome = {"passed": passed, "summary": report.summary.to_data(), "reportFile": str(Path(file.path).absolute())}
    with contextlib.suppress(BrokenPipeError):  # whoever wanted to read it has gone; the exit status still tells
        print(json.dumps(outcome, indent=2), flush=True)
    return PASSED if passed else NOT_PASSED


if __name__ == "__main__":
    sys.exit(main())
