"""Remembering when a comparison of versions was first looked at: what is repeated afterwards was repeated knowingly."""

from datetime import datetime

from reports.keys import text_key
from reports.models import ComparisonLook, Team
from reports.selectors.compare_sides import Side


def remember_look(*, team: Team, sides: tuple[Side, Side]) -> datetime | None:
    """Return when the team first looked, if runs joined a side since then; None otherwise.

    Sides that are single runs gain no repetitions, so that a pair of them is not remembered.
    """
    if all(side.token.kind == "run" for side in sides):
        return None
    key = text_key("|".join(f"{side.token.kind}:{side.version}:{side.revision.pk}:{side.token.run}" for side in sides))
    present = [sorted(side.generations) for side in sides]
    found = ComparisonLook.objects.for_team(team).filter(key=key).values_list("generations", "at").first()
    if found is None:
        look = ComparisonLook(team=team, key=key, generations=present)
        ComparisonLook.objects.bulk_create([look], ignore_conflicts=True)
        return None
    before, at = found
    grew = any(set(now) - set(then) and len(now) > len(then) for then, now in zip(before, present, strict=True))
    return at if grew else None
