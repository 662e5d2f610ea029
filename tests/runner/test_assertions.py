"""Assertions: the recorded vectors, and rules that hold for any value."""

import asyncio
from typing import Any

import pytest
from evalrunner import EvaluationContext, EvaluationError, evaluate_assertions
from evalrunner.assertions import verdict
from evalrunner.assertions.operators import matches
from evalrunner.assertions.paths import ABSENT, look_up
from evalrunner.data import deep_equal, freeze
from evalrunner.models import AssertionResult, TurnStatus
from hypothesis import given
from hypothesis import strategies as st

from tests.runner.replay import read_corpus, read_member, same_json
from tests.runner.scripts import SECRET, GuestError, make_evaluator

scalars = st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False, allow_infinity=False)
texts = st.text(max_size=6) | st.text("ab\ud83d\ude00😀", max_size=4)
json_values = st.recursive(
    scalars | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("ab_01", max_size=3), inner, max_size=4),
    max_leaves=12,
)


def evaluate(
    assertion: dict[str, Any], observation: Any, evaluators: dict[str, Any] | None = None, **context: Any
) -> dict[str, Any]:
    evidence = EvaluationContext(observation, **context)
    [result] = asyncio.run(evaluate_assertions([assertion], evidence, evaluators))
    return result.to_data()


def check(operator: str, *value: Any, path: tuple[str | int, ...] = ("v",)) -> dict[str, Any]:
    assertion: dict[str, Any] = {"id": "x", "kind": "check", "path": list(path), "operator": operator}
    return assertion | ({"value": value[0]} if value else {})


# ------------------------------------------------------------------------------------------------------------- vectors


@pytest.mark.parametrize("vector", read_corpus("assertions.json"), ids=lambda vector: vector["name"])
def test_an_assertion_has_the_recorded_result(vector: dict[str, Any]) -> None:
    async def answer() -> Any:
        signal = asyncio.Event()
        if vector.get("aborted"):
            signal.set()
        behaviours = (vector.get("evaluators") or {}).items()
        evaluators = {
            name: make_evaluator(spec, is_async=number % 2 == 1) for number, (name, spec) in enumerate(behaviours)
        }
        observation = read_member(vector, "observation")
        context = EvaluationContext(observation, tuple(vector.get("history", ())), signal=signal)
        return await evaluate_assertions([read_member(vector, "assertion")], context, evaluators)

    if "code" in vector:
        with pytest.raises(EvaluationError) as refused:
            asyncio.run(answer())
        assert refused.value.code == vector["code"]
    else:
        [result] = asyncio.run(answer())
        assert same_json(vector["result"], result.to_data())
        assert SECRET not in repr(result)


# --------------------------------------------------------------------------------------------------------------- paths


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ((), {"items": ["a", {"length": 7}], "0": "zero", "null": None}),
        (("items", 0), "a"),
        (("items", "1", "length"), 7),
        (("items", "length"), 2),
        ((0,), "zero"),
        (("null",), None),
        (("items", "01"), ABSENT),
        (("items", "-1"), ABSENT),
        (("items", "1.0"), ABSENT),
        (("items", "+1"), ABSENT),
        (("items", "١"), ABSENT),  # an Arabic digit one
        (("items", "²"), ABSENT),
        (("items", "9" * 5_000), ABSENT),
        (("items", 2**53 - 1), ABSENT),
        (("items", 0, "length"), ABSENT),
        (("items", "append"), ABSENT),
        (("keys",), ABSENT),
        (("null", "x"), ABSENT),
    ],
    ids=str,
)
def test_a_path_leads_to_members_items_and_lengths_only(path: tuple[str | int, ...], found: object) -> None:
    observation = freeze({"items": ["a", {"length": 7}], "0": "zero", "null": None})

    assert look_up(observation, path) == found


# ----------------------------------------------------------------------------------------------------------- operators


@given(json_values)
def test_any_value_equals_and_matches_itself(value: Any) -> None:
    for operator in ("equals", "matches"):
        assert evaluate(check(operator, value), {"v": value})["passed"]
    assert evaluate(check("contains", value), {"v": [0, value]})["passed"]


@given(json_values, json_values)
def test_equality_is_symmetric_and_implies_a_match(left: Any, right: Any) -> None:
    first, second = freeze(left), freeze(right)

    assert deep_equal(first, second) == deep_equal(second, first)
    if deep_equal(first, second):
        assert matches(first, second)
        assert matches(second, first)


@given(st.dictionaries(st.text(max_size=3), json_values, max_size=4), st.text(max_size=3), json_values)
def test_further_members_do_not_spoil_a_match(expected: dict[str, Any], name: str, value: Any) -> None:
    actual = {name: value} | expected

    assert matches(freeze(actual), freeze(expected))


@given(json_values)
def test_exists_and_absent_are_opposites(value: Any) -> None:
    for observation in ({"v": value}, {"w": value}):
        found = evaluate(check("exists"), observation)["passed"]
        assert found != evaluate(check("absent"), observation)["passed"]
        assert found == ("v" in observation)


@given(st.text("a😀\ud83d\ude00", max_size=6), st.text("a😀\ud83d\ude00", max_size=2))
def test_text_is_searched_and_measured_in_utf_16(text: str, part: str) -> None:
    units, wanted = (value.encode("utf-16-be", "surrogatepass") for value in (text, part))
    places = range(0, len(units) - len(wanted) + 1, 2)

    assert evaluate(check("contains", part), {"v": text})["passed"] == any(
        units[place : place + len(wanted)] == wanted for place in places
    )
    assert evaluate(check("length", len(units) // 2), {"v": text})["passed"]


@given(st.integers(-(2**70), 2**70), st.integers(-(2**70), 2**70))
def test_numbers_are_compared_as_doubles(left: int, right: int) -> None:
    assert evaluate(check("gte", right), {"v": left})["passed"] == (float(left) >= float(right))
    assert evaluate(check("lte", right), {"v": left})["passed"] == (float(left) <= float(right))
    assert evaluate(check("equals", right), {"v": left})["passed"] == (float(left) == float(right))


# ---------------------------------------------------------------------------------------- composites and their verdict

leaves = st.sampled_from(
    [
        check("exists", path=("here",)),
        check("exists", path=("gone",)),
        {"id": "c", "kind": "custom", "evaluator": "boom", "parameters": {}},
    ]
)
expressions = st.recursive(
    leaves,
    lambda inner: (
        st.builds(
            lambda kind, of: {"id": "n", "kind": kind, "assertions": of},
            st.sampled_from(["all", "any"]),
            st.lists(inner, min_size=1, max_size=3),
        )
        | st.builds(lambda of: {"id": "n", "kind": "not", "assertion": of}, inner)
    ),
    max_leaves=8,
)


def boom(context: EvaluationContext, parameters: Any) -> Any:
    raise GuestError(SECRET)


def expected_outcome(expression: dict[str, Any]) -> bool | None:
    """Give what three-valued logic says, None being an error that nothing hides."""
    match expression["kind"]:
        case "check":
            return bool(expression["path"] == ["here"])
        case "custom":
            return None
        case "not":
            inner = expected_outcome(expression["assertion"])
            return None if inner is None else not inner
        case kind:
            inners = [expected_outcome(child) for child in expression["assertions"]]
            passed = all(inners) if kind == "all" else any(inners)
            return None if None in inners else passed


@given(expressions)
def test_an_error_anywhere_is_an_error_of_the_whole_and_never_a_pass(expression: dict[str, Any]) -> None:
    result = evaluate(expression, {"here": 1}, {"boom": boom})

    outcome = expected_outcome(expression)
    assert result["passed"] == (outcome is True)
    assert result.get("errorCode") == ("EVALUATOR_FAILED" if outcome is None else None)


@given(expressions)
def test_a_result_shows_the_whole_expression(expression: dict[str, Any]) -> None:
    def shape(node: dict[str, Any]) -> Any:
        children = node.get("assertions") or ([node["assertion"]] if "assertion" in node else [])
        return [shape(child) for child in children]

    def shown(result: dict[str, Any]) -> Any:
        return [shown(child) for child in result.get("children", ())]

    assert shown(evaluate(expression, {"here": 1}, {"boom": boom})) == shape(expression)


@pytest.mark.parametrize(
    ("results", "status"),
    [
        ((), TurnStatus.PASSED),
        ((AssertionResult("a", True),), TurnStatus.PASSED),
        ((AssertionResult("a", True), AssertionResult("b", False)), TurnStatus.FAILED),
        ((AssertionResult("a", False), AssertionResult("b", False, error_code="X")), TurnStatus.ERROR),
    ],
)
def test_the_verdict_of_results(results: tuple[AssertionResult, ...], status: TurnStatus) -> None:
    assert verdict(results) is status


# ---------------------------------------------------------------------------------------------------------- evaluators

ASK: dict[str, Any] = {"id": "x", "kind": "custom", "evaluator": "judge", "parameters": {"limits": [1]}}


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (None, "EVALUATOR_FAILED"),
        (True, "EVALUATOR_RESULT_INVALID"),
        ({"passed": 1}, "EVALUATOR_RESULT_INVALID"),
        ({}, "EVALUATOR_RESULT_INVALID"),
        ({"passed": True, "evidence": None}, "EVALUATOR_FAILED"),
        ({"passed": True, "evidence": {"n": float("nan")}}, "EVALUATOR_FAILED"),
        ({"passed": True, "evidence": {"at": object()}}, "EVALUATOR_FAILED"),
    ],
    ids=str,
)
def test_an_answer_that_is_none_is_an_error_without_evidence(answer: Any, code: str) -> None:
    result = evaluate(ASK, {}, {"judge": lambda context, parameters: answer})

    assert result == {"id": "x", "passed": False, "errorCode": code}


def test_an_evaluator_that_cancels_something_of_its_own_has_failed() -> None:
    async def judge(context: EvaluationContext, parameters: Any) -> Any:
        inner = asyncio.ensure_future(asyncio.sleep(60))
        inner.cancel()
        await inner

    assert evaluate(ASK, {}, {"judge": judge})["errorCode"] == "EVALUATOR_FAILED"


def test_cancelling_the_caller_passes_through_an_evaluator() -> None:
    async def judge(context: EvaluationContext, parameters: Any) -> Any:
        await asyncio.get_running_loop().create_future()

    async def cancel_evaluation() -> None:
        work = asyncio.ensure_future(evaluate_assertions([ASK], EvaluationContext({}), {"judge": judge}))
        await asyncio.sleep(0)
        work.cancel()
        await work

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancel_evaluation())


def test_an_evaluator_cannot_change_its_evidence() -> None:
    refused = []

    def judge(context: EvaluationContext, parameters: Any) -> Any:
        for container in (context.observation, context.observation["list"], parameters, parameters["limits"]):
            with pytest.raises(TypeError):
                container.clear()
            refused.append(container)
        return {"passed": True}

    assert evaluate(ASK, {"list": [{}]}, {"judge": judge})["passed"]
    assert len(refused) == 4


@pytest.mark.parametrize("given", [None, {}, "text", {"observation": {}, "history": 5}], ids=str)
def test_a_context_that_is_none_is_refused_by_code(given: Any) -> None:  # `context` is a fixture of the browser tests
    with pytest.raises(EvaluationError, match="EVALUATION_OBSERVATION_INVALID"):
        asyncio.run(evaluate_assertions([], given))


def test_once_the_signal_is_set_nothing_more_is_evaluated() -> None:
    async def answer() -> list[str | None]:
        signal = asyncio.Event()

        def judge(context: EvaluationContext, parameters: Any) -> Any:
            signal.set()
            return {"passed": True}

        results = await evaluate_assertions([ASK, ASK], EvaluationContext({}, signal=signal), {"judge": judge})
        return [result.error_code for result in results]

    assert asyncio.run(answer()) == [None, "EVALUATION_CANCELLED"]
