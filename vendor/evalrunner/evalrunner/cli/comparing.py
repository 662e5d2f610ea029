"""What ``compare`` and ``gate`` share: their arguments, reading both sides and the policy, and writing the result."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from evalrunner.cli.inputs import InputError, read_bytes
from evalrunner.cli.output import ReportFile
from evalrunner.cli.streams import result_stream
from evalrunner.compare.files import ReportFileError
from evalrunner.compare.judging import judge_versions
from evalrunner.compare.policy import DEFAULT_POLICY, Policy, parse_policy
from evalrunner.compare.renderings import FORMATS
from evalrunner.compare.versions import Version, read_version
from evalrunner.errors import EvaluationError

CANNOT_SAY: Final = 4
"""The exit status for everything that is no result: wrong usage, unreadable input, a crash, an interruption."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    files = parser.add_argument_group("the two sides", "reports as JSON, plain or in gzip or zstd")
    files.add_argument("first", metavar="BASELINE", help="a run of the version that is known")
    files.add_argument("second", metavar="CANDIDATE", help="a run of the version that is new")
    files.add_argument(
        "--baseline",
        action="append",
        default=[],
        metavar="FILE",
        help="another run of the baseline's version, pooled with the first; may be repeated",
    )
    files.add_argument(
        "--candidate",
        action="append",
        default=[],
        metavar="FILE",
        help="another run of the candidate's version, pooled with the first; may be repeated",
    )
    parser.add_argument("--policy", metavar="FILE", help="what is critical, margin, completeness and so on, TOML")
    parser.add_argument("--format", choices=list(FORMATS), default="text", help="default text")
    parser.add_argument("--output", metavar="FILE", help="write the result there instead of standard output")


def compare_as_asked(arguments: argparse.Namespace) -> Mapping[str, Any]:
    """Compare, write the result and give the document; InputError where something cannot be used."""
    sides = [arguments.first, *arguments.baseline], [arguments.second, *arguments.candidate]
    output = _output(arguments.output, [*sides[0], *sides[1], arguments.policy])
    policy = _read_policy(arguments.policy)
    try:
        baseline, candidate = read_version(sides[0]), read_version(sides[1])
        document = judge_versions(baseline, candidate, policy=policy)
    except ReportFileError as error:
        raise InputError(str(error)) from None
    _hint_at_predecessors("baseline", baseline)
    _hint_at_predecessors("candidate", candidate)
    _write(FORMATS[arguments.format](document), output, document)
    return document


def _hint_at_predecessors(side: str, version: Version) -> None:
    """Say on standard error where a retry stands without the run that it retried: its first attempts are unknown."""
    for file in version.without_predecessor:
        print(
            f"hint: {file.path} goes on with run {file.facts.resumed_from!r}, which was not given: a retry counts as "
            f"the first attempt then. Give that report, too: --{side} FILE",
            file=sys.stderr,
        )


def _read_policy(path: str | None) -> Policy:
    if path is None:
        return DEFAULT_POLICY
    try:
        return parse_policy(read_bytes(path).decode())
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text (byte {error.start})") from None
    except EvaluationError as error:
        raise InputError(f"{path} is not a valid policy ({error.code}): {', '.join(error.paths)}") from None


def _output(path: str | None, inputs: list[str | None]) -> ReportFile | None:
    if path is None:
        return None
    file = ReportFile(path)
    for name in inputs:
        if name is not None and _is_same_file(path, name):
            raise InputError(f"{path}: is one of the files to read and would be overwritten")
    return file


def _is_same_file(path: str, other: str) -> bool:
    try:
        return Path(path).samefile(other)
    except (OSError, ValueError):
        return False


def _write(text: str, output: ReportFile | None, document: Mapping[str, Any]) -> None:
    try:
        if output is None:
            _print(text)
        else:
            output.put([text.encode()])
            _print(f"{document['sentence']}\n")
    except BrokenPipeError:
        raise
    except OSError as error:
        place = "standard output" if output is None else str(output.path)
        raise InputError(f"{place}: the result cannot be written: {(error.strerror or str(error)).lower()}") from None


def _print(text: str) -> None:
    """Write UTF-8 whatever the terminal's encoding is, and see that it has gone out before a verdict is given."""
    stream = result_stream()
    binary = getattr(stream, "buffer", None)
    if binary is None:
        stream.write(text)
    else:
        stream.flush()
        binary.write(text.encode())
    stream.flush()
