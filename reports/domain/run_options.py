"""What a run is asked to do, how many cases and turns that makes, and what speaks against it.

The runner's own functions check everything; a refusal keeps their code and names the option it belongs to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Self

from evalrunner.cases import DEFAULT_MAX_CASES, MAX_MAX_CASES, MAX_REPETITIONS, expand_cases, whole_option
from evalrunner.codes import EXTERNAL_WRITES_NOT_AUTHORIZED
from evalrunner.errors import CASE_LIMIT, OPTIONS_INVALID, SCENARIO_NOT_FOUND, SELECTION_EMPTY, EvaluationError
from evalrunner.models import EvaluationSuite, ExpandedCase, WritePolicy
from evalrunner.runner.options import MAX_CONCURRENCY, MAX_FAILURES, MAX_TIMEOUT_MS
from evalrunner.runner.parts import RunnerOptions

from reports.domain.harness.options import USUAL, HarnessOptions
from reports.text import restored, storable

TARGET_LIMIT = "TARGET_LIMIT_EXCEEDED"
MAX_SHARDS = 64
DEFAULT_TIMEOUT_MS = 120_000


@dataclass(frozen=True)
class RunOptions:
    """The options of the runner, and those of the site. ``None`` for scenarios or tags means all of them.

    ``shards``: over how many workers the cases are spread, ``concurrency`` at once in each. ``harness`` means something
    for scenario files alone.
    """

    scenario_ids: tuple[str, ...] | None = None
    tags: tuple[str, ...] | None = None
    repetitions: int = 1
    concurrency: int = 1
    shards: int = 1
    max_cases: int = DEFAULT_MAX_CASES
    max_failures: int = MAX_FAILURES
    timeout_ms: int = DEFAULT_TIMEOUT_MS
    allow_external_writes: bool = False
    early_alarm: bool = True
    harness: HarnessOptions = USUAL

    @property
    def of_runner(self) -> RunnerOptions:
        """What of this the runner itself knows, whether it has the whole run or a shard of it."""
        return RunnerOptions(**{each.name: getattr(self, each.name) for each in fields(RunnerOptions)})

    @property
    def lanes(self) -> int:
        """Return how many conversations go on at once in all shards together."""
        return self.concurrency * self.shards

    def to_data(self) -> dict[str, Any]:
        """Return a JSON value that ``from_data`` reads and any database can hold."""
        data = {name: _stored(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}
        del data["harness"]
        return data | ({"harness": self.harness.to_data()} if self.harness != USUAL else {})

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Self:
        """Read what ``to_data`` gave; members that this version does not know are left out."""
        known = {field.name for field in fields(cls)}
        members: dict[str, Any] = {name: value for name, value in data.items() if name in known}
        lists = {name: tuple(map(restored, value)) for name, value in members.items() if isinstance(value, list)}
        harness = {"harness": HarnessOptions.from_data(members["harness"])} if "harness" in members else {}
        return cls(**members | lists | harness)


def _stored(texts: Iterable[str]) -> list[str]:
    return [storable(text) for text in texts]


@dataclass(frozen=True)
class Refusal:
    """Why a run cannot start: the option at fault, a stable code, a sentence, and the places the code concerns."""

    field: str
    code: str
    sentence: str
    paths: tuple[str, ...] = ()


class RequestRefused(Exception):
    """A run cannot start as asked; ``refusals`` holds at least one reason."""

    def __init__(self, refusals: Iterable[Refusal]) -> None:
        self.refusals = tuple(refusals)
        super().__init__("; ".join(refusal.sentence for refusal in self.refusals))


@dataclass(frozen=True)
class OptionLimits:
    """The most that a target allows of each option. ``lanes``: conversations at once in all shards together."""

    repetitions: int = MAX_REPETITIONS
    concurrency: int = MAX_CONCURRENCY
    shards: int = MAX_SHARDS
    lanes: int = MAX_CONCURRENCY * MAX_SHARDS
    max_cases: int = MAX_MAX_CASES
    timeout_ms: int = MAX_TIMEOUT_MS


@dataclass(frozen=True)
class RunPlan:
    """What will run.

    ``scenario_ids`` in order; ``variant_count`` counts scenario variants; ``external`` names the scenarios that write
    outside, ``skipped`` those that only leave a reason. Turns are counted as if every conversation went to its end.
    """

    case_count: int
    turn_count: int
    scenario_ids: tuple[str, ...]
    variant_count: int
    repetitions: int
    external: tuple[str, ...]
    skipped: tuple[str, ...]

    @property
    def scenario_count(self) -> int:
        return len(self.scenario_ids)

    @property
    def words(self) -> str:
        """Say how many cases and turns there are, and how they come about."""
        variants = f" in {self.variant_count:,} variants" if self.variant_count != self.scenario_count else ""
        factors = f"{_counted(self.scenario_count, 'scenario')}{variants} × {_counted(self.repetitions, 'repetition')}"
        return f"{factors} = {_counted(self.case_count, 'case')}, {_counted(self.turn_count, 'turn')}"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


NUMBERS: Mapping[str, int] = {
    "repetitions": MAX_REPETITIONS,
    "concurrency": MAX_CONCURRENCY,
    "shards": MAX_SHARDS,
    "max_cases": MAX_MAX_CASES,
    "max_failures": MAX_FAILURES,
    "timeout_ms": MAX_TIMEOUT_MS,
}


def check_options(options: RunOptions, limits: OptionLimits, *, allows_external_writes: bool) -> list[Refusal]:
    """Return what speaks against the options alone, whatever the suite is."""
    refusals = [refusal for name, most in NUMBERS.items() for refusal in _check_number(options, limits, name, most)]
    if not {"concurrency", "shards"} & {refusal.field for refusal in refusals} and options.lanes > limits.lanes:
        refusals.append(Refusal("shards", TARGET_LIMIT, _lanes_words(options, limits)))
    if options.allow_external_writes and not allows_external_writes:
        sentence = "External writes are not allowed here: neither for this target nor by your role they may be."
        refusals.append(Refusal("allow_external_writes", EXTERNAL_WRITES_NOT_AUTHORIZED, sentence))
    return refusals


def _lanes_words(options: RunOptions, limits: OptionLimits) -> str:
    return (
        f"This target takes at most {limits.lanes:,} conversations at once; {options.shards:,} shards with a "
        f"concurrency of {options.concurrency:,} each make {options.lanes:,}."
    )


def _check_number(options: RunOptions, limits: OptionLimits, name: str, most: int) -> list[Refusal]:
    value = getattr(options, name)
    if not _is_in_range(value, most):
        return [Refusal(name, OPTIONS_INVALID, _range_words(most))]
    allowed = getattr(limits, name, most)
    if value > allowed:
        return [Refusal(name, TARGET_LIMIT, f"This target takes at most {allowed:,}.")]
    return []


def _is_in_range(value: object, most: int) -> bool:
    try:
        whole_option(value, 1, most)
    except EvaluationError:
        return False
    return True


def _range_words(most: int) -> str:
    return f"Give a whole number from 1 to {most:,}."


def plan_run(suite: EvaluationSuite, options: RunOptions) -> RunPlan:
    """Return what the options make of a suite. Raises RequestRefused with the runner's code."""
    try:
        cases = expand_cases(
            suite,
            scenario_ids=options.scenario_ids,
            tags=options.tags,
            repetitions=options.repetitions,
            max_cases=options.max_cases,
        )
    except EvaluationError as error:
        raise RequestRefused([_refusal_of(error, options)]) from error
    return _plan_of(without_tags(cases, options.harness.exclude_tags), options.repetitions)


def without_tags(cases: Sequence[ExpandedCase], excluded: Sequence[str]) -> Sequence[ExpandedCase]:
    """Leave out the cases of scenarios that carry one of these tags. RequestRefused when none is left."""
    left = [case for case in cases if not set(excluded).intersection(case.scenario.tags or ())]
    if not left:
        sentence = "No scenario is left: all chosen ones carry a tag that is left out."
        raise RequestRefused([Refusal("exclude_tags", SELECTION_EMPTY, sentence)])
    return left


def _plan_of(cases: Sequence[ExpandedCase], repetitions: int) -> RunPlan:
    scenarios = {case.scenario.id: case.scenario for case in cases}
    external = (scenario.id for scenario in scenarios.values() if scenario.write_policy == WritePolicy.EXTERNAL)
    skipped = (scenario.id for scenario in scenarios.values() if scenario.skip_reason is not None)
    return RunPlan(
        case_count=len(cases),
        turn_count=sum(len(case.steps) for case in cases if case.scenario.skip_reason is None),
        scenario_ids=tuple(scenarios),
        variant_count=len(cases) // repetitions,
        repetitions=repetitions,
        external=tuple(external),
        skipped=tuple(skipped),
    )


def _refusal_of(error: EvaluationError, options: RunOptions) -> Refusal:
    find = _PLACES.get(error.code)
    field, sentence = find(options) if find is not None else ("", f"The runner refuses this: {error}.")
    return Refusal(field, error.code, sentence, error.paths)


def _number_at_fault(options: RunOptions) -> tuple[str, str]:
    """Say which of the two numbers that make cases is out of range: the runner looks at the repetitions first."""
    field = "max_cases" if _is_in_range(options.repetitions, MAX_REPETITIONS) else "repetitions"
    return field, _range_words(NUMBERS[field])


def _empty_choice(options: RunOptions) -> tuple[str, str]:
    """Say which choice leaves no scenario."""
    for field, chosen in (("scenarios", options.scenario_ids), ("tags", options.tags)):
        if chosen is not None and not chosen:
            return field, "No scenario is left: this list is empty. Leave it out for all of them."
    if options.scenario_ids is None:
        return "tags", "No scenario is left: none has a chosen tag."
    return "scenarios", "No scenario is left: none of the chosen ones has a chosen tag."


_PLACES: Mapping[str, Callable[[RunOptions], tuple[str, str]]] = {
    CASE_LIMIT: lambda options: ("max_cases", f"This makes more than {options.max_cases:,} cases."),
    SCENARIO_NOT_FOUND: lambda options: ("scenarios", "The suite has no scenario with one of these ids."),
    SELECTION_EMPTY: _empty_choice,
    OPTIONS_INVALID: _number_at_fault,
}
