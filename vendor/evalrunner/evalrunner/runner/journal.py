"""The state of a run as it was last published."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from evalrunner.events import EvaluationCheckpoint, RunEvent
from evalrunner.models import (
    AssertionResult,
    EvaluationCase,
    EvaluationReport,
    EvaluationSuite,
    EvaluationSummary,
    EvaluationTarget,
    RunStatus,
)
from evalrunner.runner.sequence import PersistentSequence


@dataclass(frozen=True, slots=True)
class ReportHead:
    """What a report says from its first checkpoint on and never changes."""

    run_id: str
    suite: EvaluationSuite
    fingerprint: str
    target: EvaluationTarget
    started_at: str
    resumed_from: str | None


class Journal:
    """Holds the published state of every case, and counts statuses as they change rather than all over again."""

    def __init__(self, head: ReportHead, cases: Iterable[EvaluationCase]) -> None:
        self.head = head
        self.cases = PersistentSequence(cases)
        self._counts = Counter(str(case.status) for case in self.cases)
        self._status = RunStatus.RUNNING
        self._finished_at: str | None = None
        self._assertions: tuple[AssertionResult, ...] = ()

    @property
    def run_id(self) -> str:
        return self.head.run_id

    def record(self, index: int, case: EvaluationCase) -> None:
        """Take over the new state of one case."""
        self._counts[self.cases[index].status] -= 1
        self._counts[case.status] += 1
        self.cases = self.cases.replaced(index, case)

    def conclude(self, status: RunStatus, finished_at: str, assertions: tuple[AssertionResult, ...]) -> None:
        self._status, self._finished_at, self._assertions = status, finished_at, assertions

    def summarise(self) -> EvaluationSummary:
        return EvaluationSummary(total=len(self.cases), **self._counts)

    def snapshot(self, event: RunEvent) -> EvaluationCheckpoint:
        """Freeze the state for the checkpoint before an event; it costs the same for any number of cases."""
        head = self.head
        return EvaluationCheckpoint(
            head.run_id,
            head.suite,
            head.fingerprint,
            head.target,
            head.started_at,
            self._status,
            self.cases,
            self.summarise(),
            head.resumed_from,
            self._finished_at,
            self._assertions,
            event=event,
        )

    def report(self) -> EvaluationReport:
        head = self.head
        return EvaluationReport(
            head.run_id,
            head.suite,
            head.fingerprint,
            head.target,
            head.started_at,
            self._status,
            self.cases,
            self.summarise(),
            head.resumed_from,
            self._finished_at,
            self._assertions,
        )
