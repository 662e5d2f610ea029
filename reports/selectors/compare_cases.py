"""The cases of a side as a queryset: all cases of its runs, or the one attempt of each that counts."""

from collections.abc import Callable, Sequence
from typing import Any

from django.db.models import Case as Choice
from django.db.models import F, OrderBy, QuerySet, Value

from reports.models import Case
from reports.selectors.attempts import counting_attempts, numbered
from reports.selectors.compare_sides import Side

BASELINE, CANDIDATE = 0, 1


def cases_of_side(side: Side) -> QuerySet[Case]:
    """Return the cases that count: of attempts at the same case in one lineage only the first decided one.

    The same rule as ``evalrunner.compare.samples_of``, said in SQL.
    """
    if not side.has_lineages:
        return Case.objects.filter(generation_id__in=side.generations)
    return counting_attempts(side.generations, side.lineages)


def run_place(side: Side) -> Choice:
    """Return the place of a case's run in the order of the side, from 0."""
    return numbered(side.generations, range(len(side.generations)))


def rank_order(side: Side) -> list[OrderBy]:
    """Return the order that pairs cases: start of the run, runId, repetition, place in the report."""
    places = [run_place(side).asc()] if len(side.generations) > 1 else []
    return [*places, F("repetition").asc(), F("position").asc()]


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
