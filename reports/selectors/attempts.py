"""Attempts at the same case in a lineage: a run with what it resumed or retried, and which attempt counts.

Rates count the first decided attempt (``evalrunner.compare.samples_of``); here the same rule is said in SQL.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from django.db.models import Case as Choice
from django.db.models import Count, Exists, F, IntegerField, OuterRef, QuerySet, Value, When, Window
from django.db.models.functions import FirstValue
from evalrunner.compare import DECIDED
from evalrunner.compare.outcomes import FAILING_STATUSES

from reports.keys import text_key
from reports.models import CASE_STATUSES, Case, Run
from reports.text import restored

LONGEST_LINEAGE = 100


class Link(NamedTuple):
    """A run of a lineage. ``verb`` is "" where it was imported."""

    pk: uuid.UUID
    run_id: str
    resumed_from: str
    generation: int | None
    follow_up: str


def counting_attempts(generations: Sequence[int], lineages: Sequence[int]) -> QuerySet[Case]:
    """Return the cases that count, of runs in order: of attempts at the same case in one lineage one alone.

    That is the first decided one; where none is decided, the last.
    """
    cases = Case.objects.filter(generation_id__in=generations)
    place = numbered(generations, range(len(generations)))
    is_decided = Choice(When(status__in=DECIDED, then=0), default=1, output_field=IntegerField())
    attempts = cases.annotate(
        counting=Window(
            FirstValue("generation_id"),
            partition_by=[numbered(generations, lineages), F("variant_id"), F("repetition")],
            order_by=[
                is_decided.asc(),
                Choice(When(status__in=DECIDED, then=place), default=-place, output_field=IntegerField()).asc(),
            ],
        )
    )
    return Case.objects.filter(pk__in=attempts.filter(counting=F("generation_id")).values("pk"))


def numbered(generations: Sequence[int], numbers: Sequence[int]) -> Choice:
    """Give each generation its number, in SQL."""
    whens = (When(generation_id=key, then=Value(number)) for key, number in zip(generations, numbers, strict=True))
    return Choice(*whens, default=Value(0), output_field=IntegerField())


# ---------------------------------------------------------------------------------------------------- one run's lineage


def ancestors_of(*, team_pk: int, resumed_from: str) -> tuple[Link, ...]:
    """Return what a run continues, the oldest first, as far as the team has it; reports may claim circles."""
    found: list[Link] = []
    seen = set()
    while resumed_from and resumed_from not in seen and len(found) < LONGEST_LINEAGE:
        seen.add(resumed_from)
        runs = Run.objects.filter(team=team_pk, run_key=text_key(restored(resumed_from)))
        row = runs.values_list("pk", "run_id", "resumed_from", "generation_id", "follow_up").first()
        if row is None:
            break
        found.append(Link(*row))
        resumed_from = found[-1].resumed_from
    return tuple(reversed(found))


def descendants_of(*, team_pk: int, run_key: str | None) -> tuple[uuid.UUID, ...]:
    """Return the runs that continue a run, directly or over others."""
    found: dict[uuid.UUID, str | None] = {}
    parents = {run_key} - {None}
    while parents and len(found) < LONGEST_LINEAGE:
        runs = Run.objects.filter(team=team_pk, resumed_key__in=parents)
        new = {pk: key for pk, key in runs.values_list("pk", "run_key") if pk not in found}
        found |= new
        parents = set(new.values()) - {None}
    return tuple(found)


def first_counts(*, generation: int | None, earlier: Sequence[Link]) -> dict[str, int] | None:
    """Count by status the attempts of a run's lineage that rates count; None where they are the run's own."""
    generations = [link.generation for link in earlier if link.generation is not None]
    if generation is None or not generations:
        return None
    chain = [*generations, generation]
    counted = counting_attempts(chain, [0] * len(chain)).order_by().values_list("status").annotate(Count("pk"))
    found = dict(counted)
    return {status: found.get(status, 0) for status in CASE_STATUSES}


def passed_on_retry(*, generation: int, earlier: Sequence[int]) -> QuerySet[Case]:
    """Return the cases of a run that pass now and were failed or in error in an earlier attempt."""
    before = Case.objects.filter(
        generation_id__in=earlier,
        variant_id=OuterRef("variant_id"),
        repetition=OuterRef("repetition"),
        status__in=FAILING_STATUSES,
    )
    return Case.objects.filter(Exists(before), generation_id=generation, status="passed")


def retried_passes(generations: Sequence[int], lineages: Sequence[int]) -> Mapping[int, int]:
    """Count by scenario variant the cases whose counting attempt failed and of which a later attempt passed."""
    if len(set(lineages)) == len(lineages):
        return {}
    failed = counting_attempts(generations, lineages).filter(status__in=FAILING_STATUSES)
    counts: dict[int, int] = {}
    for own in _shared(lineages):
        members = [key for key, lineage in zip(generations, lineages, strict=True) if lineage == own]
        later = Case.objects.filter(
            generation_id__in=members,
            variant_id=OuterRef("variant_id"),
            repetition=OuterRef("repetition"),
            status="passed",
        )
        rows = failed.filter(Exists(later), generation_id__in=members).order_by().values_list("variant_id")
        for variant, number in rows.annotate(Count("pk")):
            counts[variant] = counts.get(variant, 0) + number
    return counts


def _shared(lineages: Collection[int]) -> set[int]:
    """Return the lineages that have several runs."""
    return {each for each in lineages if sum(other == each for other in lineages) > 1}
