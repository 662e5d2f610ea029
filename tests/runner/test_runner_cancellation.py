"""Cancelling a run, and cancelling whoever waits for one."""

import asyncio
import gc
from typing import Any

import pytest
from evalrunner.models import EvaluationReport

from tests.runner.guests import OBSERVATION, GuestAdapter, hang, outcome, run, stubborn, suite_of, timed
from tests.runner.virtual_time import run_virtually

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


def test_cancelling_the_caller_does_not_wait_for_an_observer() -> None:
    async def give_up() -> tuple[int, float]:
        loop = asyncio.get_running_loop()
        work = asyncio.ensure_future(run(GuestAdapter(), on_checkpoint=hang, timeout_ms=60_000))
        await asyncio.sleep(1)
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
        return len(asyncio.all_tasks()) - 1, loop.time()

    assert run_virtually(give_up()) == (0, 1)


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
def test_a_wish_to_leave_the_program_passes_through_a_guest(
    error: type[BaseException], caplog: pytest.LogCaptureFixture
) -> None:
    adapter = GuestAdapter()

    async def leave(*arguments: Any) -> Any:
        raise error

    adapter.on_send = leave

    with pytest.raises(error):
        run_virtually(run(adapter))
    gc.collect()  # asyncio complains of errors that nobody looked at when they are thrown away
    assert caplog.records == []
