"""What the tests of adapters and command line share: small suites, contexts, and short runs."""

from __future__ import annotations

import asyncio
from typing import Any

from evalrunner import EvaluationError, run_evaluation
from evalrunner.adapters.base import OpenContext, SendContext
from evalrunner.events import EvaluationCheckpoint, EventType
from evalrunner.examples.catalogue import suite_file
from evalrunner.models import EvaluationReport
from evalrunner.suites import parse_evaluation_suite

CATALOGUE_SUITE = suite_file
SCENARIO: dict[str, Any] = {
    "id": "talk",
    "name": "Talk",
    "description": "Only the judge may know this.",
    "tags": ["smoke"],
    "metadata": {"language": "en"},
    "writePolicy": "read_only",
    "steps": [{"id": "ask", "input": {"text": "hello"}}, {"id": "again", "input": {"text": "more"}}],
    "assertions": [{"id": "secret-criterion", "kind": "check", "path": ["text"], "operator": "exists"}],
}
SUITE: dict[str, Any] = {"schemaVersion": 1, "id": "small", "name": "Small", "scenarios": [SCENARIO]}
TARGET = {"id": "bot", "fingerprint": "1"}


def open_context(checkpoint: dict[str, Any] | None = None) -> OpenContext:
    scenario = parse_evaluation_suite(SUITE).scenarios[0]
    return OpenContext("run-1", "case-1", "thread-1", scenario, checkpoint, asyncio.Event())


def send_context(signal: asyncio.Event | None = None) -> SendContext:
    return SendContext("turn-1", "ask", signal or asyncio.Event())


async def run_small(adapter: Any, **options: Any) -> EvaluationReport:
    """Hold the two turns of the small suite's only case."""
    return await run_evaluation(**{"suite": SUITE, "target": TARGET, "adapter": adapter} | options)


async def run_until_second_turn(adapter: Any, **options: Any) -> EvaluationReport:
    """Cancel as soon as the first turn is stored, so that a healthy prefix is left."""
    cancel = asyncio.Event()

    def stop(checkpoint: EvaluationCheckpoint) -> None:
        if checkpoint.event.type is EventType.TURN_COMPLETED:
            cancel.set()

    return await run_small(adapter, cancel=cancel, on_checkpoint=stop, **options)


async def code_of(work: Any) -> str | None:
    """Give the code with which an awaitable is refused, or None."""
    try:
        await work
    except EvaluationError as error:
        return error.code
    return None
