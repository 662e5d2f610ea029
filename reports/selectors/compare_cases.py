"""The cases of a side as a queryset: all cases of its runs, or the one attempt of each that counts."""

from collections.abc import Callable, Sequence
from typing import Any

from django.db.models import Case as Choice
from django.db.models import F, IntegerField, OrderBy, QuerySet, Value, When, Window
from django.db.models.functions import FirstValue
from evalrunner.compare import DECIDED

from reports.models import Case
from reports.selectors.compare_sides import Side

BASELINE, CANDIDATE = 0, 1


def cases_of_side(side: Side) -> QuerySet[Case]:
    """Return the cases that count: of attempts at the same case in one lineage only the first decided one.

    The same rule as ``evalrunner.compare.samples_of``, said in SQL.
    """
    cases = Case.objects.filter(generation_id__in=side.generations)
    if not side.has_lineages:
        return cases
    is_decided = Choice(When(status__in=DECIDED, then=0), default=1, output_field=IntegerField())
    place = run_place(side)
    attempts = cases.annotate(
        counting=Window(
            FirstValue("generation_id"),
            partition_by=[_lineage(side), F("variant_id"), F("repetition")],
            # Decided attempts in order of their runs; where there is none, the last one stands.
            order_by=[
                is_decided.asc(),
                Choice(When(status__in=DECIDED, then=place), default=-place, output_field=IntegerField()).asc(),
            ],
        )
    )
    return Case.objects.filter(pk__in=attempts.filter(counting=F("generation_id")).values("pk"))


def run_place(side: Side) -> Choice:
    """Return the place of a case's run in the order of the side, from 0."""
    return _numbered(side.generations, range(len(side.generations)))


def rank_order(side: Side) -> list[OrderBy]:
    """Return the order that pairs cases: start of the run, runId, repetition, place in the report."""
    places = [run_place(side).asc()] if len(side.generations) > 1 else []
    return [*places, F("repetition").asc(), F("position").asc()]


def _lineage(side: Side) -> Choice:
    return _numbered(side.generations, side.lineages)


def _numbered(generations: Sequence[int], numbers: Sequence[int]) -> Choice:
    whens = (When(generation_id=key, then=Value(number)) for key, number in zip(generations, numbers, strict=True))
    return Choice(*whens, default=Value(0), output_field=IntegerField())


def of_both_sides(
    sides: tuple[Side, Side], columns: Sequence[str], narrow: Callable[[Side, QuerySet[Case]], QuerySet[Any]]
) -> QuerySet[Any, tuple[Any, ...]]:
    """Read columns of both sides in one query; each row begins with ``BASELINE`` or ``CANDIDATE``."""
    left, right = (
        narrow(side, cases_of_side(side)).annotate(side=Value(number)).order_by().values_list("side", *columns)
        for number, side in enumerate(sides)
    )
    both: QuerySet[Any, tuple[Any, ...]] = left.union(right, all=True)
    return both
