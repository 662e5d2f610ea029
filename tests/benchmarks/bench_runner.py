"""What the runner itself costs: CPU per case and turn beside a bare asyncio loop, and per transition with an observer.

    python -m tests.benchmarks.bench_runner [--quick]

The adapter answers at once, so that all that is measured is the runner: cases of three turns with one assertion each.
The bare loops call the same adapter with the same inputs and keep the observations, and do nothing else: no check, no
copy, no id, no report. One holds a conversation after the other, one holds ten at once, each in a task of its own.
The goal for the runner is at most 150 µs of CPU a case, at any number of cases; a transition must not cost more at
100,000 cases than at 1,000.
"""

from __future__ import annotations

import asyncio
import gc
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any

from evalrunner import EvaluationCheckpoint, expand_cases, parse_evaluation_suite, run_evaluation
from evalrunner.models import EvaluationCase, EvaluationReport, EvaluationSuite, ExpandedCase

TURNS = 3
SIZES = (1_000, 10_000, 100_000)
REPETITIONS = 100
TARGET = {"id": "bench", "fingerprint": "1"}


class NoOpSession:
    async def send(self, input: Any, context: Any) -> Any:
        return {"observation": {"status": "completed", "message": "ok"}}


class NoOpAdapter:
    id, version = "no-op", "1"

    async def open(self, context: Any) -> NoOpSession:
        return NoOpSession()


class WaitingSession:
    """Lets the event loop go round once for each turn, as any real input or output does."""

    async def send(self, input: Any, context: Any) -> Any:
        await asyncio.sleep(0)
        return {"observation": {"status": "completed", "message": "ok"}}


class WaitingAdapter:
    id, version = "waiting", "1"

    async def open(self, context: Any) -> WaitingSession:
        return WaitingSession()


def make_suite(cases: int) -> EvaluationSuite:
    check = {"id": "done", "kind": "check", "path": ["status"], "operator": "equals", "value": "completed"}
    steps = [{"id": f"step-{n}", "input": {"text": "Hello"}, "assertions": [check]} for n in range(TURNS)]
    scenarios = [
        {"id": f"scenario-{n}", "name": f"Scenario {n}", "writePolicy": "read_only", "steps": steps}
        for n in range(cases // REPETITIONS)
    ]
    return parse_evaluation_suite({"schemaVersion": 1, "id": "bench", "name": "Bench", "scenarios": scenarios})


async def run(suite: EvaluationSuite, adapter: Any, **more: Any) -> EvaluationReport:
    return await run_evaluation(
        suite=suite, target=TARGET, adapter=adapter, repetitions=REPETITIONS, max_cases=max(SIZES), **more
    )


async def hold_bare(case: ExpandedCase, adapter: Any, kept: list[Any]) -> None:
    session = await adapter.open(SimpleNamespace(case_id=case.id))
    for step in case.steps:
        answer = await session.send(step.input, SimpleNamespace(step_id=step.id))
        kept.append(answer["observation"])


async def run_bare(cases: Sequence[ExpandedCase], adapter: Any) -> None:
    """Hold the same conversations one after the other."""
    kept: list[Any] = []
    for case in cases:
        await hold_bare(case, adapter, kept)


async def run_bare_tasks(cases: Sequence[ExpandedCase], adapter: Any) -> None:
    """Hold the same conversations in tasks, ten at once."""
    kept: list[Any] = []
    gate = asyncio.Semaphore(10)

    async def hold(case: ExpandedCase) -> None:
        async with gate:
            await hold_bare(case, adapter, kept)

    await asyncio.gather(*map(hold, cases))


def cpu_s(work: Callable[[], Awaitable[object]]) -> float:
    """Give the CPU seconds of a piece of work in an event loop of its own."""

    async def timed() -> float:
        gc.collect()
        begun = time.process_time()
        await work()
        return time.process_time() - begun

    return asyncio.run(timed())


def bench_core(sizes: tuple[int, ...]) -> None:
    print("CPU µs; the ratio is that of the runner to the bare loop")
    print(
        f"{'cases':>8} {'adapter':>8} {'runner/case':>12} {'/turn':>6} {'bare/case':>10} {'ratio':>6}"
        f" {'tasks/case':>11} {'ratio':>6}"
    )
    for size in sizes:
        suite = make_suite(size)
        cases = expand_cases(suite, repetitions=REPETITIONS, max_cases=size)
        for name, adapter in (("no-op", NoOpAdapter()), ("waiting", WaitingAdapter())):
            runner = cpu_s(partial(run, suite, adapter)) * 1e6 / size
            bare = cpu_s(partial(run_bare, cases, adapter)) * 1e6 / size
            tasks = cpu_s(partial(run_bare_tasks, cases, adapter)) * 1e6 / size
            print(
                f"{size:>8,} {name:>8} {runner:>12.1f} {runner / TURNS:>6.1f} {bare:>10.1f} {runner / bare:>6.1f}"
                f" {tasks:>11.1f} {runner / tasks:>6.1f}"
            )


def bench_transitions(sizes: tuple[int, ...]) -> None:
    print("\nwith a checkpoint observer that looks at the changed case")
    print(f"{'cases':>8} {'transitions':>12} {'CPU µs/transition':>18}")
    for size in sizes:
        seen: list[EvaluationCase | None] = [None]
        transitions = 0

        def observe(checkpoint: EvaluationCheckpoint, seen: list[EvaluationCase | None] = seen) -> None:
            nonlocal transitions
            transitions += 1
            if checkpoint.event.case_index is not None:
                seen[0] = checkpoint.cases[checkpoint.event.case_index]

        suite = make_suite(size)
        spent = cpu_s(partial(run, suite, NoOpAdapter(), on_checkpoint=observe))
        print(f"{size:>8,} {transitions:>12,} {spent * 1e6 / transitions:>18.1f}")


def main(arguments: list[str]) -> None:
    sizes = SIZES[:2] if "--quick" in arguments else SIZES
    bench_core(sizes)
    bench_transitions((sizes[0], sizes[-1]))


if __name__ == "__main__":
    main(sys.argv[1:])
