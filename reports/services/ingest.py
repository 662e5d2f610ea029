"""Storing a report: checked whole, staged unseen, published in one step.

The first pass checks the file to its end and spools the rows it will make; nothing is stored for a file with a fault.
Then the rows are staged in short transactions, and one short transaction makes them a run. The same report again
changes nothing; a later snapshot of the same run replaces its cases; anything else is refused (``domain.snapshots``).
"""

import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO, Literal

from django.db import IntegrityError, transaction
from django.utils import timezone
from evalrunner.canonical import digest

from reports.collector import collector_paused
from reports.domain.snapshots import case_contradiction, first_difference, head_contradiction
from reports.importers.containers import Content
from reports.importers.formats import check_content
from reports.importers.given import NOTHING, Given
from reports.importers.refusals import ReportConflict, ReportRejected
from reports.importers.report_json import CheckedReport
from reports.keys import text_key
from reports.models import Execution, Generation, Run, SuiteRevision, Team, User
from reports.payloads import unpack
from reports.selectors.stored_reports import StoredCase, iter_stored_cases
from reports.services.attempts import refresh_attempts
from reports.services.case_rows import PreparedCase, prepare_case
from reports.services.case_spool import CaseSpool
from reports.services.generations import remove_abandoned_generations, remove_generation, staged_generation
from reports.services.interning import intern_revision, intern_version
from reports.services.run_changes import mark_affected, refresh_changes
from reports.services.run_rows import run_columns
from reports.text import storable

__all__ = ["Ingested", "ReportConflict", "ReportRejected", "ingest_report"]

Outcome = Literal["created", "updated", "unchanged"]
Progress = Callable[[int, int], None]
_ATTEMPTS = 10


@dataclass(frozen=True, slots=True)
class Ingested:
    """``run_pk`` is the site's id of the run, ``run_id`` the report's own."""

    run_pk: uuid.UUID
    run_id: str
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class _Import:
    """A checked report on its way: whose it is, what it says, where it came from."""

    team: Team
    report: CheckedReport
    cases: CaseSpool
    source: Mapping[str, Any]
    on_stored: Progress | None = None

    def cases_to_store(self) -> Iterator[PreparedCase]:
        for stored, case in enumerate(self.cases):
            if self.on_stored is not None:
                self.on_stored(stored, self.cases.case_count)
            yield case

    @property
    def run_key(self) -> str:
        return text_key(self.report.head["runId"])


def ingest_report(
    *,
    team: Team,
    source: BinaryIO,
    origin: str,
    created_by: User | None = None,
    file_name: str = "",
    given: Given = NOTHING,
    on_stored: Progress | None = None,
) -> Ingested:
    """Store a report, plain or in gzip or zstd, once per team and ``runId``; ``given`` is what it does not say itself.

    ``source`` is read from where it stands to its end, in pieces, and is done with before anything is stored;
    ``on_stored`` is told (stored, all) cases while they are staged. Raises ReportRejected for content that is no report
    and ReportConflict for one that contradicts the stored run; then nothing is stored.
    """
    with collector_paused(), CaseSpool() as cases:
        content = Content(source)
        report = check_content(content, lambda case, position: cases.add(prepare_case(case, position)), given)
        origins = {
            "origin": origin,
            "file_name": storable(file_name)[:1000],
            "byte_size": report.byte_size,
            "content_hash": report.content_hash,
            "format": report.format,
        }
        remove_abandoned_generations()
        done = _store(_Import(team, report, cases, origins, on_stored), created_by)
    if done.outcome != "unchanged":
        refresh_attempts(run_pk=done.run_pk)
        refresh_changes(run_pk=done.run_pk)
    return done


def _store(new: _Import, created_by: User | None) -> Ingested:
    """Create, update or leave the run; begin again when another process was faster."""
    for _ in range(_ATTEMPTS):
        runs = Run.objects.for_team(new.team).filter(run_key=new.run_key)
        run = runs.select_related("revision").defer("revision__definition").first()
        done = _create(new, created_by) if run is None else _follow(new, run)
        if done is not None:
            return done
    raise ReportConflict("run_differs", "Other imports of this run did not come to rest. Send the report again.")


def _create(new: _Import, created_by: User | None) -> Ingested | None:
    version, revision = _interned(new)
    columns = {"ordered_at": timezone.now()} | run_columns(new.report.head, new.report.counts)
    try:
        with staged_generation(new.team, new.cases_to_store()) as generation, transaction.atomic():
            run = Run.objects.create(
                team=new.team,
                version=version,
                revision=revision,
                generation=generation,
                created_by=created_by,
                **new.source,
                **columns,
            )
            mark_affected(run_pk=run.pk)
    except IntegrityError:
        if not Run.objects.for_team(new.team).filter(run_key=new.run_key).exists():
            raise
        return None
    return Ingested(run.pk, new.report.head["runId"], "created")


def _interned(new: _Import) -> tuple[Any, SuiteRevision]:
    target = new.report.head["target"]
    version = intern_version(new.team, target_id=target["id"], fingerprint=target["fingerprint"])
    return version, intern_revision(new.team, new.report.suite)


def _follow(new: _Import, run: Run) -> Ingested | None:
    unchanged = Ingested(run.pk, new.report.head["runId"], "unchanged")
    is_executed_here = Execution.objects.filter(run=run).exists()
    if is_executed_here and run.status in ("queued", "running"):
        raise ReportConflict(
            "run_is_executed_here",
            "This run is being executed by this site; its report is written here.",
            [("runId", "")],
        )
    if run.content_hash == new.report.content_hash or not _has_changed(new, run):
        return unchanged
    if is_executed_here:
        raise ReportConflict(
            "run_is_executed_here", "This run was executed by this site and cannot be replaced.", [("runId", "")]
        )
    return _replace(new, run)


# --------------------------------------------------------------------------------------------- against what is stored


def _has_changed(new: _Import, run: Run) -> bool:
    """Tell whether a report differs from the stored run; ReportConflict unless it is a later snapshot of it."""
    comparison = _Comparison(run, new)
    comparison.compare()
    if comparison.forward is None:
        return comparison.has_changed
    path = comparison.forward
    if comparison.backward is None:
        raise ReportConflict(
            "run_is_later",
            f"This is an earlier snapshot of the run than the stored one. First difference: {path}.",
            [(path, "is further in the stored run")],
        )
    raise ReportConflict(
        "run_differs",
        f"A run with this runId is stored and differs. First difference: {path}.",
        [(path, "differs from the stored run")],
    )


class _Comparison:
    """Where the new report cannot follow the stored one (``forward``) and the other way round (``backward``)."""

    def __init__(self, run: Run, new: _Import) -> None:
        self.run, self.new = run, new
        self.stored_head = unpack(run.head)
        self.forward: str | None = None
        self.backward: str | None = None
        self.has_changed = False

    def compare(self) -> None:
        self._note(self._suite_difference(), both=True)
        self._heads()
        if self.run.total != self.new.cases.case_count:
            self._note("cases", both=True)
            return
        for stored, new in zip(iter_stored_cases(self.run.generation_id), self.new.cases, strict=True):
            if self.forward is not None and self.backward is not None:
                return
            self._cases(stored, new)

    def _note(self, forward: str | None, backward: str | None = None, *, both: bool = False) -> None:
        self.forward = self.forward or forward
        self.backward = self.backward or (forward if both else backward)

    def _suite_difference(self) -> str | None:
        suite = self.new.report.suite.to_data()
        if digest(suite) == self.run.revision.digest:
            return None
        return first_difference(unpack(self.run.revision.definition), suite, "suite") or "suite"

    def _heads(self) -> None:
        stored, new = self.stored_head, self.new.report.head
        self._note(head_contradiction(stored, new), head_contradiction(new, stored))
        own = ("finishedAt", "status", "assertions")
        self.has_changed |= any(stored.get(name) != new.get(name) for name in own)

    def _cases(self, stored: StoredCase, new: PreparedCase) -> None:
        if stored.payload == new.payload and stored.turns == [turn.payload for turn in new.turns]:
            return
        where = f"cases.{stored.position}"
        left, right = stored.to_data(), _data(new)
        self.has_changed |= first_difference(left, right) is not None
        self._note(
            case_contradiction(left, right, where, is_final=self.stored_head["status"] != "running"),
            case_contradiction(right, left, where, is_final=self.new.report.head["status"] != "running"),
        )


def _data(case: PreparedCase) -> dict[str, Any]:
    return StoredCase(case.position, case.status, case.payload, [turn.payload for turn in case.turns]).to_data()


def _replace(new: _Import, run: Run) -> Ingested | None:
    """Make a later snapshot current; None when the run has changed since it was compared."""
    assert run.generation_id is not None  # only runs that begin here are without
    version, revision = _interned(new)
    columns = run_columns(new.report.head, new.report.counts) | dict(new.source)
    with staged_generation(new.team, new.cases_to_store()) as generation, transaction.atomic():
        current = Run.objects.filter(pk=run.pk, generation_id=run.generation_id)
        replaced = current.update(
            generation=generation, version=version, revision=revision, updated_at=timezone.now(), **columns
        )
        if replaced:
            # Readers that have begun with the old cases may end with them.
            Generation.objects.filter(pk=run.generation_id).update(renewed_at=timezone.now())
            mark_affected(run_pk=run.pk)
    if not replaced:
        remove_generation(generation.pk)
        return None
    return Ingested(run.pk, new.report.head["runId"], "updated")
