"""Adapters made of small functions, well behaved or not, and short runs with them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

from evalrunner import run_evaluation
from evalrunner.models import EvaluationReport

from tests.runner.edge import TARGET

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
