"""The outcomes of the runs of a side: those that are kept, and gathered from the cases where none are."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from django.db.models import QuerySet, TextField
from django.db.models.functions import Cast

from reports import payloads
from reports.domain.outcomes import Name, Outcomes, gathered, outcomes_of_data
from reports.models import Case, CaseOutcomes, ScenarioVariant
from reports.selectors.compare_cases import cases_of_side, run_place
from reports.selectors.compare_sides import Side

_CHUNK = 5_000
_COLUMNS = ("variant_id", "status", "signature_id")


def outcomes_of_sides(sides: Sequence[Side]) -> list[list[Outcomes]]:
    """Return the outcomes of each side, run by run; one query where all of them are kept.

    Where attempts at a case must be chosen, the side is read case by case.
    """
    generations = {key for side in sides if not side.has_lineages for key in side.generations}
    known = kept_outcomes(generations)
    for key in generations - known.keys():
        known[key] = gather_outcomes(generation=key)
    return [
        [_gathered_lineages(side)] if side.has_lineages else [known[key] for key in side.generations] for side in sides
    ]


def kept_outcomes(generations: Collection[int]) -> dict[int, Outcomes]:
    """Return the outcomes that are kept of some generations."""
    rows = CaseOutcomes.objects.filter(generation__in=generations).values_list("generation_id", "payload")
    read = ((key, outcomes_of_data(payloads.unpack(payload))) for key, payload in rows)
    return {key: found for key, found in read if found is not None}


def gather_outcomes(*, generation: int) -> Outcomes:
    """Gather the outcomes of a run from its cases."""
    cases = Case.objects.filter(generation_id=generation)
    rows: list[tuple[Any, ...]] = list(
        cases.order_by("position").values_list("repetition", *_COLUMNS).iterator(chunk_size=_CHUNK)
    )
    rows.sort(key=lambda row: row[0])  # stable, and nearly in order as it comes
    return gathered((row[1:] for row in rows), _names(cases))


def _gathered_lineages(side: Side) -> Outcomes:
    cases = cases_of_side(side)
    rows = cases.annotate(place=run_place(side)).order_by("place", "repetition", "position").values_list(*_COLUMNS)
    return gathered(rows.iterator(chunk_size=_CHUNK), _names(Case.objects.filter(generation_id__in=side.generations)))


def _names(cases: QuerySet[Case]) -> Mapping[int, Name]:
    present = cases.order_by().values("variant_id")
    rows = ScenarioVariant.objects.filter(pk__in=present).annotate(text=Cast("variants", TextField()))
    return {
        pk: (scenario_id, text)
        for pk, scenario_id, text in rows.values_list("pk", "scenario_id", "text").iterator(chunk_size=_CHUNK)
    }
