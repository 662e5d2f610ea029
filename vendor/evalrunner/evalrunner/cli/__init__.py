"""The command ``evalrunner``.

Each command is a module of its own, named in ``COMMANDS`` and imported only when it is asked for. It has

    SUMMARY             one line for the list of commands
    USAGE_EXIT          exit status for wrong arguments and for a crash
    configure(parser)   add its arguments
    execute(arguments)  do it and give the exit status

``InputError`` raised by a command becomes its sentence on standard error and ``USAGE_EXIT``. A command that reads its
arguments itself has ``execute_raw(arguments, program)`` in place of the last two.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, NoReturn, Protocol, cast, runtime_checkable

from evalrunner.cli.inputs import InputError
from evalrunner.cli.streams import occupy_closed_streams

COMMANDS: Final[dict[str, str]] = {
    "compare": "evalrunner.cli.compare",
    "gate": "evalrunner.cli.gate",
    "list": "evalrunner.cli.list_cases",
    "push": "evalrunner.cli.push",
    "run": "evalrunner.cli.run",
    "scenarios": "evalrunner.cli.scenarios",
    "validate": "evalrunner.cli.validate",
}
UNKNOWN_COMMAND_EXIT: Final = 4
INTERRUPTED_EXIT: Final = 130


class Command(Protocol):
    SUMMARY: str
    USAGE_EXIT: int

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's arguments."""

    def execute(self, arguments: argparse.Namespace) -> int:
        """Do it and give the exit status."""


@runtime_checkable
class RawCommand(Protocol):
    """A command that reads its arguments itself."""

    SUMMARY: str
    USAGE_EXIT: int

    def execute_raw(self, arguments: Sequence[str], program: str) -> int:
        """Do it and give the exit status; ``program`` is what its messages begin with."""


class CommandParser(argparse.ArgumentParser):
    """A parser that takes no abbreviations and ends with the exit status of its command."""

    def __init__(self, name: str, command: Command) -> None:
        super().__init__(prog=f"evalrunner {name}", description=command.SUMMARY, allow_abbrev=False)
        self._usage_exit = command.USAGE_EXIT

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(self._usage_exit, f"{self.prog}: {message}\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and give the exit status; nothing is raised but SystemExit for help and wrong arguments."""
    given = list(sys.argv[1:] if argv is None else argv)
    prepare_output()
    if given and given[0] in ("-h", "--help"):
        print(_overview())
        return 0
    if given and given[0] == "--version":
        print(f"evalrunner {_version()}")
        return 0
    if not given or given[0] not in COMMANDS:
        print(_unknown_command(given), file=sys.stderr)
        return UNKNOWN_COMMAND_EXIT
    return _run_command(given[0], given[1:])


def _run_command(name: str, arguments: Sequence[str]) -> int:
    command = _load(name)
    program = f"evalrunner {name}"
    if isinstance(command, RawCommand):
        return run_guarded(partial(command.execute_raw, arguments, program), program, command.USAGE_EXIT)
    parser = CommandParser(name, command)
    command.configure(parser)
    return run_guarded(partial(command.execute, parser.parse_args(arguments)), program, command.USAGE_EXIT)


def run_guarded(execute: Callable[[], int], program: str, usage_exit: int) -> int:
    """Carry out a command and give its exit status, whatever happens."""
    try:
        return execute()
    except InputError as error:
        print(f"{program}: {error}", file=sys.stderr)
        return usage_exit
    except KeyboardInterrupt:
        return INTERRUPTED_EXIT
    except BrokenPipeError:
        _forget_output()
        return usage_exit
    except Exception:  # a crash must not look like a verdict, and its place is what a bug report needs
        traceback.print_exc()
        print(f"{program}: this is a defect of evalrunner; please report the lines above", file=sys.stderr)
        return usage_exit


def _load(name: str) -> Command | RawCommand:
    return cast("Command | RawCommand", importlib.import_module(COMMANDS[name]))


def _overview() -> str:
    lines = [f"  {name:<10} {_load(name).SUMMARY}" for name in COMMANDS]
    return "\n".join(["usage: evalrunner COMMAND …", "", *lines, "", "evalrunner COMMAND --help tells the rest."])


def _unknown_command(given: Sequence[str]) -> str:
    known = ", ".join(COMMANDS)
    if not given:
        return f"evalrunner: name a command: {known}"
    return f"evalrunner: there is no command {given[0]!r}; the commands are {known}"


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("evalrunner")
    except PackageNotFoundError:  # installed as a part of something else
        return "(as a part of another package)"


def prepare_output() -> None:
    """Names from files may hold what the terminal's encoding cannot show: escape it instead of failing."""
    occupy_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]


def _forget_output() -> None:
    """Whoever read our output is gone: let the interpreter's last flush go nowhere."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
