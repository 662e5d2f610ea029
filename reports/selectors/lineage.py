"""The runs that a run is linked to: what it continues or follows up, and what continues it or follows it up."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from django.db.models import QuerySet

from reports.models import Case, Execution, Run
from reports.selectors.attempts import ancestors_of, passed_on_retry

SHOWN = 10
Relation = Literal["continues", "continued", "follows", "followed"]


@dataclass(frozen=True, slots=True)
class Relative:
    """A linked run. ``verb`` is "resume" or "retry" where this site executed the later of both, else ""."""

    pk: uuid.UUID
    relation: Relation
    verb: str
    ordered_at: datetime
    status: str


def relatives_of(run: Run) -> tuple[Relative, ...]:
    """Return the runs that a run is linked to, what was before it first."""
    return (
        *_continued_by(run),
        *(_relatives(Run.objects.filter(pk=run.follows_id), "follows") if run.follows_id is not None else ()),
        *_continuing(run),
        *_relatives(Run.objects.filter(team_id=run.team_id, follows=run.pk, resumed_from=""), "followed"),
    )


def _continued_by(run: Run) -> tuple[Relative, ...]:
    earlier = ancestors_of(team_pk=run.team_id, resumed_from=run.resumed_from)
    if not earlier:
        return ()
    verb = Execution.objects.filter(pk=run.pk).values_list("verb", flat=True).first() or ""
    return _relatives(Run.objects.filter(pk=earlier[-1].pk), "continues", verb)


def _continuing(run: Run) -> tuple[Relative, ...]:
    if run.run_key is None:
        return ()
    return _relatives(Run.objects.filter(team_id=run.team_id, resumed_key=run.run_key), "continued")


def _relatives(runs: QuerySet[Run], relation: Relation, verb: str = "") -> tuple[Relative, ...]:
    rows = runs.order_by("ordered_at", "pk").values_list("pk", "execution__verb", "ordered_at", "status")[:SHOWN]
    return tuple(Relative(pk, relation, verb or own or "", at, status) for pk, own, at, status in rows)


def places_passed_on_retry(run: Run, places: Sequence[int]) -> frozenset[int]:
    """Return those places whose cases pass now and failed in an earlier attempt."""
    if run.first_counts is None or run.generation_id is None:
        return frozenset()
    return frozenset(_passed(run).filter(position__in=places).values_list("position", flat=True))


def count_passed_on_retry(run: Run) -> int:
    return 0 if run.first_counts is None or run.generation_id is None else _passed(run).count()


def _passed(run: Run) -> QuerySet[Case]:
    earlier = ancestors_of(team_pk=run.team_id, resumed_from=run.resumed_from)
    generations = [link.generation for link in earlier if link.generation is not None]
    return passed_on_retry(generation=run.generation_id or 0, earlier=generations)
