"""Writing down a run while it goes on: each checkpoint in one transaction, with the event that it stands before.

A checkpoint and its event appear together, so nobody sees an event whose checkpoint is not stored. Only the changed
case is written; its turns are only ever added to. The first checkpoint, which brings every case, is staged in many
short transactions and appears with its last one.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

from django.db import transaction
from django.db.models import Subquery
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce
from django.utils import timezone
from evalrunner.data import PlainObject
from evalrunner.events import EvaluationCheckpoint, EventType, RunEvent
from evalrunner.models import EvaluationReport, EvaluationSummary
from evalrunner.runner.parts import Conclusion

from reports.models import Execution, Run
from reports.models import RunEvent as EventRow
from reports.payloads import unpack
from reports.services.attempts import refresh_attempts
from reports.services.case_rows import CaseWriter, prepare_case
from reports.services.generations import staged_generation
from reports.services.leases import Claim, release, renew_lease
from reports.services.run_changes import mark_affected, refresh_changes
from reports.services.run_rows import COUNTED, run_columns
from reports.text import storable


class CheckpointStore:
    """Stores the checkpoints of one claimed run, in their order. Used by one thread only.

    Every method raises LeaseLost once the claim has ended, and then has written nothing.
    """

    def __init__(self, claim: Claim) -> None:
        self.claim = claim
        self.run = Run.objects.select_related("team").defer("head").get(pk=claim.run_pk)
        self._writer: CaseWriter | None = None

    @property
    def has_begun(self) -> bool:
        """Tell whether the first checkpoint is stored: from then on the run has a report."""
        return self._writer is not None

    def persist(self, checkpoint: EvaluationCheckpoint) -> None:
        """Store a checkpoint and its event."""
        if self._writer is None:
            self.begin(checkpoint)
        else:
            self._go_on(self._writer, checkpoint)

    def begin(self, checkpoint: EvaluationCheckpoint, then: Callable[[], None] = lambda: None) -> None:
        """Store the first checkpoint; ``then`` is called in the transaction that shows it."""
        cases = (prepare_case(case.to_data(), position) for position, case in enumerate(checkpoint.cases))
        with staged_generation(self.run.team, cases) as generation, transaction.atomic():
            renew_lease(self.claim)
            self._write_run(checkpoint, generation=generation)
            write_event(self.claim.run_pk, checkpoint.event, checkpoint.event.sequence)
            then()
        self._writer = CaseWriter(self.run.team, generation)

    def _go_on(self, writer: CaseWriter, checkpoint: EvaluationCheckpoint) -> None:
        position = checkpoint.event.case_index
        with transaction.atomic():
            renew_lease(self.claim)
            if position is not None:
                writer.replace_case(checkpoint.cases[position].to_data(), position)
            self._write_run(checkpoint)
            write_event(self.claim.run_pk, checkpoint.event, checkpoint.event.sequence)

    def _write_run(self, checkpoint: EvaluationCheckpoint, **columns: object) -> None:
        counts = {status: getattr(checkpoint.summary, status) for status in COUNTED}
        derived = run_columns(head_of(checkpoint), counts)
        Run.objects.filter(pk=self.claim.run_pk).update(**derived, **columns, updated_at=timezone.now())

    # ------------------------------------------------------------------------------------------------------------- ends

    def note_stop(self, reason: str) -> None:
        """Say why the site itself stops the run; the first reason stays."""
        with transaction.atomic():
            renew_lease(self.claim)
            write_stop(self.claim.run_pk, reason)

    def conclude(self, conclusion: Conclusion, summary: EvaluationSummary) -> None:
        """Store the end of a run whose cases were worked on in shards, and give its claim back."""
        with transaction.atomic():
            write_conclusion(self.claim, conclusion, summary)
        self._count()

    def finish(self) -> None:
        """Give back the claim of a run whose last checkpoint is stored."""
        with transaction.atomic():
            release(self.claim)
            mark_affected(run_pk=self.claim.run_pk)
        self._count()

    def reject(self, code: str, paths: tuple[str, ...], sentence: str = "") -> None:
        """End a run that could not begin."""
        self._end("rejected", code, paths, sentence)

    def interrupt(self, code: str) -> None:
        """End a run that broke off; what is stored stays. A run that has its last checkpoint keeps its status."""
        self._end("interrupted", code, (), "")

    def _end(self, status: str, code: str, paths: tuple[str, ...], sentence: str) -> None:
        now = timezone.now()
        with transaction.atomic():
            release(
                self.claim,
                error_code=storable(code),
                error_paths=[storable(path) for path in paths],
                **({"stop_reason": storable(sentence)} if sentence else {}),
            )
            Run.objects.filter(pk=self.claim.run_pk, status="running").update(status=status, updated_at=now)
            mark_affected(run_pk=self.claim.run_pk)
        self._count()

    def _count(self) -> None:
        refresh_attempts(run_pk=self.claim.run_pk)
        refresh_changes(run_pk=self.claim.run_pk)


def write_conclusion(claim: Claim, conclusion: Conclusion, summary: EvaluationSummary) -> None:
    """Store the end of a run whose cases were worked on in shards, and give its claim back.

    Part of the caller's transaction; what follows from the cases is marked, to be counted behind it. Raises LeaseLost.
    """
    release(claim)
    head = unpack(Run.objects.values_list("head", flat=True).get(pk=claim.run_pk))
    head |= {"finishedAt": conclusion.finished_at, "status": str(conclusion.status)}
    head |= {"assertions": [result.to_data() for result in conclusion.assertions]}
    counts = {status: getattr(summary, status) for status in COUNTED}
    columns = run_columns(head | {"summary": summary.to_data()}, counts)
    Run.objects.filter(pk=claim.run_pk).update(**columns, updated_at=timezone.now())
    end = RunEvent(0, EventType.RUN_COMPLETED, head["runId"])
    write_event(claim.run_pk, end, next_sequence(claim.run_pk))
    mark_affected(run_pk=claim.run_pk)


def write_event(run_pk: uuid.UUID, event: RunEvent, sequence: int | Combinable) -> None:
    """Add an event to a run, under its number in the whole run."""
    EventRow.objects.create(
        run_id=run_pk,
        sequence=sequence,
        type=str(event.type),
        position=event.case_index,
        step_id=storable(event.step_id or ""),
        at=timezone.now(),
    )


def next_sequence(run_pk: uuid.UUID) -> Combinable:
    """Return what gives a run's next event its number.

    Nobody else may add one from before the statement that uses it to the end of the caller's transaction.
    """
    last = EventRow.objects.filter(run_id=run_pk).order_by("-sequence").values("sequence")[:1]
    return Coalesce(Subquery(last), 0) + 1


def write_stop(run_pk: uuid.UUID, reason: str) -> None:
    """Say why the site itself stops a run; the first reason stays. Part of the caller's transaction."""
    Execution.objects.filter(pk=run_pk, stop_reason="").update(stop_reason=reason)


def head_of(report: EvaluationReport) -> PlainObject:
    """Return the wire form of a report without its suite and cases."""
    head: dict[str, Any] = {"schemaVersion": report.schema_version, "runId": report.run_id}
    if report.resumed_from is not None:
        head["resumedFrom"] = report.resumed_from
    head |= {"fingerprint": report.fingerprint, "target": report.target.to_data(), "startedAt": report.started_at}
    if report.finished_at is not None:
        head["finishedAt"] = report.finished_at
    head["status"] = str(report.status)
    if report.assertions is not None:
        head["assertions"] = [result.to_data() for result in report.assertions]
    return head | {"summary": report.summary.to_data()}
