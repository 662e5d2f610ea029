"""From what the command line names to an adapter, its evaluators and the target of the report."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar, cast

from evalrunner.adapters.base import EvaluationAdapter
from evalrunner.adapters.command import CommandAdapter
from evalrunner.adapters.http import HttpAdapter
from evalrunner.assertions import Evaluators
from evalrunner.cli.inputs import InputError
from evalrunner.errors import AdapterSetupError
from evalrunner.models import EvaluationReport, EvaluationTarget
from evalrunner.targets import RunnableTarget, load_object

UNVERSIONED: Final = "unversioned"
_NO_VERSION_NOTE: Final = "note: no --fingerprint was given, so this run cannot be told from those of other versions"
_HTTP: Final = ("http://", "https://")

T = TypeVar("T")


@dataclass(frozen=True)
class Connection:
    """All that a run needs beside its suite."""

    adapter: EvaluationAdapter
    evaluators: Evaluators
    target: EvaluationTarget


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that ``connect`` reads."""
    group = parser.add_argument_group("the agent")
    group.add_argument("--adapter", required=True, metavar="ADAPTER", help=_ADAPTER_HELP)
    group.add_argument("--target", metavar="ID", help="what is evaluated (default: the target's or adapter's own id)")
    group.add_argument("--fingerprint", metavar="F", help="its exact version, for instance a commit or model version")
    group.add_argument("--evaluators", metavar="MODULE:OBJECT", help="custom evaluators: a mapping of ids to callables")
    group.add_argument(
        "--supports-resume", action="store_true", help="the HTTP or command agent can go on from a checkpoint"
    )
    group.add_argument("--http-header", action="append", default=[], metavar="NAME=VARIABLE", help=_HEADER_HELP)
    group.add_argument("--command-env", action="append", default=[], metavar="VARIABLE", help=_VARIABLE_HELP)
    group.add_argument("--command-stderr", action="store_true", help="show what the command writes to standard error")


_ADAPTER_HELP: Final = (
    "MODULE:OBJECT (an adapter, a function that makes one, or a runnable target), http:URL, "
    "or command:ARGV (one argument, split as a shell would; no shell runs)"
)
_HEADER_HELP: Final = "send this header to the HTTP agent; its value stands in the environment variable"
_VARIABLE_HELP: Final = "let the command see this environment variable, too"


def connect(arguments: argparse.Namespace, previous: EvaluationReport | None) -> Connection:
    """Make what ``--adapter`` names; InputError says what is wrong with it.

    Without ``--target`` and ``--fingerprint`` a resumed run keeps those of its report.
    """
    try:
        return _connect(arguments, previous)
    except AdapterSetupError as error:
        raise InputError(str(error)) from None


def _connect(arguments: argparse.Namespace, previous: EvaluationReport | None) -> Connection:
    made = _make(arguments)
    if isinstance(made, RunnableTarget):
        target = _target(arguments, previous, made.id, made.fingerprints[0] if made.fingerprints else UNVERSIONED)
        adapter: Any = _call_host(lambda: made.adapter(target.fingerprint))
        evaluators = made.evaluators
    else:
        adapter = made
        evaluators = getattr(made, "evaluators", {})
        target = _target(arguments, previous, str(getattr(made, "id", "")), UNVERSIONED)
    return Connection(_checked_adapter(adapter), {**evaluators, **_extra_evaluators(arguments)}, target)


def _make(arguments: argparse.Namespace) -> object:
    text: str = arguments.adapter
    kind, _, rest = text.partition(":")
    if text.startswith(_HTTP):
        return _http(text, arguments)
    if kind == "http":
        return _http(rest, arguments)
    if kind == "command":
        return _command(rest, arguments)
    return _made_by_host(load_object(text, folder=Path.cwd()))


def _http(url: str, arguments: argparse.Namespace) -> HttpAdapter:
    headers = dict(_pair(text) for text in arguments.http_header)
    seconds = arguments.timeout_ms / 1000  # the run's own limit for a turn is the one that counts
    return HttpAdapter(url, headers_from_env=headers, read_timeout_s=seconds, supports_resume=arguments.supports_resume)


def _pair(text: str) -> tuple[str, str]:
    name, _, variable = text.partition("=")
    if not name or not variable:
        raise AdapterSetupError(f"--http-header {text!r} is not of the form NAME=VARIABLE")
    return name, variable


def _command(text: str, arguments: argparse.Namespace) -> CommandAdapter:
    try:
        argv = shlex.split(text)
    except ValueError as error:
        raise AdapterSetupError(f"the command cannot be split into arguments: {str(error).lower()}") from None
    return CommandAdapter(
        argv,
        pass_environment=arguments.command_env,
        show_stderr=arguments.command_stderr,
        supports_resume=arguments.supports_resume,
    )


def _made_by_host(found: object) -> object:
    """Take an adapter or a target as it is; call a class or function that makes one."""
    is_ready = isinstance(found, RunnableTarget) or (hasattr(found, "open") and not isinstance(found, type))
    if is_ready or not callable(found):
        return found
    return _call_host(cast(Callable[[], object], found))


def _call_host(make: Callable[[], T]) -> T:
    try:
        return make()
    except AdapterSetupError:
        raise
    except (Exception, SystemExit) as error:  # the host's code; whatever it raises means that there is no adapter
        raise AdapterSetupError(f"the adapter cannot be made: {type(error).__name__}: {error}") from error


def _checked_adapter(adapter: Any) -> EvaluationAdapter:
    if not callable(getattr(adapter, "open", None)):
        raise AdapterSetupError("what --adapter names has no function open, so it is no adapter")
    if not all(isinstance(getattr(adapter, name, None), str) and getattr(adapter, name) for name in ("id", "version")):
        raise AdapterSetupError("the adapter needs an id and a version, both text")
    return cast(EvaluationAdapter, adapter)


def _extra_evaluators(arguments: argparse.Namespace) -> Evaluators:
    if arguments.evaluators is None:
        return {}
    found = load_object(arguments.evaluators, folder=Path.cwd())
    if not isinstance(found, Mapping) or not all(callable(evaluator) for evaluator in found.values()):
        raise AdapterSetupError(f"{arguments.evaluators} is no mapping of ids to functions")
    return found


def _target(
    arguments: argparse.Namespace, previous: EvaluationReport | None, own_id: str, own_fingerprint: str
) -> EvaluationTarget:
    for name, value in (("--target", arguments.target), ("--fingerprint", arguments.fingerprint)):
        if value == "":
            raise InputError(f"{name} must not be empty")
    if arguments.target is None and arguments.fingerprint is None and previous is not None:
        return previous.target
    if arguments.fingerprint is None and own_fingerprint == UNVERSIONED:
        print(_NO_VERSION_NOTE, file=sys.stderr)
    return EvaluationTarget(
        id=own_id if arguments.target is None else arguments.target,
        fingerprint=own_fingerprint if arguments.fingerprint is None else arguments.fingerprint,
    )
