"""Keeping the change of runs against their baselines: counted when a run is stored, so that lists only read it."""

import uuid
from typing import Any

from reports.models import RunChange
from reports.selectors.run_changes import CountedRun, affected_runs, baseline_of, change_counts, counted_run

Columns = dict[str, Any]
_NAMES = ("baseline_id", "generation", "baseline_generation", "counts")


def refresh_changes(*, run_pk: uuid.UUID) -> None:
    """Count the change of a run anew, and of those whose baseline it may have become; the same again does nothing."""
    run = counted_run(run_pk)
    for pk in affected_runs(run) if run else ():
        refresh_change(run_pk=pk)


def refresh_change(*, run_pk: uuid.UUID, anew: bool = False) -> None:
    """Count the change of one run where its baseline or the cases of either are others than those counted, or anew."""
    run = counted_run(run_pk)
    baseline = baseline_of(run) if run and run.is_countable else None
    stored = stored_change(run_pk=run_pk)
    if run is None or baseline is None:
        RunChange.objects.filter(run=run_pk).delete()
    elif anew or stored is None or not _is_about(stored, baseline, run):
        _store(run_pk, _counted(baseline, run))


def stored_change(*, run_pk: uuid.UUID) -> Columns | None:
    """Return what is stored of a run's change; None where it has none."""
    found: Columns | None = RunChange.objects.filter(run=run_pk).values(*_NAMES).first()
    return found


def count_change(*, run_pk: uuid.UUID) -> Columns | None:
    """Return what should be stored of a run's change; None where it should have none."""
    run = counted_run(run_pk)
    baseline = baseline_of(run) if run and run.is_countable else None
    return _counted(baseline, run) if run and baseline else None


def _counted(baseline: CountedRun, run: CountedRun) -> Columns:
    return {
        "baseline_id": baseline.pk,
        "generation": run.generation,
        "baseline_generation": baseline.generation,
        "counts": change_counts(baseline, run),
    }


def _is_about(stored: Columns, baseline: CountedRun, run: CountedRun) -> bool:
    counted = (stored["baseline_id"], stored["generation"], stored["baseline_generation"])
    return counted == (baseline.pk, run.generation, baseline.generation)


def _store(run_pk: uuid.UUID, columns: Columns) -> None:
    """Write the row in one statement: two processes may count the same run at once."""
    RunChange.objects.bulk_create(
        [RunChange(run_id=run_pk, **columns)],
        update_conflicts=True,
        unique_fields=["run"],
        update_fields=["baseline", "generation", "baseline_generation", "counts"],
    )
