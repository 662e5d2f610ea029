"""What a run, or one part of it, has to do: everything that is asked for, checked before anything is opened."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from evalrunner.assertions import Evaluators
from evalrunner.cases import DEFAULT_MAX_CASES, expand_cases, run_fingerprint
from evalrunner.codes import RESUME_INCOMPATIBLE, RESUME_REQUIRED
from evalrunner.errors import EvaluationError
from evalrunner.events import EvaluationCheckpoint, EventType, RunEvent
from evalrunner.models import EvaluationCase, EvaluationSuite, EvaluationTarget, ExpandedCase
from evalrunner.reports import parse_evaluation_report
from evalrunner.runner.conclusion import now_text
from evalrunner.runner.journal import Journal, ReportHead
from evalrunner.runner.options import (
    MAX_FAILURES,
    Limits,
    check_adapter,
    check_callables,
    check_evaluators,
    check_limits,
    read_target,
)
from evalrunner.runner.resume import ResumePolicy, check_fit, fresh_case, take_over
from evalrunner.suites import parse_evaluation_suite


@dataclass(frozen=True, slots=True)
class RunnerOptions:
    """The options of ``run_evaluation`` that say what runs and how; unchecked, None stands for the default."""

    scenario_ids: Iterable[str] | None = None
    tags: Iterable[str] | None = None
    concurrency: int | None = 1
    repetitions: int | None = 1
    max_cases: int | None = DEFAULT_MAX_CASES
    max_failures: int | None = MAX_FAILURES
    timeout_ms: int | None = 120_000
    allow_external_writes: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything a run needs, checked.

    ``states`` are the cases as they stand before the run, and whether each is still to be worked on.
    """

    head: ReportHead
    cases: Sequence[ExpandedCase]
    states: Sequence[tuple[EvaluationCase, bool]]
    adapter: Any
    evaluators: Evaluators
    limits: Limits

    def open_places(self) -> Sequence[int]:
        """Return the places of the cases that are still to be worked on, in the order of the report."""
        return [place for place, (_, is_open) in enumerate(self.states) if is_open]

    def first_checkpoint(self) -> EvaluationCheckpoint:
        """Return what the first observer of the run would see: every case as it stands before ``run.started``."""
        journal = Journal(self.head, (case for case, _ in self.states))
        return journal.snapshot(RunEvent(1, EventType.RUN_STARTED, self.head.run_id))


@dataclass(frozen=True, slots=True)
class Part:
    """Some of the cases of a run that has begun, by their places in the report."""

    run_id: str
    cases: Mapping[int, ExpandedCase]
    states: Mapping[int, EvaluationCase]
    adapter: Any
    evaluators: Evaluators
    limits: Limits


def plan_evaluation(
    *,
    suite: EvaluationSuite | Mapping[str, object],
    target: EvaluationTarget | Mapping[str, object],
    adapter: Any,
    evaluators: Evaluators | None,
    options: RunnerOptions,
    resume: object = None,
    retry_failed: bool = False,
    observers: Sequence[Callable[..., Any] | None] = (),
) -> Plan:
    """Check everything and give the cases their first states. Raises EvaluationError as ``run_evaluation`` says."""
    basis = _check(suite, target, adapter, evaluators, options, observers)
    if retry_failed and resume is None:
        raise EvaluationError(RESUME_REQUIRED)
    cases = basis.expand(options)
    previous = None if resume is None else parse_evaluation_report(resume)
    fingerprint, run_id = basis.fingerprint(cases), str(uuid4())
    if previous is None:
        states = [(fresh_case(run_id, case), True) for case in cases]
    else:
        check_fit(previous, fingerprint, cases)
        policy = ResumePolicy(bool(retry_failed), getattr(adapter, "supports_resume", False) is True)
        states = list(take_over(previous, cases, run_id, policy))
    resumed_from = None if previous is None else previous.run_id
    head = ReportHead(run_id, basis.suite, fingerprint, basis.target, now_text(), resumed_from)
    return Plan(head, cases, states, adapter, basis.evaluators, basis.limits)


def plan_part(
    *,
    suite: EvaluationSuite | Mapping[str, object],
    target: EvaluationTarget | Mapping[str, object],
    adapter: Any,
    evaluators: Evaluators | None,
    options: RunnerOptions,
    run_id: str,
    fingerprint: str,
    places: Iterable[int],
    begun: Mapping[int, EvaluationCase],
) -> Part:
    """Plan the work on some cases of a run that has begun.

    ``run_id`` and ``fingerprint`` are those of its report, ``places`` those of the cases, which are pending. ``begun``
    holds the state of those of them that have turns already. Raises EvaluationError as ``plan_evaluation`` does, and
    EVALUATION_RESUME_INCOMPATIBLE where suite, options, target or adapter are not those that the run began with.
    """
    basis = _check(suite, target, adapter, evaluators, options, ())
    cases = basis.expand(options)
    if basis.fingerprint(cases) != fingerprint:
        raise EvaluationError(RESUME_INCOMPATIBLE)
    chosen = {place: cases[place] for place in places}
    states = {place: begun.get(place) or fresh_case(run_id, case) for place, case in chosen.items()}
    return Part(run_id, chosen, states, adapter, basis.evaluators, basis.limits)


@dataclass(frozen=True, slots=True)
class _Basis:
    """What a run and its parts have in common."""

    suite: EvaluationSuite
    target: EvaluationTarget
    adapter: Any
    evaluators: Evaluators
    limits: Limits

    def expand(self, options: RunnerOptions) -> Sequence[ExpandedCase]:
        cases = expand_cases(
            self.suite,
            scenario_ids=options.scenario_ids,
            tags=options.tags,
            repetitions=options.repetitions,
            max_cases=options.max_cases,
        )
        check_evaluators(self.suite, cases, self.evaluators)
        return cases

    def fingerprint(self, cases: Iterable[ExpandedCase]) -> str:
        ids = [case.id for case in cases]
        return run_fingerprint(self.suite, ids, self.target.to_data(), self.adapter.id, self.adapter.version)


def _check(
    suite: object,
    target: object,
    adapter: Any,
    evaluators: Evaluators | None,
    options: RunnerOptions,
    observers: Sequence[object],
) -> _Basis:
    definition = parse_evaluation_suite(suite)
    limits = check_limits(options.concurrency, options.timeout_ms, options.max_failures, options.allow_external_writes)
    version = read_target(target)
    check_adapter(adapter)
    known = {} if evaluators is None else evaluators
    check_callables(known, *observers)
    return _Basis(definition, version, adapter, known, limits)


def deal(places: Sequence[int], parts: int) -> Iterator[Sequence[int]]:
    """Deal places out in turn to at most ``parts`` parts, none of them empty: neighbours often take equally long."""
    count = min(parts, len(places))
    return (places[number::count] for number in range(count))
