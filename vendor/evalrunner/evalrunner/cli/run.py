"""``evalrunner run SUITE --adapter … --output FILE``: execute a suite, write its report, judge by the exit status."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from functools import partial
from typing import Final

from evalrunner.adapters.processes import kill_all_groups
from evalrunner.cli import connect, push
from evalrunner.cli.arguments import check_scenarios, whole
from evalrunner.cli.ending import StopSignals, run_to_end
from evalrunner.cli.inputs import InputError, parse_input
from evalrunner.cli.output import ReportFile, ReportWriter
from evalrunner.cli.progress import Progress, counts_text
from evalrunner.cli.refusals import refusal_text
from evalrunner.cli.run_publishing import RunPublisher
from evalrunner.cli.run_publishing import add_arguments as add_publishing
from evalrunner.cli.site import Site
from evalrunner.errors import EvaluationError
from evalrunner.events import EvaluationCheckpoint
from evalrunner.models import CaseStatus, EvaluationReport, EvaluationSuite, RunStatus
from evalrunner.reports import parse_evaluation_report
from evalrunner.runner import run_evaluation
from evalrunner.suites import parse_evaluation_suite

SUMMARY = "execute a suite against an agent and write the report"
USAGE_EXIT = 2
PASSED: Final = 0
NOT_PASSED: Final = 1


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("suite", metavar="SUITE", help="the suite, JSON or gzipped JSON")
    parser.add_argument(
        "--output", required=True, metavar="FILE", help="where the report goes; kept up while the run goes on"
    )
    connect.add_arguments(parser)
    _add_selection(parser)
    _add_limits(parser)
    group = parser.add_argument_group("going on with an earlier run")
    group.add_argument("--resume", metavar="REPORT", help="continue the run of this report; it must fit")
    group.add_argument("--retry-failed", action="store_true", help="with --resume: hold the failed conversations anew")
    add_publishing(parser)


def _add_selection(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("which cases")
    group.add_argument("--scenario", action="append", metavar="ID", help="only this scenario; may be repeated")
    group.add_argument("--tag", action="append", metavar="T", help="only scenarios with this tag; may be repeated")
    group.add_argument("--repetitions", type=whole(100), default=1, metavar="N", help="1 to 100, default 1")
    group.add_argument(
        "--max-cases", type=whole(100_000), default=1_000, metavar="N", help="refuse more cases, default 1000"
    )


def _add_limits(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("how it runs")
    group.add_argument(
        "--concurrency", type=whole(32), default=1, metavar="N", help="cases at a time, 1 to 32, default 1"
    )
    group.add_argument(
        "--max-failures",
        type=whole(100_000),
        default=100_000,
        metavar="N",
        help="start no more cases after so many that failed or ended in an error",
    )
    group.add_argument(
        "--timeout-ms", type=whole(3_600_000), default=120_000, metavar="N", help="limit for each turn, default 120000"
    )
    group.add_argument("--allow-external-writes", action="store_true", help="also run scenarios that write outside")


def execute(arguments: argparse.Namespace) -> int:
    """Run and give the exit status; InputError for whatever keeps the run from beginning."""
    if arguments.retry_failed and arguments.resume is None:
        raise InputError("--retry-failed needs --resume with the report whose failures are to be retried")
    suite = parse_input(arguments.suite, parse_evaluation_suite, "suite")
    previous = None
    if arguments.resume is not None:
        previous = parse_input(arguments.resume, parse_evaluation_report, "report")
    check_scenarios(suite, arguments.scenario or ())
    connection = connect.connect(arguments, previous)
    file = ReportFile(arguments.output)
    site = None if arguments.push is None else push.connect(arguments.push, arguments.token_env)
    return run_to_end(_run(arguments, suite, previous, connection, file, site))


async def _run(
    arguments: argparse.Namespace,
    suite: EvaluationSuite,
    previous: EvaluationReport | None,
    connection: connect.Connection,
    file: ReportFile,
    site: Site | None,
) -> int:
    cancel, publisher = asyncio.Event(), RunPublisher(site, file.path)
    writer, progress = ReportWriter(file), Progress(sys.stderr)
    report, refusal = None, None
    try:
        with StopSignals(cancel.set, partial(_leave, file)):
            report = await run_evaluation(
                suite=suite,
                target=connection.target,
                adapter=connection.adapter,
                evaluators=connection.evaluators,
                scenario_ids=arguments.scenario,
                tags=arguments.tag,
                concurrency=arguments.concurrency,
                repetitions=arguments.repetitions,
                max_cases=arguments.max_cases,
                max_failures=arguments.max_failures,
                timeout_ms=arguments.timeout_ms,
                cancel=cancel,
                allow_external_writes=arguments.allow_external_writes,
                on_checkpoint=partial(_take, writer, progress),
                resume=previous,
                retry_failed=arguments.retry_failed,
            )
    except EvaluationError as error:
        refusal = InputError(refusal_text(error))
    finally:
        progress.close()
    await _finish(writer, report)
    if report is None:
        raise refusal or AssertionError("a run ends in a report or in a refusal")
    await publisher.finish()
    return _judge(report, file)


def _take(writer: ReportWriter, progress: Progress, checkpoint: EvaluationCheckpoint) -> None:
    writer.offer(checkpoint)
    progress.update(checkpoint)


async def _finish(writer: ReportWriter, report: EvaluationReport | None) -> None:
    try:
        await writer.finish(report)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError(f"{writer.file.path}: the report cannot be written: {reason}") from None


def _leave(file: ReportFile) -> None:
    """End the process on the spot; what was last written of the report stays."""
    kill_all_groups()
    file.discard_draft()
    os._exit(NOT_PASSED)


def _judge(report: EvaluationReport, file: ReportFile) -> int:
    passed = has_passed(report)
    print(f"{'Passed' if passed else 'Not passed'}: {_verdict_text(report)}")
    for assertion in report.assertions or ():
        if not assertion.passed:
            print(f"Suite assertion not passed: {assertion.id}")
    print(f"Report: {file.path}")
    return PASSED if passed else NOT_PASSED


def has_passed(report: EvaluationReport) -> bool:
    """A run passes only if it is completed, every case passed and every suite assertion passed."""
    return (
        report.status is RunStatus.COMPLETED
        and all(case.status is CaseStatus.PASSED for case in report.cases)
        and all(assertion.passed for assertion in report.assertions or ())
    )


def _verdict_text(report: EvaluationReport) -> str:
    """Say the pass rate with both of its numbers and with what was never decided."""
    summary = report.summary
    decided = summary.passed + summary.failed + summary.error
    undecided = summary.total - decided
    text = f"{summary.passed:,} of {decided:,} decided cases passed"
    if undecided:
        text += f", {undecided:,} undecided"
    return f"{text} ({counts_text(summary)}); the run is {report.status}."
