"""Staging of cases: written in many short transactions, invisible until a run points to them."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta

from django.utils import timezone

from reports.models import Case, Generation, Team, Turn
from reports.services.case_rows import MAX_BYTES, MAX_ROWS, CaseWriter, PreparedCase

ABANDONED_AFTER_S = 600
_BATCH = 500


@contextmanager
def staged_generation(team: Team, cases: Iterable[PreparedCase]) -> Iterator[Generation]:
    """Write cases into a new generation; it is removed again when the body raises."""
    generation = Generation.objects.create(team=team, renewed_at=timezone.now())
    try:
        writer = CaseWriter(team, generation)
        for batch in _batches(cases):
            writer.write_cases(batch)
        yield generation
    except BaseException:
        remove_generation(generation.pk)
        raise


def _batches(cases: Iterable[PreparedCase]) -> Iterator[list[PreparedCase]]:
    batch: list[PreparedCase] = []
    rows = size = 0
    for case in cases:
        batch.append(case)
        rows += 1 + len(case.turns)
        size += case.byte_size
        if rows >= MAX_ROWS or size >= MAX_BYTES:
            yield batch
            batch, rows, size = [], 0, 0
    if batch:
        yield batch


def remove_generation(pk: int) -> None:
    """Remove a generation that is not current, in short transactions; safe to repeat and to break off."""
    while ids := list(Case.objects.filter(generation_id=pk).values_list("pk", flat=True)[:_BATCH]):
        turns = Turn.objects.filter(case_id__in=ids)
        turns._raw_delete(turns.db)  # nothing hangs on a turn, and a cascade would load each row
        cases = Case.objects.filter(pk__in=ids)
        cases._raw_delete(cases.db)
    Generation.objects.filter(pk=pk, current_run__isnull=True).delete()


def remove_abandoned_generations() -> int:
    """Remove what dead imports staged and what later snapshots replaced; return how many generations it were.

    What was replaced stays for a while, so that a reader that has begun with it can end with it.
    """
    since = timezone.now() - timedelta(seconds=ABANDONED_AFTER_S)
    abandoned = list(Generation.objects.abandoned(since=since).values_list("pk", flat=True)[:100])
    for pk in abandoned:
        remove_generation(pk)
    return len(abandoned)
