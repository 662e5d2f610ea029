"""Targets for tests: they answer what the input asks for, so that a suite says how its run will go.

An input may hold ``answer`` (the observation's ``response.status``), ``code`` (an error to raise), ``wait_ms``,
``block_ms`` (the loop is held up), ``hold`` (a file: the turn goes on while it exists), ``note`` (a file: the turn's
id is added to it), ``executor`` (a file: the number of the executing process is added to it) and ``unless`` (a file:
once it exists, the answer is as it should be).
"""

import asyncio
import os
import time
from pathlib import Path
from typing import Any

from evalrunner.errors import EvaluationError
from evalrunner.targets import RunnableTarget


class EchoAdapter:
    id = "tests.echo"
    version = "1"

    def __init__(self, *, supports_resume: bool = False) -> None:
        self.supports_resume = supports_resume

    async def open(self, context: Any) -> "EchoSession":
        return EchoSession()


class EchoSession:
    async def send(self, input: dict[str, Any], context: Any) -> dict[str, Any]:
        await asyncio.sleep(input.get("wait_ms", 0) / 1000)
        _hold_up(input.get("block_ms", 0))
        if note := input.get("note"):
            _write_down(Path(note), context.turn_id)
        if executor := input.get("executor"):
            _write_down(Path(executor), str(os.getpid()))
        while _is_held(input.get("hold")):  # noqa: ASYNC110  # another process lets go
            await asyncio.sleep(0.02)
        if code := input.get("code"):
            raise EvaluationError(code)
        is_mended = _is_held(input.get("unless"))
        answer = "completed" if is_mended else input.get("answer", "completed")
        return {"observation": {"response": {"status": answer}}, "checkpoint": {"turn": context.turn_id}}


def _hold_up(milliseconds: int) -> None:
    """Wait as no agent should: nothing else happens in the event loop meanwhile."""
    time.sleep(milliseconds / 1000)


def _is_held(file: str | None) -> bool:
    return file is not None and Path(file).exists()


def _write_down(notes: Path, line: str) -> None:
    with notes.open("a") as file:
        file.write(f"{line}\n")


echo = RunnableTarget(
    id="tests.echo",
    make_adapter=lambda fingerprint: EchoAdapter(),
    fingerprints=("one", "two"),
    evaluators={},
)

resuming = RunnableTarget(
    id="tests.resuming",
    make_adapter=lambda fingerprint: EchoAdapter(supports_resume=True),
    fingerprints=("one",),
    evaluators={},
)


async def count_cases(context: Any, parameters: dict[str, Any]) -> dict[str, bool]:
    """Pass for as many cases as there should be, and write each evaluation down; it lasts while a file exists."""
    statuses = sorted({str(case.status) for case in context.cases})
    with Path(parameters["file"]).open("a") as file:  # noqa: ASYNC230  # a line
        file.write(f"{len(context.cases)} {' '.join(statuses)}\n")
    while _is_held(parameters.get("hold")):  # noqa: ASYNC110  # another process lets go
        await asyncio.sleep(0.02)
    return {"passed": len(context.cases) == parameters["cases"]}


counting = RunnableTarget(
    id="tests.counting",
    make_adapter=lambda fingerprint: EchoAdapter(),
    fingerprints=("one",),
    evaluators={"count": count_cases},
)
