"""What a page of comparison rows shows beyond the counts: repetitions, what failed first, how long it took."""

import math
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Avg, F, Q, QuerySet, When, Window
from django.db.models import Case as Choice
from django.db.models.functions import RowNumber
from evalrunner.compare import DECIDED, FailureSignature
from evalrunner.compare.outcomes import FAILING_STATUSES

from reports.models import Case, Signature, Team
from reports.selectors.compare_cases import of_both_sides, rank_order
from reports.selectors.compare_sides import Side
from reports.text import restored, storable

PIPS_SHOWN = 24


@dataclass(frozen=True, slots=True)
class ShownCase:
    """One repetition. ``rank`` counts from 1 in the order that pairs cases.

    ``failing`` says what failed, ``reason`` why it was not decided; both in stored form.
    """

    rank: int
    run: uuid.UUID
    position: int
    status: str
    failing: str
    reason: str


@dataclass(frozen=True, slots=True)
class ShownSide:
    """The first repetitions of a scenario variant on one side, the first that failed, and the mean duration.

    ``mean_ms`` is over decided cases; None without any.
    """

    cases: tuple[ShownCase, ...] = ()
    first_failing: ShownCase | None = None
    mean_ms: float | None = None


NOTHING = ShownSide()
ShownSides = tuple[ShownSide, ShownSide]


def shown_sides(sides: tuple[Side, Side], variants: Sequence[int]) -> Mapping[int, ShownSides]:
    """Read what a page shows of scenario variants; one query, at most ``PIPS_SHOWN`` + 1 cases a side of each."""
    columns = ("variant_id", "rank", "generation_id", "position", "status", "failing", "reason", "mean_ms")
    found: dict[tuple[int, int], list[tuple[Any, ...]]] = {}
    for side, variant, *case in of_both_sides(sides, columns, lambda side, cases: _ranked(side, cases, variants)):
        found.setdefault((variant, side), []).append(tuple(case))
    runs = [{run.generation: run.pk for run in side.runs} for side in sides]
    return {
        variant: (
            _shown_side(found.get((variant, 0), ()), runs[0]),
            _shown_side(found.get((variant, 1), ()), runs[1]),
        )
        for variant in variants
    }


def _ranked(side: Side, cases: QuerySet[Case], variants: Sequence[int]) -> QuerySet[Case, Any]:
    """Keep the first cases of each variant, and the first failing one wherever it stands."""
    is_failing = Q(status__in=FAILING_STATUSES)
    order = rank_order(side)
    ranked = cases.filter(variant_id__in=variants).annotate(
        rank=Window(RowNumber(), partition_by=[F("variant_id")], order_by=order),
        failing_rank=Window(
            RowNumber(), partition_by=[F("variant_id"), Choice(When(is_failing, then=1), default=0)], order_by=order
        ),
        reason=Choice(When(skip_reason="", then=F("error_code")), default=F("skip_reason")),
        mean_ms=Window(Avg(Choice(When(status__in=DECIDED, then=F("duration_ms")))), partition_by=[F("variant_id")]),
    )
    return ranked.filter(Q(rank__lte=PIPS_SHOWN) | (is_failing & Q(failing_rank=1)))


def _shown_side(rows: Iterable[tuple[Any, ...]], runs: Mapping[int | None, uuid.UUID]) -> ShownSide:
    ordered = sorted(rows)
    cases = [
        ShownCase(rank=rank, run=runs[generation], position=position, status=status, failing=failing, reason=reason)
        for rank, generation, position, status, failing, reason, _mean in ordered
    ]
    return ShownSide(
        cases=tuple(case for case in cases if case.rank <= PIPS_SHOWN),
        first_failing=next((case for case in cases if case.status in FAILING_STATUSES), None),
        mean_ms=_finite(ordered[0][-1]) if ordered else None,
    )


def _finite(number: float | None) -> float | None:
    """The largest durations have no mean that a float can hold."""
    return number if number is not None and math.isfinite(number) else None


@dataclass(frozen=True, slots=True)
class SignatureWords:
    """A failure signature in words, in stored form. ``key`` is permanent, unlike a primary key."""

    pk: int
    key: str
    words: str


def signatures_in_words(team: Team, pks: Iterable[str]) -> Mapping[str, SignatureWords]:
    """Name signatures given by the texts of their primary keys."""
    rows = Signature.objects.filter(team=team, pk__in=[int(pk) for pk in pks])
    return {str(row.pk): SignatureWords(row.pk, row.key, signature_words(row)) for row in rows}


def signature_words(signature: Signature) -> str:
    """Say in stored form what failed, as every rendering of a comparison does."""
    named = FailureSignature(
        signature.scope,
        restored(signature.step_id),
        tuple(tuple(map(restored, path)) for path in signature.assertions),
        restored(signature.error_code),
    )
    return storable(named.words)
