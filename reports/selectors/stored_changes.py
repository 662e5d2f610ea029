"""What is stored of a run's change against its baseline, as lists and pages read it along with the run."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

from django.db.models import Q
from django.utils import timezone

from reports.models import Run
from reports.selectors.verdict_rules import rules_digest

CHANGE_COLUMNS: Final = (
    "change_due_at",
    "change__baseline",
    "change__counts",
    "change__verdict",
    "change__sentence",
    "change__reason",
    "change__holds_until",
    "change__rules",
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
    if values["change_due_at"] is not None or _is_outlived(values["change__holds_until"], values["change__rules"]):
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


def _is_outlived(holds_until: date | None, rules: str | None) -> bool:
    """Tell whether a stored change stood on a note whose last day is over, or on the rules of another release."""
    is_over = holds_until is not None and holds_until < timezone.now().date()
    return is_over or rules not in (None, rules_digest())


def outlived() -> Q:
    """Return the same as a condition on runs."""
    return Q(change__holds_until__lt=timezone.now().date()) | (
        Q(change__isnull=False) & ~Q(change__rules=rules_digest())
    )


def change_of_run(run: Run) -> RunChangeRow | None:
    """Read the change of one run."""
    return change_row(run.pk, Run.objects.values(*CHANGE_COLUMNS).get(pk=run.pk))
