"""How long cases took in the runs that a target has behind it."""

from __future__ import annotations

import uuid
from functools import lru_cache
from statistics import median

from reports.domain.pacing import Earlier
from reports.models import Case, Run

RUNS_LOOKED_AT = 30
RUNS_MEASURED = 5
CASES_MEASURED = 20_000  # more tell nothing new, and reading them takes a while


def earlier_durations(*, team_pk: int, target_key: str, suite_key: str, besides: uuid.UUID | None = None) -> Earlier:
    """Return what the newest ended runs of a target tell: those of the same suite, else of others.

    ``besides`` is the run that is asked about.
    """
    runs = Run.objects.filter(team_id=team_pk, version__target__key=target_key, generation__isnull=False, total__gt=0)
    ended = runs.filter(status__in=("completed", "limited", "cancelled")).newest_first()
    if besides is not None:
        ended = ended.exclude(pk=besides)
    rows = list(ended.values_list("generation_id", "pk", "revision__suite__key")[:RUNS_LOOKED_AT])
    chosen = [row for row in rows if row[2] == suite_key] or rows
    return _measured(tuple((generation, pk) for generation, pk, _ in chosen[:RUNS_MEASURED]))


@lru_cache(maxsize=256)
def known_durations(team_pk: int, target_key: str, suite_key: str, run_pk: uuid.UUID, status: str) -> Earlier:
    """Return the same for a run that is shown again and again: looked up anew when its ``status`` moves."""
    return earlier_durations(team_pk=team_pk, target_key=target_key, suite_key=suite_key, besides=run_pk)


@lru_cache(maxsize=8)
def _measured(runs: tuple[tuple[int, uuid.UUID], ...]) -> Earlier:
    """Measure conversations that went to their end, given generations with their runs, which do not change any more.

    Of large runs, as many of the first cases as there is room for.
    """
    most = CASES_MEASURED // max(1, len(runs))
    cases = Case.objects.filter(generation_id__in=[generation for generation, _ in runs], position__lt=most)
    measured = cases.filter(status__in=("passed", "failed"), turn_count__gt=0)
    found: dict[str, list[float]] = {}
    milliseconds, turns = 0.0, 0
    for key, duration_ms, turn_count in measured.values_list("variant__key", "duration_ms", "turn_count").iterator():
        found.setdefault(key, []).append(duration_ms)
        milliseconds, turns = milliseconds + duration_ms, turns + turn_count
    if not turns:
        return Earlier()
    return Earlier(len(runs), {key: median(each) for key, each in found.items()}, milliseconds / turns)
