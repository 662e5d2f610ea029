"""Keeping what rates count of runs that resumed or retried others, so that lists only read it."""

from __future__ import annotations

import uuid

from reports.models import Run
from reports.selectors.attempts import ancestors_of, descendants_of, first_counts


def refresh_attempts(*, run_pk: uuid.UUID) -> None:
    """Count anew a run and those that continue it; a run that continues a follow-up is one. Safe to repeat."""
    row = Run.objects.filter(pk=run_pk).values_list("team_id", "run_key").first()
    if row is None:
        return
    for pk in (run_pk, *descendants_of(team_pk=row[0], run_key=row[1])):
        _refresh(pk)


def _refresh(run_pk: uuid.UUID) -> None:
    columns = ("team_id", "resumed_from", "generation_id", "follow_up", "first_counts")
    row = Run.objects.filter(pk=run_pk).values_list(*columns).first()
    if row is None or not (row[1] or row[4]):
        return
    team_pk, resumed_from, generation, follow_up, stored = row
    earlier = ancestors_of(team_pk=team_pk, resumed_from=resumed_from)
    counted = first_counts(generation=generation, earlier=earlier)
    inherited = follow_up or next((link.follow_up for link in earlier if link.follow_up), "")
    if (counted, inherited) != (stored, follow_up):
        Run.objects.filter(pk=run_pk, generation=generation).update(first_counts=counted, follow_up=inherited)


def count_attempts(*, run_pk: uuid.UUID) -> dict[str, int] | None:
    """Return what should be stored of a run's counting attempts."""
    team_pk, resumed_from, generation = Run.objects.values_list("team_id", "resumed_from", "generation_id").get(
        pk=run_pk
    )
    return first_counts(generation=generation, earlier=ancestors_of(team_pk=team_pk, resumed_from=resumed_from))
