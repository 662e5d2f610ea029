"""The grammar of scenario files: one JSON object a line (SPEC 1 to 3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

from evalrunner.harness import readers
from evalrunner.harness.errors import ScenarioParseError
from evalrunner.harness.policies import APPROVAL_POLICIES, ApprovalPolicy, SandboxPolicy, read_sandbox
from evalrunner.harness.readers import I32, U32, U64, Place, ReadError, list_of, map_of, object_of, optional, whole
from evalrunner.harness.strictjson import StrictJsonError, members_of, parse_strict

# Unicode's White_Space; str.strip() would also take U+001C to U+001F, and U+FEFF is none.
WHITE_SPACE: Final = (
    "\t\n\v\f\r \x85\xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000"
)


@dataclass(frozen=True, slots=True)
class FileExpectation:
    """A file that must be in the workspace after the turns, as text, with and without some strings."""

    path: str
    contains: tuple[str, ...] = ()
    not_contains: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CommandExpectation:
    """A command to run after the turns; ``exit_code`` None: any will do, ``timeout_ms`` None: no limit."""

    program: str
    args: tuple[str, ...] = ()
    cwd: str | None = None
    exit_code: int | None = 0
    timeout_ms: int | None = None
    stdout_contains: tuple[str, ...] = ()
    stderr_contains: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Expectations:
    """What is checked of a row; a limit that is None and an empty list check nothing."""

    assistant_contains: tuple[str, ...] = ()
    assistant_not_contains: tuple[str, ...] = ()
    assistant_matches_regex: tuple[str, ...] = ()
    event_types: tuple[str, ...] = ()
    forbidden_event_types: tuple[str, ...] = ()
    min_events_of_type: Mapping[str, int] = field(default_factory=dict)
    max_events_of_type: Mapping[str, int] = field(default_factory=dict)
    min_tool_invocations: int | None = None
    max_tool_failures: int | None = None
    max_elapsed_ms: int | None = None
    max_context_input_tokens: int | None = None
    max_turns: int | None = None
    trajectory_actions: tuple[str, ...] = ()
    max_trajectory_steps: int | None = None
    workspace_files: tuple[FileExpectation, ...] = ()
    post_run_commands: tuple[CommandExpectation, ...] = ()


@dataclass(frozen=True, slots=True)
class Scenario:
    """One row; None stands for the default of the run. ``line`` is where it stands in its file, from 1."""

    id: str
    prompt: str
    profile: str | None = None
    approval_policy: ApprovalPolicy | None = None
    sandbox_policy: SandboxPolicy | None = None
    tags: tuple[str, ...] = ()
    expected: Expectations = field(default_factory=Expectations)
    turns: tuple[str, ...] = ()
    system_instructions: str | None = None
    line: int = 0


@dataclass(frozen=True, slots=True)
class ScenarioFile:
    """All rows of a file, and what is odd about it: keys that nobody reads, ids that stand twice."""

    scenarios: tuple[Scenario, ...]
    warnings: tuple[str, ...]


# -------------------------------------------------------------------------------------------------------------- readers


def _made_by(make: Any, reader: readers.Reader) -> readers.Reader:
    """Read an object and make something of its fields."""

    def read(value: object, at: Place) -> Any:
        return make(**reader(value, at))

    return read


_texts: Final = list_of(readers.text)
_optional_text: Final = optional(readers.text)
_limit: Final = optional(whole(U64))
_counts: Final = map_of(whole(U64))
_file: Final = _made_by(
    FileExpectation, object_of({"path": readers.text, "contains": _texts, "not_contains": _texts}, ["path"])
)
_command: Final = _made_by(
    CommandExpectation,
    object_of(
        {
            "program": readers.text,
            "args": _texts,
            "cwd": _optional_text,
            "exit_code": optional(whole(I32)),
            "timeout_ms": _limit,
            "stdout_contains": _texts,
            "stderr_contains": _texts,
        },
        ["program"],
    ),
)
_expectations: Final = _made_by(
    Expectations,
    object_of(
        {
            "assistant_contains": _texts,
            "assistant_not_contains": _texts,
            "assistant_matches_regex": _texts,
            "event_types": _texts,
            "forbidden_event_types": _texts,
            "min_events_of_type": _counts,
            "max_events_of_type": _counts,
            "min_tool_invocations": _limit,
            "max_tool_failures": _limit,
            "max_elapsed_ms": _limit,
            "max_context_input_tokens": _limit,
            "max_turns": _limit,
            "trajectory_actions": _texts,
            "max_trajectory_steps": optional(whole(U32)),
            "workspace_files": list_of(_file),
            "post_run_commands": list_of(_command),
        }
    ),
)
_scenario: Final = object_of(
    {
        "id": readers.text,
        "prompt": readers.text,
        "profile": _optional_text,
        "approval_policy": optional(readers.variant(APPROVAL_POLICIES)),
        "sandbox_policy": optional(read_sandbox),
        "tags": _texts,
        "expected": _expectations,
        "turns": _texts,
        "system_instructions": _optional_text,
    },
    ["id", "prompt"],
)


def read_expectations(value: Mapping[str, Any]) -> Expectations:
    """Read an ``expected`` object as it stands in a valid file; ReadError for another."""
    return cast(Expectations, _expectations(value, Place("expected")))


# ---------------------------------------------------------------------------------------------------------------- files


def parse_scenarios(text: str) -> list[Scenario]:
    """Read all rows of a scenario file, in file order; ScenarioParseError names the first bad line."""
    return list(read_scenarios(text).scenarios)


def read_scenarios(text: str) -> ScenarioFile:
    """Read a scenario file whose line ends are untouched; ScenarioParseError names the first bad line."""
    scenarios, warnings = [], []
    for number, line in enumerate(text.split("\n"), start=1):
        content = line.strip(WHITE_SPACE)
        if content and not content.startswith("#"):
            at = Place()
            scenarios.append(_read_line(number, content, at))
            warnings += [f"line {number}: unknown key `{key}` is ignored" for key in at.unknown_keys]
    return ScenarioFile(tuple(scenarios), (*warnings, *_repeated_ids(scenarios)))


def _read_line(number: int, content: str, at: Place) -> Scenario:
    try:
        value = parse_strict(content)
        if members_of(value) is None:
            raise at.wrong_type(value, "a scenario object")
        return Scenario(**_scenario(value, at), line=number)
    except (StrictJsonError, ReadError) as error:
        raise ScenarioParseError(number, str(error)) from None


def _repeated_ids(scenarios: Sequence[Scenario]) -> list[str]:
    counts = Counter(scenario.id for scenario in scenarios)
    return [
        f"id `{id}` stands in {count} rows; a comparison looks at the last" for id, count in counts.items() if count > 1
    ]


def select_scenarios(scenarios: Iterable[Scenario], include: Iterable[str], exclude: Iterable[str]) -> list[Scenario]:
    """Take the rows that carry an include tag (any row if none is given) and none of the exclude tags."""
    wanted, unwanted = frozenset(include), frozenset(exclude)
    return [
        scenario
        for scenario in scenarios
        if (not wanted or wanted.intersection(scenario.tags)) and not unwanted.intersection(scenario.tags)
    ]
