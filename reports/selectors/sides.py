"""The name of what can stand on a side of a comparison: ``run:<uuid>`` or ``version:<pk>``, perhaps with a revision."""

import uuid

from reports.domain.wording import day_in_words
from reports.models import Run, Team, Version


def name_of_side(*, team: Team, side: str) -> str | None:
    """Return a side's name in stored form, or None where the team has no such run or version."""
    kind, _, key = side.partition(":") if ":" in side else ("run", ":", side)
    if kind == "run":
        return _name_of_run(team, key)
    return _name_of_version(team, key.partition(":")[0]) if kind == "version" else None


def _name_of_run(team: Team, key: str) -> str | None:
    try:
        pk = uuid.UUID(key)
    except ValueError:
        return None
    fields = ("version__target__target_id", "version__fingerprint", "revision__suite__suite_id", "ordered_at")
    found = Run.objects.for_team(team).filter(pk=pk).values_list(*fields).first()
    if found is None:
        return None
    target, fingerprint, suite, at = found
    return f"{target} @ {fingerprint} · {suite} · {day_in_words(at)}"


def _name_of_version(team: Team, key: str) -> str | None:
    if not (key.isascii() and key.isdigit() and len(key) < 19):
        return None
    found = Version.objects.filter(pk=int(key), target__team=team).values_list("target__target_id", "fingerprint")
    return next((f"{target} @ {fingerprint}" for target, fingerprint in found), None)
