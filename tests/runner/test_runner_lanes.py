"""Foreign code that is slow, stubborn or broken never holds a run up, and no task is left behind."""

import asyncio
import contextvars
from typing import Any

import pytest
from evalrunner import EvaluationError
from evalrunner.cases import turn_id
from evalrunner.runner.journal import Journal

from tests.runner.guests import LIMIT_S, OBSERVATION, GuestAdapter, hang, outcome, run, stubborn, suite_of, timed
from tests.runner.scripts import SECRET
from tests.runner.virtual_time import run_virtually

# ----------------------------------------------------------------------------------------------------------- too slow


def test_a_turn_that_is_too_slow_is_an_error_and_its_session_is_closed() -> None:
    adapter = GuestAdapter(hang)

    case, took_s, tasks = run_virtually(timed(run(adapter)))

    assert outcome(case) == ("error", None, [("error", "EVALUATION_TIMEOUT")])
    assert adapter.seen == [
        "open begins",
        "open ends",
        "send begins",
        "send CancelledError",
        "close begins",
        "close ends",
    ]
    assert (took_s, tasks) == (LIMIT_S, 0)


def test_each_operation_has_a_time_limit_of_its_own() -> None:
    almost = stubborn(LIMIT_S * 0.9, OBSERVATION)

    case, took_s, _ = run_virtually(timed(run(GuestAdapter(almost, almost, almost), suite_of(turns=3))))

    assert case.status == "passed"
    assert took_s == pytest.approx(5 * 0.9 * LIMIT_S)


@pytest.mark.parametrize(
    ("guests", "expected"),
    [
        ({"on_open": hang}, ("error", "EVALUATION_TIMEOUT", [])),
        ({"on_close": hang}, ("error", "EVALUATION_CLEANUP_FAILED", [("passed", None)])),
    ],
)
def test_opening_and_closing_that_are_too_slow(guests: dict[str, Any], expected: tuple[Any, ...]) -> None:
    case, took_s, tasks = run_virtually(timed(run(GuestAdapter(**guests))))

    assert outcome(case) == expected
    assert (took_s, tasks) == (LIMIT_S, 0)


def test_code_that_blocks_the_event_loop_past_its_limit_is_too_slow_as_well() -> None:
    async def block(*arguments: Any) -> Any:
        asyncio.get_running_loop()._jumping.now_s += 2 * LIMIT_S  # type: ignore[attr-defined]
        return OBSERVATION

    case, _, _ = run_virtually(timed(run(GuestAdapter(block))))

    assert outcome(case) == ("error", None, [("error", "EVALUATION_TIMEOUT")])


# ----------------------------------------------------------------------------------------------------------- stubborn


def test_a_turn_that_ignores_its_cancellation_is_left_behind() -> None:
    adapter = GuestAdapter(stubborn(60, OBSERVATION))

    async def run_and_wait() -> tuple[Any, float, list[str], int]:
        case, took_s, _ = await timed(run(adapter, suite_of(2)))
        seen_by_then = list(adapter.seen)
        await asyncio.sleep(120)
        return case, took_s, seen_by_then, len(asyncio.all_tasks()) - 1

    case, took_s, seen, tasks = run_virtually(run_and_wait())

    assert outcome(case) == ("error", None, [("error", "EVALUATION_TIMEOUT")])
    assert seen == ["open begins", "open ends", "send begins", "close begins", "close ends"] * 2
    assert took_s < 2 * LIMIT_S + 0.5
    assert tasks == 0


def test_a_late_answer_is_ignored() -> None:
    case, _, _ = run_virtually(timed(run(GuestAdapter(stubborn(LIMIT_S + 0.01, OBSERVATION)))))

    assert outcome(case) == ("error", None, [("error", "EVALUATION_TIMEOUT")])
    assert case.turns[0].observation is None


@pytest.mark.parametrize("late_s", [LIMIT_S + 0.01, LIMIT_S * 10])
def test_a_session_that_opens_too_late_is_closed_at_once(late_s: float) -> None:
    adapter = GuestAdapter(on_open=stubborn(late_s))

    async def run_and_wait() -> Any:
        case, _, _ = await timed(run(adapter))
        await asyncio.sleep(LIMIT_S * 20)
        return case, len(asyncio.all_tasks()) - 1

    case, tasks = run_virtually(run_and_wait())

    assert outcome(case) == ("error", "EVALUATION_TIMEOUT", [])
    assert adapter.seen == ["open begins", "open ends", "close begins", "close ends"]
    assert tasks == 0


def test_a_run_waits_for_the_closing_of_a_late_session_within_the_time_limit() -> None:
    adapter = GuestAdapter(on_open=stubborn(LIMIT_S + 0.01), on_close=hang)

    _, took_s, tasks = run_virtually(timed(run(adapter)))

    assert adapter.seen[-1] == "close CancelledError"
    assert took_s == pytest.approx(2 * LIMIT_S + 0.01)
    assert tasks == 0


def test_when_an_observer_fails_other_cases_are_not_waited_for() -> None:
    adapter = GuestAdapter()

    async def hang_once(*arguments: Any) -> Any:
        return await hang() if adapter.seen.count("send begins") == 1 else OBSERVATION

    def fail(checkpoint: Any) -> None:
        if checkpoint.event.type == "turn.completed":
            raise OSError(SECRET)

    adapter.on_send = hang_once

    async def run_and_time() -> float:
        loop = asyncio.get_running_loop()
        with pytest.raises(EvaluationError, match="EVALUATION_OBSERVER_FAILED"):
            await run(adapter, suite_of(2), concurrency=2, on_checkpoint=fail, timeout_ms=60_000)
        return loop.time()

    assert run_virtually(run_and_time()) < 0.1
    assert adapter.seen.count("close ends") == 2


def test_stubborn_observers_end_the_run_too() -> None:
    async def run_and_wait() -> None:
        with pytest.raises(EvaluationError, match="EVALUATION_OBSERVER_FAILED"):
            await run(GuestAdapter(), on_checkpoint=stubborn(60))
        await asyncio.sleep(120)
        assert len(asyncio.all_tasks()) == 1

    run_virtually(run_and_wait())


# --------------------------------------------------------------------------------------------------------- bad manners


def test_a_guest_that_cancels_something_of_its_own_is_a_failed_transport() -> None:
    async def cancel_inside(*arguments: Any) -> Any:
        inner = asyncio.ensure_future(asyncio.sleep(60))
        inner.cancel()
        await inner

    case, _, tasks = run_virtually(timed(run(GuestAdapter(cancel_inside), suite_of(turns=2))))

    assert outcome(case) == ("error", None, [("error", "EVALUATION_TRANSPORT_FAILED")])
    assert tasks == 0


def test_an_interrupted_turn_leaves_no_trace_in_the_calls_that_follow() -> None:
    async def cancel_inside(*arguments: Any) -> Any:
        inner = asyncio.ensure_future(asyncio.sleep(60))
        inner.cancel()
        await inner

    case, took_s, tasks = run_virtually(timed(run(GuestAdapter(hang, on_close=cancel_inside))))

    assert outcome(case) == ("error", "EVALUATION_CLEANUP_FAILED", [("error", "EVALUATION_TIMEOUT")])
    assert (took_s, tasks) == (LIMIT_S, 0)


def test_an_adapter_may_change_the_input_it_is_given() -> None:
    async def consume(input: Any, context: Any) -> Any:
        return {"observation": {"text": input.pop("text"), "rest": input["parts"].pop()}}

    steps = [{"id": "s0", "input": {"text": "hi", "parts": [1, 2]}}]

    case, _, _ = run_virtually(timed(run(GuestAdapter(consume), suite_of(steps=steps))))

    assert case.turns[0].observation == {"text": "hi", "rest": 2}
    assert case.turns[0].input == {"text": "hi", "parts": [1, 2]}


def test_messages_of_exceptions_stay_outside_the_report() -> None:
    async def leak(*arguments: Any) -> Any:
        raise RuntimeError(SECRET)

    for adapter in (GuestAdapter(on_open=leak), GuestAdapter(on_send=leak), GuestAdapter(on_close=leak)):
        report = run_virtually(run(adapter))

        assert report.cases[0].status == "error"
        assert SECRET not in str(report.to_data())


@pytest.mark.parametrize(
    ("given", "code"),
    [
        (None, "EVALUATION_TRANSPORT_FAILED"),
        ({}, "EVALUATION_OBSERVATION_INVALID"),
        ("text", "EVALUATION_OBSERVATION_INVALID"),
        ({"observation": None}, "EVALUATION_OBSERVATION_INVALID"),
        ({"observation": {"n": float("inf")}}, "EVALUATION_OBSERVATION_INVALID"),
        ({"observation": {}, "checkpoint": [1]}, "EVALUATION_OBSERVATION_INVALID"),
        ({"observation": {"list": [0] * 500_000}}, "EVALUATION_DATA_LIMIT"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_an_answer_that_is_none_is_an_error_of_its_turn(given: Any, code: str) -> None:
    async def give(*arguments: Any) -> Any:
        return given

    case, _, _ = run_virtually(timed(run(GuestAdapter(give))))

    assert outcome(case) == ("error", None, [("error", code)])
    assert case.turns[0].observation is None


def test_adapters_may_be_plain_functions_too() -> None:
    class Plain:
        id, version = "plain", "1"

        def open(self, context: Any) -> Any:
            return self

        def send(self, input: Any, context: Any) -> Any:
            return OBSERVATION

        def close(self) -> None:
            return None

    case, _, _ = run_virtually(timed(run(Plain())))

    assert case.status == "passed"


def test_a_defect_of_the_runner_itself_is_raised_and_leaves_no_task(monkeypatch: pytest.MonkeyPatch) -> None:
    adapter = GuestAdapter()

    def break_down(journal: Journal, index: int, case: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(Journal, "record", break_down)

    async def run_and_count() -> int:
        with pytest.raises(ZeroDivisionError):
            await run(adapter, suite_of(5), concurrency=3, timeout_ms=60_000)
        return len(asyncio.all_tasks()) - 1

    assert run_virtually(run_and_count()) == 0


# --------------------------------------------------------------------------------------------------- what guests share


def test_one_task_serves_all_calls_of_a_case_and_cases_share_no_context() -> None:
    mark: contextvars.ContextVar[str] = contextvars.ContextVar("mark", default="clean")
    tasks: dict[str, set[Any]] = {}
    marks = []

    async def note(context: Any) -> None:
        marks.append(mark.get())
        mark.set(context.case_id)
        tasks[context.case_id] = {asyncio.current_task()}

    async def note_turn(input: Any, context: Any) -> Any:
        tasks[mark.get()].add(asyncio.current_task())
        return OBSERVATION

    async def note_closing() -> None:
        tasks[mark.get()].add(asyncio.current_task())

    run_virtually(run(GuestAdapter(note_turn, note, note_closing), suite_of(3, turns=2)))

    assert marks == ["clean"] * 3
    assert [len(used) for used in tasks.values()] == [1, 1, 1]


def test_a_slow_case_does_not_hold_up_the_others() -> None:
    order: list[bool] = []

    async def take_time(input: Any, context: Any) -> Any:
        await asyncio.sleep(0.9 if context.turn_id == first_turn else 0.1)
        order.append(context.turn_id == first_turn)
        return OBSERVATION

    first_turn = ""

    async def note_first(context: Any) -> None:
        nonlocal first_turn
        if not first_turn:
            first_turn = turn_id(context.thread_id, "s0")

    run_virtually(run(GuestAdapter(take_time, note_first), suite_of(6), concurrency=2))

    assert order == [False] * 5 + [True]


def test_suite_assertions_are_evaluated_after_a_cancellation_and_within_the_limit() -> None:
    judge = {"id": "judge", "kind": "custom", "evaluator": "judge", "parameters": {}}
    suite = suite_of() | {"assertions": [judge]}
    cancel = asyncio.Event()
    cancel.set()

    async def approve(context: Any, parameters: Any) -> Any:
        return {"passed": True, "evidence": dict(context.observation) | {"stop": context.signal.is_set()}}

    approved = run_virtually(run(GuestAdapter(), suite, cancel=cancel, evaluators={"judge": approve}))
    too_slow = run_virtually(run(GuestAdapter(), suite, evaluators={"judge": hang}))

    assert approved.assertions is not None
    evidence: Any = approved.assertions[0].evidence
    assert (evidence["status"], evidence["summary"]["pending"], evidence["stop"]) == ("cancelled", 1, False)
    assert too_slow.assertions is not None
    assert [result.to_data() for result in too_slow.assertions] == [
        {"id": "evaluation.suite", "passed": False, "errorCode": "EVALUATION_TIMEOUT"}
    ]
    assert too_slow.status == "completed"
