"""What is stored of a run's change against its baseline, as lists and pages read it along with the run."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.utils import timezone

from reports.models import Run

CHANGE_COLUMNS: Final = (
    "change_due_at",
    "change__baseline",
    "change__counts",
    "change__verdict",
    "change__sentence",
    "change__reason",
    "change__holds_until",
)


@dataclass(frozen=True, slots=True)
class RunChangeRow:
    """A run against its baseline; the members are those of ``RunChange``.

    ``is_due``: it is being counted anew; the other members are empty then, so that nobody shows what no longer holds.
    """

    run_pk: uuid.UUID
    baseline_pk: uuid.UUID | None = None
    verdict: str = ""
    sentence: str = ""
    reason: str = ""
    counts: Mapping[str, int] | None = None
    is_due: bool = False


def change_row(run_pk: uuid.UUID, values: Mapping[str, Any]) -> RunChangeRow | None:
    """Make a row of ``CHANGE_COLUMNS`` as a query over runs reads them; None where nothing is the run's baseline."""
    holds_until = values["change__holds_until"]
    if values["change_due_at"] is not None or (holds_until is not None and holds_until < timezone.now().date()):
        return RunChangeRow(run_pk, is_due=True)
    if values["change__baseline"] is None:
        return None
    return RunChangeRow(
        run_pk=run_pk,
        baseline_pk=values["change__baseline"],
        verdict=values["change__verdict"],
        sentence=values["change__sentence"],
        reason=values["change__reason"],
        counts=values["change__counts"],
    )


def change_of_run(run: Run) -> RunChangeRow | None:
    """Read the change of one run."""
    return change_row(run.pk, Run.objects.values(*CHANGE_COLUMNS).get(pk=run.pk))
