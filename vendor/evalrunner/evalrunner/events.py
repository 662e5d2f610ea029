"""What a run tells its observers, and a collector of events.

For each event the run is frozen as a checkpoint first; the event goes out only after the checkpoint was stored.
``EvaluationCheckpoint.event`` is the event a checkpoint stands before, so that an observer which keeps cases apart has
to store one case only:

    def on_checkpoint(checkpoint):
        changed = checkpoint.event.case_index
        if checkpoint.event.type == EventType.RUN_STARTED:
            store_all(checkpoint.cases)  # pending, or taken over from the report that is resumed
        elif changed is not None:
            store(changed, checkpoint.cases[changed])
        store_run(checkpoint.status, checkpoint.summary)

All other cases are the very objects of the checkpoint before. ``run.completed`` changes no case; it brings the final
status, ``finished_at`` and the results of the suite's assertions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from evalrunner.data import PlainObject
from evalrunner.models import EvaluationReport


class EventType(StrEnum):
    RUN_STARTED = "run.started"
    CASE_STARTED = "case.started"
    TURN_COMPLETED = "turn.completed"
    CASE_COMPLETED = "case.completed"
    RUN_COMPLETED = "run.completed"


@dataclass(frozen=True, slots=True)
class RunEvent:
    """One transition of a run.

    ``sequence`` counts from 1 without gaps; ``case_index`` is the place of the case in the report.
    """

    sequence: int
    type: EventType
    run_id: str
    case_id: str | None = None
    case_index: int | None = None
    step_id: str | None = None

    def to_data(self) -> PlainObject:
        data: PlainObject = {"sequence": self.sequence, "type": str(self.type), "runId": self.run_id}
        optional = {"caseId": self.case_id, "caseIndex": self.case_index, "stepId": self.step_id}
        return data | {name: value for name, value in optional.items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationCheckpoint(EvaluationReport):
    """A snapshot of a run, immutable and complete, and the event that it stands before."""

    event: RunEvent


class EventCollector:
    """Keeps the events it is called with, in order: an agent's recorded events, or those of a run (``on_event``)."""

    def __init__(self) -> None:
        self._events: list[Any] = []

    def __call__(self, event: Any) -> None:
        self._events.append(event)

    @property
    def events(self) -> tuple[Any, ...]:
        """The events so far."""
        return tuple(self._events)

    def clear(self) -> None:
        self._events.clear()

    def __len__(self) -> int:
        return len(self._events)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.events)
