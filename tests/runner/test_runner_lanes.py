"""Foreign code that is slow, stubborn or broken never holds a run up, and no task is left behind."""

import asyncio
import contextvars
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

import pytest
from evalrunner import EvaluationError, run_evaluation
from evalrunner.cases import turn_id
from evalrunner.models import EvaluationReport
from evalrunner.runner.journal import Journal

from tests.runner.edge import TARGET
from tests.runner.scripts import SECRET
from tests.runner.virtual_time import run_virtually

Guest = Callable[..., Coroutine[Any, Any, Any]]
OBSERVATION = {"observation": {"ok": True}}
LIMIT_S = 1.0


def suite_of(cases: int = 1, turns: int = 1, **more: Any) -> dict[str, Any]:
    steps = [{"id": f"s{n}", "input": {}} for n in range(turns)]
    scenario = {"name": "Case", "writePolicy": "read_only", "steps": steps} | more
    scenarios = [{"id": f"c{n}"} | scenario for n in range(cases)]
    return {"schemaVersion": 1, "id": "lanes", "name": "Lanes", "scenarios": scenarios}


async def answer(*arguments: Any) -> Any:
    return OBSERVATION


async def nothing(*arguments: Any) -> None:
    return None


@dataclass
class GuestAdapter:
    """An adapter made of three functions; ``seen`` notes when each of them begins and how it ends."""

    on_send: Guest = answer
    on_open: Guest = nothing
    on_close: Guest = nothing
    seen: list[str] = field(default_factory=list)
    id: str = "guest"
    version: str = "1"

    async def open(self, context: Any) -> Any:
        await self._note("open", self.on_open, context)
        return self

    async def send(self, input: Any, context: Any) -> Any:
        return await self._note("send", self.on_send, input, context)

    async def close(self) -> None:
        await self._note("close", self.on_close)

    async def _note(self, name: str, guest: Guest, *arguments: Any) -> Any:
        self.seen.append(f"{name} begins")
        try:
            result = await guest(*arguments)
        except BaseException as error:
            self.seen.append(f"{name} {type(error).__name__}")
            raise
        self.seen.append(f"{name} ends")
        return result


async def hang(*arguments: Any) -> Any:
    await asyncio.get_running_loop().create_future()


def stubborn(work_s: float, result: Any = None) -> Guest:
    """Make a guest that takes its time and cannot be cancelled."""

    async def work(*arguments: Any) -> Any:
        loop = asyncio.get_running_loop()
        until_s = loop.time() + work_s
        while (left_s := until_s - loop.time()) > 0:
            try:
                await asyncio.sleep(left_s)
            except asyncio.CancelledError:
                continue
        return result

    return work


async def run(adapter: Any, suite: Any = None, **options: Any) -> EvaluationReport:
    given = {"timeout_ms": LIMIT_S * 1000} | options
    return await run_evaluation(suite=suite or suite_of(), target=TARGET, adapter=adapter, **given)


async def timed(work: Coroutine[Any, Any, EvaluationReport]) -> tuple[Any, float, int]:
    """Give the only case of a run, how long the run took, and how many tasks were left when it was over."""
    loop = asyncio.get_running_loop()
    begun_s = loop.time()
    report = await work
    return report.cases[0], loop.time() - begun_s, len(asyncio.all_tasks()) - 1


def outcome(case: Any) -> tuple[Any, ...]:
    return case.status, case.error_code, [(turn.status, turn.error_code) for turn in case.turns]


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


def test_stubborn_observers_end_the_run_too() -> None:
    async def run_and_wait() -> None:
        with pytest.raises(EvaluationError, match="EVALUATION_OBSERVER_FAILED"):
            await run(GuestAdapter(), on_checkpoint=stubborn(60))
        await asyncio.sleep(120)
        assert len(asyncio.all_tasks()) == 1

    run_virtually(run_and_wait())


# -------------------------------------------------------------------------------------------------------- cancellation


def test_cancelling_a_run_interrupts_every_open_case_and_begins_no_other() -> None:
    cancel = asyncio.Event()
    adapter = GuestAdapter(hang)

    async def run_and_cancel() -> EvaluationReport:
        asyncio.get_running_loop().call_later(0.3, cancel.set)
        return await run(adapter, suite_of(5), concurrency=3, cancel=cancel)

    report = run_virtually(run_and_cancel())

    assert report.status == "cancelled"
    assert [case.status for case in report.cases] == ["cancelled"] * 3 + ["pending"] * 2
    assert adapter.seen.count("close ends") == 3


def test_a_cancelled_run_does_not_wait_for_stubborn_code() -> None:
    cancel = asyncio.Event()

    async def run_and_cancel() -> tuple[Any, float, int]:
        asyncio.get_running_loop().call_later(0.3, cancel.set)
        return await timed(run(GuestAdapter(stubborn(60, OBSERVATION)), cancel=cancel, timeout_ms=100_000))

    case, took_s, _ = run_virtually(run_and_cancel())

    assert outcome(case) == ("cancelled", None, [("cancelled", "EVALUATION_CANCELLED")])
    assert took_s < 0.5


def test_adapters_and_evaluators_see_the_signal_at_once() -> None:
    cancel = asyncio.Event()
    seen = []

    async def look(input: Any, context: Any) -> Any:
        seen.append(context.signal.is_set())
        cancel.set()
        seen.append(context.signal.is_set())
        await context.signal.wait()
        return OBSERVATION

    case, _, _ = run_virtually(timed(run(GuestAdapter(look), cancel=cancel)))

    assert seen == [False, True]
    assert outcome(case) == ("cancelled", None, [("cancelled", "EVALUATION_CANCELLED")])


def test_an_answer_that_comes_together_with_the_cancellation_counts_as_cancelled() -> None:
    cancel = asyncio.Event()

    async def cancel_and_answer(*arguments: Any) -> Any:
        cancel.set()
        return OBSERVATION

    case, _, _ = run_virtually(timed(run(GuestAdapter(cancel_and_answer), cancel=cancel)))

    assert outcome(case) == ("cancelled", None, [("cancelled", "EVALUATION_CANCELLED")])


def test_cancelling_does_not_cut_short_an_observer() -> None:
    cancel = asyncio.Event()
    stored = []

    async def store(checkpoint: Any) -> None:
        cancel.set()
        await asyncio.sleep(0.5)
        stored.append(checkpoint.event.type)

    report = run_virtually(run(GuestAdapter(), cancel=cancel, on_checkpoint=store))

    assert stored == ["run.started", "run.completed"]
    assert report.status == "cancelled"


# --------------------------------------------------------------------------------------------- the caller is cancelled


@pytest.mark.parametrize("concurrency", [1, 3])
@pytest.mark.parametrize("guests", [{"on_open": hang}, {"on_send": hang}, {"on_close": hang}, {}], ids=str)
def test_cancelling_the_caller_passes_through_and_leaves_no_task(guests: dict[str, Any], concurrency: int) -> None:
    adapter = GuestAdapter(**guests)

    async def store(checkpoint: Any) -> None:
        await asyncio.sleep(0.01)

    async def give_up() -> tuple[int, float]:
        loop = asyncio.get_running_loop()
        work = asyncio.ensure_future(
            run(adapter, suite_of(900, turns=2), concurrency=concurrency, on_checkpoint=store, timeout_ms=60_000)
        )
        await asyncio.sleep(1.003)
        work.cancel()
        begun_s = loop.time()
        with pytest.raises(asyncio.CancelledError):
            await work
        return len(asyncio.all_tasks()) - 1, loop.time() - begun_s

    tasks, took_s = run_virtually(give_up())

    assert tasks == 0
    assert took_s < 11
    opened = adapter.seen.count("open ends")
    assert opened == adapter.seen.count("close begins")


def test_cancelling_the_caller_twice_does_not_wait_for_anything() -> None:
    async def give_up() -> tuple[int, float]:
        loop = asyncio.get_running_loop()
        work = asyncio.ensure_future(run(GuestAdapter(on_close=stubborn(5)), timeout_ms=60_000))
        await asyncio.sleep(0.5)
        work.cancel()
        await asyncio.sleep(0.5)
        begun_s = loop.time()
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
        took_s = loop.time() - begun_s
        await asyncio.sleep(10)
        return len(asyncio.all_tasks()) - 1, took_s

    tasks, took_s = run_virtually(give_up())

    assert took_s < 0.2
    assert tasks == 0


def test_a_caller_cancelled_before_anything_began_leaves_nothing() -> None:
    adapter = GuestAdapter()

    async def give_up() -> int:
        work = asyncio.ensure_future(run(adapter))
        await asyncio.sleep(0)
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
        return len(asyncio.all_tasks()) - 1

    assert run_virtually(give_up()) == 0
    assert adapter.seen == []


def test_a_time_limit_of_the_caller_holds() -> None:
    async def limited() -> None:
        async with asyncio.timeout(0.5):
            await run(GuestAdapter(hang), timeout_ms=60_000)

    with pytest.raises(TimeoutError):
        run_virtually(limited())


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_a_wish_to_leave_the_program_passes_through_a_guest(error: type[BaseException]) -> None:
    adapter = GuestAdapter()

    async def leave(*arguments: Any) -> Any:
        raise error

    adapter.on_send = leave

    with pytest.raises(error):
        run_virtually(run(adapter))


# --------------------------------------------------------------------------------------------------------- bad manners


def test_a_guest_that_cancels_something_of_its_own_is_a_failed_transport() -> None:
    async def cancel_inside(*arguments: Any) -> Any:
        inner = asyncio.ensure_future(asyncio.sleep(60))
        inner.cancel()
        await inner

    case, _, tasks = run_virtually(timed(run(GuestAdapter(cancel_inside), suite_of(turns=2))))

    assert outcome(case) == ("error", None, [("error", "EVALUATION_TRANSPORT_FAILED")])
    assert tasks == 0


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
