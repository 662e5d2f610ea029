"""The values of the runner core: suites, cases and reports.

All are frozen; free data inside is frozen too (see ``evalrunner.data``), so a model can be handed to anybody without
a copy. Names are snake_case here and camelCase on the wire. ``None`` stands for an absent member, while a list that
was given empty stays an empty tuple. ``to_data()`` gives the wire format as fresh plain dicts and lists.
Models do not check themselves: the parsers in ``suites`` and ``reports`` do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any, Protocol, TypeAlias

from evalrunner.data import FreeData, Json, PlainObject, thaw


class RunStatus(StrEnum):
    """``completed`` does not mean passed; ``limited`` means that cases were left pending by the failure limit."""

    RUNNING = "running"
    COMPLETED = "completed"
    CANCELLED = "cancelled"
    LIMITED = "limited"


class CaseStatus(StrEnum):
    PENDING = "pending"
    RUNNING = "running"
    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    SKIPPED = "skipped"
    BLOCKED = "blocked"
    CANCELLED = "cancelled"


class TurnStatus(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    CANCELLED = "cancelled"


class WritePolicy(StrEnum):
    READ_ONLY = "read_only"
    EXTERNAL = "external"


class Operator(StrEnum):
    EXISTS = "exists"
    ABSENT = "absent"
    EQUALS = "equals"
    MATCHES = "matches"
    CONTAINS = "contains"
    GTE = "gte"
    LTE = "lte"
    LENGTH = "length"


# ---------------------------------------------------------------------------------------------------------- assertions


@dataclass(frozen=True, slots=True)
class CheckAssertion:
    """Look at one path of the observation; ``has_value`` tells a null value from none."""

    id: str
    path: tuple[str | int, ...]
    operator: Operator
    value: Json = None
    has_value: bool = False
    label: str | None = None

    def to_data(self) -> PlainObject:
        data = _named(self.id, self.label, "check")
        data |= {"path": list(self.path), "operator": str(self.operator)}
        if self.has_value:
            data["value"] = thaw(self.value)
        return data


@dataclass(frozen=True, slots=True)
class AllAssertion:
    id: str
    assertions: tuple[Assertion, ...]
    label: str | None = None

    def to_data(self) -> PlainObject:
        return _named(self.id, self.label, "all") | {"assertions": _list_data(self.assertions)}


@dataclass(frozen=True, slots=True)
class AnyAssertion:
    id: str
    assertions: tuple[Assertion, ...]
    label: str | None = None

    def to_data(self) -> PlainObject:
        return _named(self.id, self.label, "any") | {"assertions": _list_data(self.assertions)}


@dataclass(frozen=True, slots=True)
class NotAssertion:
    id: str
    assertion: Assertion
    label: str | None = None

    def to_data(self) -> PlainObject:
        return _named(self.id, self.label, "not") | {"assertion": self.assertion.to_data()}


@dataclass(frozen=True, slots=True)
class CustomAssertion:
    """Ask the evaluator with this id, which the host supplies."""

    id: str
    evaluator: str
    parameters: FreeData
    label: str | None = None

    def to_data(self) -> PlainObject:
        data = _named(self.id, self.label, "custom")
        return data | {"evaluator": self.evaluator, "parameters": thaw(self.parameters)}


Assertion: TypeAlias = CheckAssertion | AllAssertion | AnyAssertion | NotAssertion | CustomAssertion


@dataclass(frozen=True, slots=True)
class Actual:
    """What a check found: present or absent, and the value as far as it was recorded."""

    present: bool
    value: Json = None
    has_value: bool = False

    def to_data(self) -> PlainObject:
        data: PlainObject = {"present": self.present}
        if self.has_value:
            data["value"] = thaw(self.value)
        return data


@dataclass(frozen=True, slots=True)
class AssertionResult:
    """The outcome of one assertion; a composite holds the results of all its children."""

    id: str
    passed: bool
    label: str | None = None
    actual: Actual | None = None
    expected: Json = None
    has_expected: bool = False
    error_code: str | None = None
    evidence: FreeData | None = None
    children: tuple[AssertionResult, ...] | None = None

    def to_data(self) -> PlainObject:
        data: PlainObject = {"id": self.id}
        _add_text(data, "label", self.label)
        data["passed"] = self.passed
        if self.actual is not None:
            data["actual"] = self.actual.to_data()
        if self.has_expected:
            data["expected"] = thaw(self.expected)
        _add_text(data, "errorCode", self.error_code)
        if self.evidence is not None:
            data["evidence"] = thaw(self.evidence)
        _add_list(data, "children", self.children)
        return data


# -------------------------------------------------------------------------------------------------------------- suites


@dataclass(frozen=True, slots=True)
class EvaluationVariant:
    """An alternative full input of a step."""

    id: str
    input: FreeData

    def to_data(self) -> PlainObject:
        return {"id": self.id, "input": thaw(self.input)}


@dataclass(frozen=True, slots=True)
class EvaluationStep:
    """One exchange of a scenario; when it has variants, its own input is never used."""

    id: str
    input: FreeData
    assertions: tuple[Assertion, ...] | None = None
    variants: tuple[EvaluationVariant, ...] | None = None

    def to_data(self) -> PlainObject:
        data: PlainObject = {"id": self.id, "input": thaw(self.input)}
        _add_list(data, "assertions", self.assertions)
        _add_list(data, "variants", self.variants)
        return data


@dataclass(frozen=True, slots=True)
class EvaluationScenario:
    """One conversation to hold: its steps in order, and assertions on its end."""

    id: str
    name: str
    write_policy: WritePolicy
    steps: tuple[EvaluationStep, ...]
    description: str | None = None
    tags: tuple[str, ...] | None = None
    skip_reason: str | None = None
    metadata: FreeData | None = None
    assertions: tuple[Assertion, ...] | None = None

    def to_data(self) -> PlainObject:
        data: PlainObject = {"id": self.id, "name": self.name}
        _add_text(data, "description", self.description)
        if self.tags is not None:
            data["tags"] = list(self.tags)
        data["writePolicy"] = str(self.write_policy)
        _add_text(data, "skipReason", self.skip_reason)
        if self.metadata is not None:
            data["metadata"] = thaw(self.metadata)
        data["steps"] = _list_data(self.steps)
        _add_list(data, "assertions", self.assertions)
        return data


@dataclass(frozen=True, slots=True)
class EvaluationSuite:
    """A versioned definition of what to evaluate, with assertions on a whole run."""

    id: str
    name: str
    scenarios: tuple[EvaluationScenario, ...]
    metadata: FreeData | None = None
    assertions: tuple[Assertion, ...] | None = None
    schema_version: int = 1

    def to_data(self) -> PlainObject:
        data: PlainObject = {"schemaVersion": self.schema_version, "id": self.id, "name": self.name}
        if self.metadata is not None:
            data["metadata"] = thaw(self.metadata)
        data["scenarios"] = _list_data(self.scenarios)
        _add_list(data, "assertions", self.assertions)
        return data


@dataclass(frozen=True, slots=True)
class ExpandedCase:
    """One conversation to execute: a scenario, its chosen variants (step id to variant id) and a repetition from 0.

    ``steps`` are those of the scenario with the chosen inputs put in and without variants.
    """

    id: str
    scenario: EvaluationScenario
    variants: Mapping[str, str]
    repetition: int
    steps: tuple[EvaluationStep, ...]


# ------------------------------------------------------------------------------------------------------------- reports


@dataclass(frozen=True, slots=True)
class EvaluationTarget:
    """What was evaluated and its exact version; ``extra`` holds further members that the runner was given."""

    id: str
    fingerprint: str
    extra: FreeData | None = None

    def to_data(self) -> PlainObject:
        data: PlainObject = {"id": self.id, "fingerprint": self.fingerprint}
        if self.extra is not None:
            data |= thaw(self.extra)
        return data


@dataclass(frozen=True, slots=True)
class EvaluationTurn:
    """One executed step; ``duration_ms`` is any number of milliseconds from 0 on."""

    step_id: str
    turn_id: str
    input: FreeData
    status: TurnStatus
    duration_ms: int | float
    observation: FreeData | None = None
    assertions: tuple[AssertionResult, ...] = ()
    error_code: str | None = None
    checkpoint: FreeData | None = None

    def to_data(self) -> PlainObject:
        data: PlainObject = {"stepId": self.step_id, "turnId": self.turn_id, "input": thaw(self.input)}
        data["status"] = str(self.status)
        if self.observation is not None:
            data["observation"] = thaw(self.observation)
        data["assertions"] = _list_data(self.assertions)
        _add_text(data, "errorCode", self.error_code)
        data["durationMs"] = self.duration_ms
        if self.checkpoint is not None:
            data["checkpoint"] = thaw(self.checkpoint)
        return data


@dataclass(frozen=True, slots=True)
class EvaluationCase:
    """One executed (or still waiting) conversation of a report; ``assertions`` are the scenario's results."""

    id: str
    scenario_id: str
    name: str
    repetition: int
    variants: Mapping[str, str]
    thread_id: str
    status: CaseStatus
    turns: tuple[EvaluationTurn, ...] = ()
    assertions: tuple[AssertionResult, ...] = ()
    error_code: str | None = None
    skip_reason: str | None = None

    def to_data(self) -> PlainObject:
        data: PlainObject = {"id": self.id, "scenarioId": self.scenario_id, "name": self.name}
        data["repetition"] = self.repetition
        data["variants"] = dict(self.variants)
        data["threadId"] = self.thread_id
        data["status"] = str(self.status)
        data["turns"] = _list_data(self.turns)
        data["assertions"] = _list_data(self.assertions)
        _add_text(data, "errorCode", self.error_code)
        _add_text(data, "skipReason", self.skip_reason)
        return data


@dataclass(frozen=True, slots=True)
class EvaluationSummary:
    """Cases by status; the counts add up to ``total``."""

    total: int = 0
    pending: int = 0
    running: int = 0
    passed: int = 0
    failed: int = 0
    error: int = 0
    skipped: int = 0
    blocked: int = 0
    cancelled: int = 0

    @classmethod
    def of_statuses(cls, statuses: Iterable[str]) -> EvaluationSummary:
        """Count the statuses of all cases."""
        counts = dict.fromkeys(CASE_STATUSES, 0)
        for status in statuses:
            counts[status] += 1
        return cls(total=sum(counts.values()), **counts)

    def to_data(self) -> PlainObject:
        return {name: getattr(self, name) for name in SUMMARY_NAMES}


CASE_STATUSES: tuple[str, ...] = tuple(str(status) for status in CaseStatus)
SUMMARY_NAMES: tuple[str, ...] = tuple(entry.name for entry in fields(EvaluationSummary))


@dataclass(frozen=True, slots=True)
class EvaluationReport:
    """The portable result of a run, or a snapshot of it; ``cases`` may be any immutable sequence."""

    run_id: str
    suite: EvaluationSuite = field(repr=False)
    fingerprint: str
    target: EvaluationTarget
    started_at: str
    status: RunStatus
    cases: Sequence[EvaluationCase] = field(repr=False)  # asyncio.run writes out the result of its task
    summary: EvaluationSummary
    resumed_from: str | None = None
    finished_at: str | None = None
    assertions: tuple[AssertionResult, ...] | None = None
    schema_version: int = 1

    def to_data(self) -> PlainObject:
        data: PlainObject = {"schemaVersion": self.schema_version, "runId": self.run_id}
        _add_text(data, "resumedFrom", self.resumed_from)
        data |= {"suite": self.suite.to_data(), "fingerprint": self.fingerprint, "target": self.target.to_data()}
        data["startedAt"] = self.started_at
        _add_text(data, "finishedAt", self.finished_at)
        data |= {"status": str(self.status), "cases": _list_data(self.cases)}
        _add_list(data, "assertions", self.assertions)
        data["summary"] = self.summary.to_data()
        return data


# ------------------------------------------------------------------------------------------------------- wire format


class HasData(Protocol):
    def to_data(self) -> PlainObject:
        """Give the wire format as fresh plain values."""


def _named(id: str, label: str | None, kind: str) -> PlainObject:
    data: PlainObject = {"id": id}
    _add_text(data, "label", label)
    data["kind"] = kind
    return data


def _add_text(data: PlainObject, name: str, text: str | None) -> None:
    if text is not None:
        data[name] = text


def _add_list(data: PlainObject, name: str, models: Sequence[HasData] | None) -> None:
    if models is not None:
        data[name] = _list_data(models)


def _list_data(models: Iterable[HasData]) -> list[Any]:
    return [model.to_data() for model in models]
