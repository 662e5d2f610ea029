"""Cases: the conversations that a suite makes, their ids, and the fingerprint of compatible runs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from itertools import product
from math import prod
from typing import Final

from evalrunner.canonical import canonical_text, digest
from evalrunner.data import FrozenDict, whole_number
from evalrunner.errors import CASE_LIMIT, OPTIONS_INVALID, SCENARIO_NOT_FOUND, SELECTION_EMPTY, EvaluationError
from evalrunner.models import EvaluationScenario, EvaluationStep, EvaluationSuite, EvaluationVariant, ExpandedCase
from evalrunner.suites import parse_evaluation_suite

MAX_REPETITIONS: Final = 100
MAX_MAX_CASES: Final = 100_000
DEFAULT_MAX_CASES: Final = 1_000


def expand_cases(
    suite: object,
    *,
    scenario_ids: Iterable[str] | None = None,
    tags: Iterable[str] | None = None,
    repetitions: int | None = 1,
    max_cases: int | None = DEFAULT_MAX_CASES,
) -> tuple[ExpandedCase, ...]:
    """Give the cases of a suite (model or plain value) in order: scenarios as the suite lists them, their variants
    multiplied with earlier steps varying slowest, repetitions innermost.

    A scenario is kept if ``scenario_ids``, when given, names it and, when ``tags`` are given, it has any of them.
    Raises EvaluationError: as ``parse_evaluation_suite``; EVALUATION_OPTIONS_INVALID unless ``repetitions`` is a whole
    number from 1 to 100 and ``max_cases`` one from 1 to 100,000 (None means the default);
    EVALUATION_SCENARIO_NOT_FOUND; EVALUATION_SELECTION_EMPTY; EVALUATION_CASE_LIMIT when there are more than
    ``max_cases``, which is found before any case is made.
    """
    parsed = parse_evaluation_suite(suite)
    count = whole_option(repetitions, 1, MAX_REPETITIONS)
    limit = whole_option(max_cases, DEFAULT_MAX_CASES, MAX_MAX_CASES)
    scenarios = select_scenarios(parsed, scenario_ids, tags)
    if sum(map(_count_variants, scenarios)) * count > limit:
        raise EvaluationError(CASE_LIMIT)
    return tuple([case for scenario in scenarios for case in _expand_scenario(scenario, count)])


def whole_option(value: object, default: int, maximum: int) -> int:
    """Read an option that is a whole number from 1 to a maximum, or None for its default."""
    if value is None:
        return default
    number = whole_number(value)
    if number is None or not 1 <= number <= maximum:
        raise EvaluationError(OPTIONS_INVALID)
    return number


# ----------------------------------------------------------------------------------------------------------- selection


def select_scenarios(
    suite: EvaluationSuite, scenario_ids: Iterable[str] | None, tags: Iterable[str] | None
) -> tuple[EvaluationScenario, ...]:
    """Give the selected scenarios in the order of the suite; never none (EVALUATION_SELECTION_EMPTY)."""
    wanted_ids, wanted_tags = _names(scenario_ids), _names(tags)
    if wanted_ids is not None and not wanted_ids <= {scenario.id for scenario in suite.scenarios}:
        raise EvaluationError(SCENARIO_NOT_FOUND)
    scenarios = tuple([scenario for scenario in suite.scenarios if _is_selected(scenario, wanted_ids, wanted_tags)])
    if not scenarios:
        raise EvaluationError(SELECTION_EMPTY)
    return scenarios


def _names(names: Iterable[str] | None) -> set[str] | None:
    if names is None:
        return None
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise EvaluationError(OPTIONS_INVALID)
    given = list(names)
    if not all(isinstance(name, str) for name in given):
        raise EvaluationError(OPTIONS_INVALID)
    return set(given)


def _is_selected(scenario: EvaluationScenario, ids: Collection[str] | None, tags: set[str] | None) -> bool:
    return (ids is None or scenario.id in ids) and (tags is None or not tags.isdisjoint(scenario.tags or ()))


# -------------------------------------------------------------------------------------------------------------- matrix


def _count_variants(scenario: EvaluationScenario) -> int:
    return prod(len(step.variants) for step in scenario.steps if step.variants)


def _expand_scenario(scenario: EvaluationScenario, repetitions: int) -> Iterator[ExpandedCase]:
    for chosen in product(*(step.variants or (None,) for step in scenario.steps)):
        steps = tuple(map(_with_variant, scenario.steps, chosen))
        variants = FrozenDict(
            {step.id: variant.id for step, variant in zip(steps, chosen, strict=True) if variant is not None}
        )
        ids = _case_ids(scenario.id, variants, repetitions)
        for repetition, id in enumerate(ids):
            yield ExpandedCase(id, scenario, variants, repetition, steps)


def _with_variant(step: EvaluationStep, variant: EvaluationVariant | None) -> EvaluationStep:
    return step if variant is None else replace(step, input=variant.input, variants=None)


# ----------------------------------------------------------------------------------------------------------------- ids


def case_id(scenario_id: str, variants: Mapping[str, str], repetition: int) -> str:
    """Give the id of a case, a digest of what identifies it; names, inputs and tags do not matter."""
    return digest({"scenarioId": scenario_id, "variants": variants, "repetition": repetition})


def _case_ids(scenario_id: str, variants: Mapping[str, str], repetitions: int) -> Iterator[str]:
    """Give the ids of all repetitions; the canonical text is written once, since only its first member differs."""
    rest = canonical_text({"scenarioId": scenario_id, "variants": variants}).removeprefix("{")
    for repetition in range(repetitions):
        yield sha256(f'{{"repetition":{repetition},{rest}'.encode()).hexdigest()


def turn_id(thread_id: str, step_id: str) -> str:
    """Give the id of a turn."""
    return "eval." + digest({"threadId": thread_id, "stepId": step_id})


def run_fingerprint(
    suite: EvaluationSuite, case_ids: Sequence[str], target: Mapping[str, object], adapter_id: str, adapter_version: str
) -> str:
    """Give the digest that two runs must share for one to continue the other; ``target`` is taken as it was given."""
    adapter = {"id": adapter_id, "version": adapter_version}
    return digest({"suite": suite.to_data(), "cases": case_ids, "target": target, "adapter": adapter})
