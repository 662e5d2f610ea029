"""Stored counts, computed again by the functions that first computed them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Count
from django.utils import timezone

from reports.models import Case, Run
from reports.payloads import unpack
from reports.selectors.stored_reports import StoredCase, iter_stored_cases
from reports.services.attempts import count_attempts
from reports.services.case_rows import PreparedCase, prepare_case
from reports.services.outcomes import wrong_outcomes
from reports.services.run_changes import expected_change, recount_change, stored_change
from reports.services.run_rows import COUNTED, is_passing

_CASE_COLUMNS = ("status", "error_code", "skip_reason", "duration_ms", "turn_count", "failing")


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A stored value that differs from what its report gives. ``place`` names the run's column or the case."""

    run: Run
    place: str
    stored: object
    counted: object


def recount_run(run: Run, *, repair: bool) -> tuple[Disagreement, ...]:
    """Return where the stored counts of a run, and what is stored of its cases, disagree with its report.

    With ``repair`` the run's counts, its outcomes and its change are put right; what is derived for single cases is
    only named.
    """
    wrong_counts = tuple(_run_disagreements(run))
    if wrong_counts and repair:
        with transaction.atomic():
            columns = {each.place: each.counted for each in wrong_counts}
            Run.objects.filter(pk=run.pk, updated_at=run.updated_at).update(updated_at=timezone.now(), **columns)
    wrong_outcomes = tuple(_outcome_disagreements(run, repair=repair))
    wrong_change = tuple(_change_disagreements(run))
    if wrong_change and repair:
        recount_change(run_pk=run.pk)
    return (*wrong_counts, *wrong_outcomes, *wrong_change, *_case_disagreements(run))


def _outcome_disagreements(run: Run, *, repair: bool) -> Iterator[Disagreement]:
    """What is not kept yet is gathered by a worker, and until then nothing stands on it."""
    if run.change_due_at is None and wrong_outcomes(run_pk=run.pk, repair=repair):
        yield Disagreement(run, "outcomes", "kept", "others in its cases")


def _change_disagreements(run: Run) -> Iterator[Disagreement]:
    stored, counted = stored_change(run_pk=run.pk), expected_change(run_pk=run.pk)
    if run.change_due_at is not None:
        yield Disagreement(run, "change", "waits to be counted", counted)
    elif stored != counted:
        yield Disagreement(run, "change", stored, counted)


def _run_disagreements(run: Run) -> Iterator[Disagreement]:
    for column, counted in _counted(run).items():
        if getattr(run, column) != counted:
            yield Disagreement(run, column, getattr(run, column), counted)


def _counted(run: Run) -> dict[str, Any]:
    found = dict.fromkeys(COUNTED, 0)
    if run.generation_id is not None:
        cases = Case.objects.filter(generation_id=run.generation_id).order_by()
        found |= dict(cases.values_list("status").annotate(Count("id")))
    results = unpack(run.head).get("assertions", ()) if run.head else ()
    failed = sum(not result["passed"] for result in results)
    return found | {
        "total": sum(found.values()),
        "suite_assertions": len(results),
        "suite_assertions_failed": failed,
        "is_passing": is_passing(run.status, found, failed),
        "first_counts": count_attempts(run_pk=run.pk),
    }


def _case_disagreements(run: Run) -> Iterator[Disagreement]:
    stored_rows = Case.objects.filter(generation_id=run.generation_id or 0).order_by("position")
    rows = stored_rows.values("position", "variant__key", "signature__key", "repetition", *_CASE_COLUMNS)
    for row, stored in zip(rows.iterator(500), iter_stored_cases(run.generation_id), strict=False):
        for column, counted in _case_columns(stored).items():
            if row[column] != counted:
                yield Disagreement(run, f"cases.{stored.position} {column}", row[column], counted)


def _case_columns(stored: StoredCase) -> dict[str, object]:
    prepared: PreparedCase = prepare_case(stored.to_data(), stored.position)
    row = prepared.columns()
    signature = prepared.signature
    return {name: row[name] for name in (*_CASE_COLUMNS, "repetition")} | {
        "variant__key": prepared.variant_key,
        "signature__key": None if signature is None else signature.key,
    }
