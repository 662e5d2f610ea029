"""Evaluation of assertion expressions.

An error is neither a pass nor a failure: it stays an error through ``any`` and ``not``. Every child of a composite is
evaluated, so that a report always shows the whole expression.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evalrunner.assertion_rules import parse_assertions
from evalrunner.assertions.context import EvaluationContext, Evaluators, detach_context
from evalrunner.assertions.operators import TESTS
from evalrunner.assertions.paths import ABSENT, look_up
from evalrunner.codes import CANCELLED, EVALUATOR_FAILED, EVALUATOR_NOT_FOUND, EVALUATOR_RESULT_INVALID
from evalrunner.data import FrozenDict, Json, freeze_object
from evalrunner.models import (
    Actual,
    AllAssertion,
    AnyAssertion,
    Assertion,
    AssertionResult,
    CheckAssertion,
    CustomAssertion,
    NotAssertion,
    TurnStatus,
)

_ABSENT = Actual(present=False)


async def evaluate_assertions(
    assertions: Sequence[Assertion] | Sequence[Json],
    context: EvaluationContext | Mapping[str, Any],
    evaluators: Evaluators | None = None,
) -> tuple[AssertionResult, ...]:
    """Evaluate assertions against evidence; one result each, in order.

    Raises EvaluationError for assertions or an observation that are not valid; whatever happens while an assertion is
    evaluated is told by its result. Ids need not be unique.
    """
    parsed = parse_assertions(assertions)
    return await evaluate_all(parsed, detach_context(context), evaluators or {})


async def evaluate_all(
    assertions: Iterable[Assertion], context: EvaluationContext, evaluators: Evaluators
) -> tuple[AssertionResult, ...]:
    """Evaluate valid assertions against immutable evidence."""
    signal = context.signal
    results = []
    for assertion in assertions:
        if signal is not None and signal.is_set():
            result = _error(assertion, CANCELLED)
        elif assertion.__class__ is CheckAssertion:
            result = _check(assertion, context)
        else:
            result = await _evaluate(assertion, context, evaluators)
        results.append(result)
    return tuple(results)


def verdict(results: Iterable[AssertionResult]) -> TurnStatus:
    """Sum up results: an error beats a failure; no results at all pass."""
    status = TurnStatus.PASSED
    for result in results:
        if result.error_code is not None:
            return TurnStatus.ERROR
        if not result.passed:
            status = TurnStatus.FAILED
    return status


async def _evaluate(assertion: Assertion, context: EvaluationContext, evaluators: Evaluators) -> AssertionResult:
    match assertion:
        case CheckAssertion():
            return _check(assertion, context)
        case CustomAssertion():
            return await _ask(assertion, context, evaluators)
        case NotAssertion():
            children = await evaluate_all((assertion.assertion,), context, evaluators)
            return _composite(assertion, children, not children[0].passed)
        case AllAssertion():
            children = await evaluate_all(assertion.assertions, context, evaluators)
            return _composite(assertion, children, all(child.passed for child in children))
        case AnyAssertion():
            children = await evaluate_all(assertion.assertions, context, evaluators)
            return _composite(assertion, children, any(child.passed for child in children))


def _check(assertion: CheckAssertion, context: EvaluationContext) -> AssertionResult:
    actual: Any = look_up(context.observation, assertion.path)
    passed = TESTS[assertion.operator](actual, assertion.value)
    found = _ABSENT if actual is ABSENT else Actual(True, actual, True)
    return AssertionResult(assertion.id, passed, assertion.label, found, assertion.value, assertion.has_value)


def _composite(assertion: Assertion, children: tuple[AssertionResult, ...], passed: bool) -> AssertionResult:
    code = next((child.error_code for child in children if child.error_code is not None), None)
    return AssertionResult(assertion.id, passed and code is None, assertion.label, error_code=code, children=children)


async def _ask(assertion: CustomAssertion, context: EvaluationContext, evaluators: Evaluators) -> AssertionResult:
    if assertion.evaluator not in evaluators:
        return _error(assertion, EVALUATOR_NOT_FOUND)
    try:
        answer = evaluators[assertion.evaluator](context, assertion.parameters)
        if inspect.isawaitable(answer):
            answer = await answer
        return _judged(assertion, answer)
    except Exception:  # isolation point: an evaluator is foreign code, and its message must not reach a report
        return _error(assertion, EVALUATOR_FAILED)
    except asyncio.CancelledError:
        if _is_being_cancelled():
            raise
        return _error(assertion, EVALUATOR_FAILED)  # something inside the evaluator was cancelled, not this work


def _judged(assertion: CustomAssertion, answer: object) -> AssertionResult:
    if answer is None:
        return _error(assertion, EVALUATOR_FAILED)
    passed = answer.get("passed") if isinstance(answer, Mapping) else None
    if not isinstance(answer, Mapping) or not isinstance(passed, bool):
        return _error(assertion, EVALUATOR_RESULT_INVALID)
    expected: Json = FrozenDict({"evaluator": assertion.evaluator, "parameters": assertion.parameters})
    evidence = freeze_object(answer["evidence"]) if "evidence" in answer else None
    return AssertionResult(
        assertion.id, passed, assertion.label, expected=expected, has_expected=True, evidence=evidence
    )


def _is_being_cancelled() -> bool:
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0


def _error(assertion: Assertion, code: str) -> AssertionResult:
    return AssertionResult(assertion.id, False, assertion.label, error_code=code)
