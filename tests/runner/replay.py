"""Replays of the corpus: one recorded run with a scripted agent, in virtual time, and what was seen of it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evalrunner import EvaluationCheckpoint, EvaluationError, RunEvent, expand_cases, run_evaluation
from evalrunner.data import deep_equal, thaw
from evalrunner.jsontext import parse_json
from evalrunner.models import EvaluationReport, ExpandedCase

from tests.runner.scripts import SECRET, GuestError, Log, ScriptedAdapter, make_evaluator
from tests.runner.virtual_time import run_virtually

CORPUS = Path(__file__).parents[1] / "data" / "conformance"
OPTIONS = {
    "target": "target",
    "repetitions": "repetitions",
    "concurrency": "concurrency",
    "maxFailures": "max_failures",
    "maxCases": "max_cases",
    "timeoutMs": "timeout_ms",
    "scenarioIds": "scenario_ids",
    "tags": "tags",
    "allowExternalWrites": "allow_external_writes",
    "retryFailed": "retry_failed",
}
MATRIX_OPTIONS = {"repetitions", "max_cases", "scenario_ids", "tags"}


def read_corpus(name: str) -> Any:
    """Read a JSON file of the corpus."""
    return parse_json((CORPUS / name).read_bytes())


def read_member(vector: Mapping[str, Any], name: str) -> Any:
    """Give a member of a vector, which may stand there as JSON text to keep its spelling."""
    text = vector.get(f"{name}Text")
    return thaw(vector[name]) if text is None else parse_json(text.encode("utf-8", "surrogatepass"))


@dataclass
class Replay:
    """What came of a run; checkpoints are kept as they came and as plain data of that moment."""

    report: EvaluationReport | None = None
    error: EvaluationError | None = None
    log: Log = field(default_factory=Log)
    snapshots: list[EvaluationCheckpoint] = field(default_factory=list)
    checkpoints: list[dict[str, Any]] = field(default_factory=list)
    events: list[RunEvent] = field(default_factory=list)
    order: list[str] = field(default_factory=list)

    @property
    def data(self) -> dict[str, Any]:
        assert self.report is not None, self.error
        return self.report.to_data()


def replay(spec: Mapping[str, Any], previous: Any = None) -> Replay:
    """Execute a run of the corpus in virtual time."""
    return run_virtually(_replay(spec, previous))


async def _replay(spec: Mapping[str, Any], previous: Any) -> Replay:
    given = {OPTIONS[name]: thaw(value) for name, value in spec["options"].items()}
    cancel = asyncio.Event()
    if (spec.get("cancel") or {}).get("beforeStart"):
        cancel.set()
    adapter: Any = ScriptedAdapter(spec["adapter"], matrix_of(spec["suite"], given), cancel)
    seen = Replay(log=adapter.log)
    evaluators = {
        name: make_evaluator(behaviour, is_async=number % 2 == 0)
        for number, (name, behaviour) in enumerate((spec.get("evaluators") or {}).items())
    }
    observers = _Observers(spec, seen, cancel)
    try:
        seen.report = await run_evaluation(
            suite=thaw(spec["suite"]),
            adapter=adapter,
            evaluators=evaluators,
            cancel=cancel,
            on_checkpoint=observers.on_checkpoint,
            on_event=observers.on_event,
            resume=thaw(previous),
            **given,
        )
    except EvaluationError as error:
        seen.error = error
    assert {task for task in asyncio.all_tasks() if task is not asyncio.current_task()} == set()
    return seen


def matrix_of(suite: Any, options: Mapping[str, Any]) -> dict[str, ExpandedCase]:
    try:
        cases = expand_cases(suite, **{name: value for name, value in options.items() if name in MATRIX_OPTIONS})
    except EvaluationError:
        return {}
    return {case.id: case for case in cases}


class _Observers:
    def __init__(self, spec: Mapping[str, Any], seen: Replay, cancel: asyncio.Event) -> None:
        self._faults = spec.get("observer") or {}
        self._cancel_at = (spec.get("cancel") or {}).get("atEvent")
        self._seen, self._cancel = seen, cancel

    async def on_checkpoint(self, checkpoint: EvaluationCheckpoint) -> None:
        seen = self._seen
        seen.order.append(f"checkpoint {checkpoint.event.sequence} begins")
        seen.snapshots.append(checkpoint)
        seen.checkpoints.append(checkpoint.to_data())
        if self._faults.get("failCheckpoint") == len(seen.checkpoints):
            raise GuestError(SECRET)
        if self._faults.get("hangCheckpoint") == len(seen.checkpoints):
            await asyncio.get_running_loop().create_future()
        await asyncio.sleep(0)
        seen.order.append(f"checkpoint {checkpoint.event.sequence} ends")

    async def on_event(self, event: RunEvent) -> None:
        self._seen.order.append(f"event {event.sequence} begins")
        self._seen.events.append(event)
        if self._cancel_at == event.sequence:
            self._cancel.set()
        if self._faults.get("failEvent") == event.sequence:
            raise GuestError(SECRET)
        await asyncio.sleep(0)
        self._seen.order.append(f"event {event.sequence} ends")


# ---------------------------------------------------------------------------------------------------------- comparison


def same_json(expected: Any, actual: Any) -> bool:
    """Compare plain JSON values, numbers as doubles and -0 as 0."""
    return deep_equal(_without_signed_zero(expected), _without_signed_zero(actual))


def _without_signed_zero(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_signed_zero(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_signed_zero(item) for item in value]
    return 0 if isinstance(value, float) and value == 0 else value
