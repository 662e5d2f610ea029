"""What a run is asked to do, checked before anything is opened or published."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from evalrunner.assertions import Evaluators
from evalrunner.cases import whole_option
from evalrunner.codes import EVALUATOR_NOT_FOUND
from evalrunner.data import FrozenDict, freeze_object, thaw
from evalrunner.errors import OPTIONS_INVALID, EvaluationError
from evalrunner.models import (
    AllAssertion,
    AnyAssertion,
    Assertion,
    CustomAssertion,
    EvaluationScenario,
    EvaluationSuite,
    EvaluationTarget,
    ExpandedCase,
    NotAssertion,
)

MAX_CONCURRENCY: Final = 32
MAX_TIMEOUT_MS: Final = 3_600_000
MAX_FAILURES: Final = 100_000


@dataclass(frozen=True, slots=True)
class Limits:
    """How a run proceeds; nothing of it is part of the fingerprint."""

    concurrency: int
    timeout_ms: int
    max_failures: int
    allow_external_writes: bool


def check_limits(concurrency: object, timeout_ms: object, max_failures: object, allow_external_writes: bool) -> Limits:
    """Check the numbers (EVALUATION_OPTIONS_INVALID); None stands for the default."""
    return Limits(
        whole_option(concurrency, 1, MAX_CONCURRENCY),
        whole_option(timeout_ms, 120_000, MAX_TIMEOUT_MS),
        whole_option(max_failures, MAX_FAILURES, MAX_FAILURES),
        bool(allow_external_writes),
    )


def read_target(target: object) -> EvaluationTarget:
    """Read what is to be evaluated: ``id`` and ``fingerprint``, non-empty texts; further members are kept."""
    if isinstance(target, EvaluationTarget):
        target = target.to_data()
    if not isinstance(target, Mapping):
        raise EvaluationError(OPTIONS_INVALID)
    try:
        members = thaw(freeze_object(target))
    except EvaluationError:
        raise EvaluationError(OPTIONS_INVALID) from None
    id, fingerprint = members.pop("id", None), members.pop("fingerprint", None)
    if not (is_name(id) and is_name(fingerprint)):
        raise EvaluationError(OPTIONS_INVALID)
    return EvaluationTarget(id, fingerprint, FrozenDict(members) if members else None)


def is_name(value: object) -> bool:
    return isinstance(value, str) and value != ""


def check_adapter(adapter: Any) -> None:
    """Refuse an adapter without id, version or a way to open sessions."""
    has_names = is_name(getattr(adapter, "id", None)) and is_name(getattr(adapter, "version", None))
    if not has_names or not callable(getattr(adapter, "open", None)):
        raise EvaluationError(OPTIONS_INVALID)


def check_callables(evaluators: object, *observers: object) -> None:
    """Refuse a registry that is no mapping, and observers that cannot be called."""
    if not isinstance(evaluators, Mapping):
        raise EvaluationError(OPTIONS_INVALID)
    if not all(observer is None or callable(observer) for observer in observers):
        raise EvaluationError(OPTIONS_INVALID)


def check_evaluators(suite: EvaluationSuite, cases: Iterable[ExpandedCase], evaluators: Evaluators) -> None:
    """Refuse the first evaluator that is asked for but not supplied; scenarios not selected are not looked at."""
    selected = {case.scenario.id: case.scenario for case in cases}
    for _, name in missing_evaluators(suite, selected.values(), evaluators):
        raise EvaluationError(EVALUATOR_NOT_FOUND, [name])


def missing_evaluators(
    suite: EvaluationSuite, selected: Iterable[EvaluationScenario], known: Container[str]
) -> Iterator[tuple[str, str]]:
    """Give the place in the suite and the id of each evaluator that is asked for but not known.

    The suite's own assertions come first, then those of the scenarios selected. Places are paths in its JSON.
    """
    yield from _missing(suite.assertions, "assertions", known)
    places = {scenario.id: place for place, scenario in enumerate(suite.scenarios)}
    for scenario in selected:
        where = f"scenarios.{places[scenario.id]}"
        yield from _missing(scenario.assertions, f"{where}.assertions", known)
        for number, step in enumerate(scenario.steps):
            yield from _missing(step.assertions, f"{where}.steps.{number}.assertions", known)


def _missing(assertions: Iterable[Assertion] | None, where: str, known: Container[str]) -> Iterator[tuple[str, str]]:
    for place, assertion in enumerate(assertions or ()):
        yield from _missing_in(assertion, f"{where}.{place}", known)


def _missing_in(assertion: Assertion, where: str, known: Container[str]) -> Iterator[tuple[str, str]]:
    match assertion:
        case CustomAssertion() if assertion.evaluator not in known:
            yield f"{where}.evaluator", assertion.evaluator
        case AllAssertion() | AnyAssertion():
            yield from _missing(assertion.assertions, f"{where}.assertions", known)
        case NotAssertion():
            yield from _missing_in(assertion.assertion, f"{where}.assertion", known)
        case _:
            pass
