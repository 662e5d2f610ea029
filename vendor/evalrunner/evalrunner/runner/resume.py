"""How a run begins: every case afresh, or taken over from an earlier report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from evalrunner.assertions import verdict
from evalrunner.canonical import digest
from evalrunner.codes import (
    EXTERNAL_WRITE_RESUME,
    EXTERNAL_WRITE_RETRY,
    EXTERNAL_WRITES_NOT_AUTHORIZED,
    RESUME_INCOMPATIBLE,
    TURN_RESUME_NOT_SUPPORTED,
    TURN_RESUME_UNSAFE,
)
from evalrunner.errors import RESUME_INVALID, EvaluationError
from evalrunner.models import (
    CaseStatus,
    EvaluationCase,
    EvaluationReport,
    EvaluationStep,
    EvaluationTurn,
    ExpandedCase,
    TurnStatus,
    WritePolicy,
)

_INTERRUPTED: Final = frozenset({CaseStatus.RUNNING, CaseStatus.CANCELLED})
_RETRIED: Final = frozenset({CaseStatus.FAILED, CaseStatus.ERROR, CaseStatus.BLOCKED, CaseStatus.CANCELLED})
_ENDED: Final = frozenset(
    {CaseStatus.PASSED, CaseStatus.FAILED, CaseStatus.ERROR, CaseStatus.SKIPPED, CaseStatus.BLOCKED}
)
_HEALTHY: Final = frozenset({TurnStatus.PASSED, TurnStatus.FAILED})


@dataclass(frozen=True, slots=True)
class ResumePolicy:
    """What may be done with an earlier report."""

    retry_failed: bool
    adapter_resumes: bool


def fresh_case(run_id: str, case: ExpandedCase) -> EvaluationCase:
    """Give a case as it is before anything happened to it."""
    return EvaluationCase(
        case.id,
        case.scenario.id,
        case.scenario.name,
        case.repetition,
        case.variants,
        f"{run_id}:{case.id}",
        CaseStatus.PENDING,
    )


# ----------------------------------------------------------------------------------------------------------------- fit


def check_fit(previous: EvaluationReport, fingerprint: str, cases: Sequence[ExpandedCase]) -> None:
    """Refuse a report of another definition, target or adapter, or one that contradicts itself."""
    if previous.fingerprint != fingerprint or len(previous.cases) != len(cases):
        raise EvaluationError(RESUME_INCOMPATIBLE)
    inputs = _InputDigests()
    for old, case in zip(previous.cases, cases, strict=True):
        # The ids of the matrix differ from each other, so a repeated id stands in a wrong place.
        if old.id != case.id or not _fits(old, case, inputs):
            raise EvaluationError(RESUME_INVALID)


def _fits(old: EvaluationCase, case: ExpandedCase, inputs: _InputDigests) -> bool:
    if len(old.turns) > len(case.steps):
        return False
    for turn, step in zip(old.turns, case.steps, strict=False):
        if turn.step_id != step.id or digest(turn.input) != inputs.of(step):
            return False
        if turn.status == TurnStatus.PASSED and not _is_sound(turn):
            return False
    return old.status != CaseStatus.PASSED or (
        len(old.turns) == len(case.steps)
        and all(turn.status == TurnStatus.PASSED for turn in old.turns)
        and verdict(old.assertions) == TurnStatus.PASSED
    )


def _is_sound(turn: EvaluationTurn) -> bool:
    return turn.observation is not None and verdict(turn.assertions) == TurnStatus.PASSED


class _InputDigests:
    """Digests of the inputs of steps, each computed once: repetitions share their steps."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[EvaluationStep, str]] = {}

    def of(self, step: EvaluationStep) -> str:
        known = self._known.get(id(step))
        if known is None:
            known = self._known[id(step)] = (step, digest(step.input))  # holding the step keeps its id unique
        return known[1]


# ----------------------------------------------------------------------------------------------------------- take over


def take_over(
    previous: EvaluationReport, cases: Sequence[ExpandedCase], run_id: str, policy: ResumePolicy
) -> Iterator[tuple[EvaluationCase, bool]]:
    """Give the first state of every case, and whether it is still to be worked on."""
    for old, case in zip(previous.cases, cases, strict=True):
        yield take_over_case(old, case, run_id, policy)


def take_over_case(
    old: EvaluationCase, case: ExpandedCase, run_id: str, policy: ResumePolicy
) -> tuple[EvaluationCase, bool]:
    """Give the first state of one case; ``old`` itself where it is kept untouched."""
    is_external = case.scenario.write_policy == WritePolicy.EXTERNAL
    if is_external and old.status in _INTERRUPTED:
        return _blocked(old, EXTERNAL_WRITE_RESUME)
    if policy.retry_failed and old.status in _RETRIED:
        if is_external and not _was_only_unauthorised(old):
            return _blocked(old, EXTERNAL_WRITE_RETRY)
        return fresh_case(run_id, case), True
    if old.status in _ENDED:
        return old, False
    if not old.turns:
        return fresh_case(run_id, case), True
    if not policy.adapter_resumes:
        return _blocked(old, TURN_RESUME_NOT_SUPPORTED)
    if old.turns[-1].checkpoint is None or any(turn.status not in _HEALTHY for turn in old.turns):
        return _blocked(old, TURN_RESUME_UNSAFE)
    return replace(old, status=CaseStatus.PENDING, error_code=None), True


def _blocked(old: EvaluationCase, code: str) -> tuple[EvaluationCase, bool]:
    return replace(old, status=CaseStatus.BLOCKED, error_code=code), False


def _was_only_unauthorised(old: EvaluationCase) -> bool:
    return old.status == CaseStatus.BLOCKED and old.error_code == EXTERNAL_WRITES_NOT_AUTHORIZED
