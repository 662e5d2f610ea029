"""Flags of ``evalrunner scenarios``, read as the original reads them (SPEC 12).

argparse is no help here: errors are found from left to right with fixed texts, and a value may begin with a dash.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from evalrunner.harness.errors import HarnessSetupError
from evalrunner.harness.policies import parse_approval_policy, parse_sandbox_policy
from evalrunner.harness.readers import U64
from evalrunner.harness.strictjson import StrictJsonError, parse_strict, plain

Values: TypeAlias = Mapping[str, Any]
Convert: TypeAlias = Callable[[str], Any]
_HELP: Final = ("-h", "--help")
# What Rust reads as a number; Python alone also takes blanks and underscores.
_float: Final = re.compile(r"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|inf(?:inity)?|nan)", re.IGNORECASE | re.ASCII)


class HelpAsked(Exception):
    """The user wants to know how the command is used; the text says it."""


class ValueRefused(ValueError):
    """A flag's value cannot be read; the text follows ``invalid --FLAG `VALUE` ``, ``kind`` the flag's name."""

    def __init__(self, text: str, kind: str = "") -> None:
        self.kind = kind
        super().__init__(text)


@dataclass(frozen=True, slots=True)
class Flag:
    """One flag. ``convert`` None: a switch. ``repeats``: its values are collected in a list, in ``into``."""

    name: str
    metavar: str
    help: str
    convert: Convert | None = None
    default: Any = None
    is_required: bool = False
    repeats: bool = False
    into: str = ""

    @property
    def key(self) -> str:
        return self.into or self.name.replace("-", "_")


@dataclass(frozen=True, slots=True)
class Subcommand:
    """A subcommand with its flags."""

    name: str
    summary: str
    flags: tuple[Flag, ...] = field(repr=False)

    def usage(self, program: str) -> str:
        needed = "".join(f" --{flag.name} {flag.metavar}" for flag in self.flags if flag.is_required)
        return f"usage: {program} {self.name}{needed} [options]"

    def help(self, program: str) -> str:
        lines = [f"  {f'--{flag.name} {flag.metavar}':<32} {flag.help}" for flag in self.flags]
        return "\n".join([self.usage(program), "", self.summary, "", *lines])


# -------------------------------------------------------------------------------------------------------------- reading


def parse_flags(arguments: Sequence[str], subcommand: Subcommand, program: str) -> Values:
    """Give the values of all flags by their keys; HarnessSetupError for the first thing wrong, from left to right."""
    known = {f"--{flag.name}": flag for flag in subcommand.flags}
    values = {flag.key: [] if flag.repeats else flag.default for flag in subcommand.flags}
    rest = deque(arguments)
    while rest:
        word = rest.popleft()
        if word in _HELP:
            raise HelpAsked(subcommand.help(program))
        name, equals, value = word.partition("=")
        flag = known.get(name)
        if flag is None or (flag.convert is None and equals):
            raise HarnessSetupError(f"unknown argument: {word}\n{subcommand.usage(program)}")
        _store(values, flag, value if equals or flag.convert is None else _next_value(flag, rest))
    _check_required(values, subcommand, program)
    return values


def _next_value(flag: Flag, rest: deque[str]) -> str:
    """Take the next argument as the value, unless it looks like a flag; for such a value there is ``--flag=value``."""
    if not rest or rest[0].startswith("--"):
        raise HarnessSetupError(f"missing value for --{flag.name}")
    return rest.popleft()


def _store(values: dict[str, Any], flag: Flag, text: str) -> None:
    if flag.convert is None:
        values[flag.key] = True
        return
    try:
        value = flag.convert(text)
    except ValueRefused as error:
        raise HarnessSetupError(f"invalid --{flag.name}{error.kind} `{text}`{error}") from None
    if flag.repeats:
        values[flag.key] += value
    else:
        values[flag.key] = value


def _check_required(values: Values, subcommand: Subcommand, program: str) -> None:
    for flag in subcommand.flags:
        if flag.is_required and values[flag.key] is None:
            raise HarnessSetupError(f"missing --{flag.name}\n{subcommand.usage(program)}")


# ------------------------------------------------------------------------------------------------------- converters


def _one(value: str) -> list[str]:
    return [value]


def _comma_list(value: str) -> list[str]:
    return [entry for part in value.split(",") if (entry := part.strip())]


def _whole(value: str) -> int:
    """Read an unsigned 64-bit integer in plain digits; a plus sign may stand before it, as in the original."""
    digits = value.removeprefix("+")
    if not digits:
        raise ValueRefused(": cannot parse integer from empty string")
    if not (digits.isascii() and digits.isdigit()):
        raise ValueRefused(": invalid digit found in string")
    if len(digits.lstrip("0")) > 20 or int(digits) > U64[1]:
        raise ValueRefused(": number too large to fit in target type")
    return int(digits)


def _number(value: str) -> float:
    if _float.fullmatch(value) is None:
        raise ValueRefused(": invalid float literal")
    return float(value)


def _tool_arguments(value: str) -> Any:
    try:
        return plain(parse_strict(value))
    except StrictJsonError as error:
        raise ValueRefused(f": {error}", " JSON") from None


def _choice(*choices: str) -> Convert:
    def convert(value: str) -> str:
        if value not in choices:
            raise ValueRefused(f"; expected {', '.join(choices[:-1])} or {choices[-1]}")
        return value

    return convert


# ------------------------------------------------------------------------------------------------------- subcommands

_SCENARIOS: Final = Flag("scenarios", "FILE", "the scenario file, JSON lines", str, is_required=True)
_TAGS: Final = (
    Flag("tag", "T", "take rows with this tag; may be repeated", _one, repeats=True, into="include"),
    Flag("exclude-tag", "T", "leave out rows with this tag; may be repeated", _one, repeats=True, into="exclude"),
    Flag("tags", "A,B", "the same as several --tag", _comma_list, repeats=True, into="include"),
    Flag("exclude-tags", "A,B", "the same as several --exclude-tag", _comma_list, repeats=True, into="exclude"),
)
_POLICY: Final = "never, on_request (default) or always: when somebody must be asked"
_SANDBOX: Final = "read_only, workspace_write (default) or danger_full_access, or the JSON form"
_APPROVALS: Final = "deny (default), allow or wait: what happens to a question in a headless run"
_ADAPTER: Final = "run against http:URL, command:ARGV or MODULE:OBJECT instead of the local runtime"

RUN: Final = Subcommand(
    "run",
    "run scenarios and write their results",
    (
        _SCENARIOS,
        Flag("output", "FILE", "where the result rows go, JSON lines", str, is_required=True),
        Flag("summary", "FILE", "where the summary goes", str),
        Flag("report", "FILE", "where summary and rows go together", str),
        Flag("workspace", "DIR", "the folder that tools and checks are rooted at; default: here", str, default="."),
        Flag("profile", "NAME", "the profile of rows that name none; default: of the configuration", str),
        Flag("approval-policy", "P", _POLICY, parse_approval_policy),
        Flag("sandbox-policy", "S", _SANDBOX, parse_sandbox_policy),
        Flag("include-trace", "", "put all events into the rows", default=False),
        Flag("enable-mcp", "", "start the configured MCP servers", default=False),
        Flag("enable-hooks", "", "run the configured hooks", default=False),
        Flag("auto-compact-threshold", "X", "compact from this share of the budget; 0.85", _number),
        Flag("fake-emit-tool-call", "", "let the profile fake call a tool in its first request", default=False),
        Flag("fake-tool-id", "ID", "the tool of that call; fs.list", str, default="fs.list"),
        Flag("fake-tool-arguments", "JSON", "its arguments", _tool_arguments, default={"path": "."}),
        Flag("wait-timeout-ms", "N", "wait so long for the expected event types", _whole),
        Flag("scenario-timeout-ms", "N", "end a row after so long", _whole),
        Flag("seed-synthetic-pairs", "N", "begin each session with so many made-up pairs", _whole),
        Flag("allow-post-run-commands", "", "run the commands that rows expect", default=False),
        Flag("fail-fast", "", "stop after the first row that does not pass", default=False),
        *_TAGS,
        Flag("approvals", "MODE", _APPROVALS, _choice("deny", "allow", "wait"), default="deny"),
        Flag("config", "FILE", "the configuration; default: .kairox/config.toml or evalrunner.toml", str),
        Flag("adapter", "ADAPTER", _ADAPTER, str),
        Flag(
            "http-header", "NAME=VARIABLE", "with --adapter: a header from an environment variable", _one, repeats=True
        ),
        Flag("command-env", "VARIABLE", "with --adapter: let the command see this variable", _one, repeats=True),
        Flag("command-stderr", "", "with --adapter: show the command's standard error", default=False),
    ),
)
LIST: Final = Subcommand(
    "list",
    "print the ids of the selected scenarios",
    (
        _SCENARIOS,
        *_TAGS,
        Flag("format", "text|json", "text (default) or json", _choice("text", "json"), default="text"),
    ),
)
COMPARE: Final = Subcommand(
    "compare",
    "compare two reports; exit status 3 when something got worse",
    (
        Flag("baseline", "FILE", "the report before", str, is_required=True),
        Flag("candidate", "FILE", "the report after", str, is_required=True),
        Flag("output", "FILE", "where the comparison goes, besides standard output", str),
    ),
)
SUBCOMMANDS: Final = {subcommand.name: subcommand for subcommand in (RUN, LIST, COMPARE)}
