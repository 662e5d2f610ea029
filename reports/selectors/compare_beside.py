"""What stands beside the rows of a comparison and never in their rates: retries that passed, and follow-ups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count, Q
from evalrunner.compare import Tally, tally

from reports.models import Case, Run, Team
from reports.selectors.attempts import retried_passes
from reports.selectors.compare_sides import POOLED, Side


@dataclass(frozen=True, slots=True)
class Beside:
    """Of one scenario variant on one side: how many cases passed only on retry, and what follow-ups made of it."""

    retried: int
    follow_ups: Tally | None


def beside_rows(
    *, team: Team, sides: tuple[Side, Side], variants: Sequence[int]
) -> Mapping[int, tuple[Beside, Beside]]:
    """Return what stands beside the rows of some variants; those with nothing are left out."""
    retried = [retried_passes(side.generations, side.lineages) for side in sides]
    follow_ups = _follow_ups(team, sides, variants)
    made = {
        variant: (
            Beside(retried[0].get(variant, 0), follow_ups[0].get(variant)),
            Beside(retried[1].get(variant, 0), follow_ups[1].get(variant)),
        )
        for variant in variants
    }
    return {variant: pair for variant, pair in made.items() if pair != (_NOTHING, _NOTHING)}


_NOTHING = Beside(0, None)


def _follow_ups(
    team: Team, sides: tuple[Side, Side], variants: Sequence[int]
) -> tuple[Mapping[int, Tally], Mapping[int, Tally]]:
    """Count the follow-ups of both versions in one query; a follow-up that is a side itself is left out."""
    places = Q()
    for side in sides:
        places |= Q(version=side.version, revision=side.revision.pk)
    own = {run.pk for side in sides for run in side.runs}
    runs = Run.objects.for_team(team).filter(places, status__in=POOLED, generation__isnull=False)
    found = runs.exclude(follow_up="").exclude(pk__in=own).values_list("generation_id", "version_id")
    versions = dict(found)
    if not versions:
        return {}, {}
    cases = Case.objects.filter(generation_id__in=versions, variant_id__in=variants).order_by()
    counts: dict[tuple[int, int], dict[str, int]] = {}
    for generation, variant, status, number in cases.values_list("generation_id", "variant_id", "status").annotate(
        Count("pk")
    ):
        of_variant = counts.setdefault((versions[generation], variant), {})
        of_variant[status] = of_variant.get(status, 0) + number
    left, right = (
        {variant: tally(counted) for (version, variant), counted in counts.items() if version == side.version}
        for side in sides
    )
    return left, right
