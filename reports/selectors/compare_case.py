"""Two cases of one scenario variant, read for the side by side.

All turns of both are looked at once, one pair at a time, to find where the conversations part; only the turns of a
window are then read again to be shown. Once they have parted no more than ``MOST_BYTES`` are decoded, and
``MOST_EQUAL_BYTES`` while they have not: what lies beyond is marked as not looked at.
"""

import json
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Window
from django.db.models.functions import RowNumber
from evalrunner.compare import (
    IgnoreRules,
    Repetition,
    TurnDifference,
    TurnMark,
    align,
    turn_difference,
)

from reports import payloads
from reports.keys import text_key
from reports.models import Case, Scenario, Turn
from reports.selectors.compare_cases import of_both_sides, rank_order
from reports.selectors.compare_sides import Side
from reports.text import restored

Results = Sequence[Mapping[str, Any]]
Definition = Mapping[str, Any] | None

MOST_BYTES = 16_000_000
MOST_EQUAL_BYTES = 64_000_000
REPETITIONS_OFFERED = 200
_UNMATCHED_READ = 200  # turns whose inputs are read to align what step ids do not


@dataclass(frozen=True, slots=True)
class CaseSketch:
    """One repetition of a scenario variant on one side. ``rank`` counts from 1; texts are in stored form."""

    rank: int
    pk: int
    run: uuid.UUID
    position: int
    repetition: int
    status: str
    signature: str
    turns: int
    name: str
    failing: str
    error_code: str
    skip_reason: str

    def as_repetition(self) -> Repetition:
        return Repetition(self.rank, self.status, self.signature, self.turns)


@dataclass(frozen=True, slots=True)
class TurnSketch:
    """A turn without its heavy parts; texts in stored form."""

    position: int
    step_id: str
    status: str
    error_code: str
    duration_ms: float


@dataclass(frozen=True, slots=True)
class Entry:
    """One place of the aligned conversations; a side without a turn there has None."""

    left: TurnSketch | None
    right: TurnSketch | None
    mark: TurnMark
    difference: TurnDifference | None


@dataclass(frozen=True, slots=True)
class Asked:
    """What the address asks: repetitions by rank (0 for the typical ones), a turn, and a path in its observation.

    ``turn`` is the number of the candidate's turn, or "left-" and the number of the baseline's; "" for none.
    """

    left: int = 0
    right: int = 0
    turn: str = ""
    path: tuple[str | int, ...] | None = None


def sketches(sides: tuple[Side, Side], variant: int) -> tuple[tuple[CaseSketch, ...], tuple[CaseSketch, ...]]:
    """Return the repetitions of a scenario variant on both sides, the first ``REPETITIONS_OFFERED`` of each."""
    columns = ("rank", "pk", "generation_id", "position", "repetition", "status", "signature_id", "turn_count")
    texts = ("name", "failing", "error_code", "skip_reason")
    rows = of_both_sides(
        sides,
        (*columns, *texts),
        lambda side, cases: (
            cases.filter(variant_id=variant)
            .annotate(rank=Window(RowNumber(), order_by=rank_order(side)))
            .filter(rank__lte=REPETITIONS_OFFERED)
        ),
    )
    runs = [{run.generation: run.pk for run in side.runs} for side in sides]
    found: tuple[list[CaseSketch], list[CaseSketch]] = ([], [])
    for side, rank, pk, generation, position, repetition, status, signature, *rest in sorted(
        rows, key=lambda row: row[1]
    ):
        case = (rank, pk, runs[side][generation], position, repetition, status, str(signature or ""), *rest)
        found[side].append(CaseSketch(*case))
    return tuple(found[0]), tuple(found[1])


def outlines(left: int | None, right: int | None) -> tuple[tuple[TurnSketch, ...], tuple[TurnSketch, ...]]:
    """Return the turns of both cases without their heavy parts."""
    rows = Turn.objects.filter(case_id__in=[pk for pk in (left, right) if pk is not None]).order_by("position")
    found: dict[int | None, list[TurnSketch]] = {left: [], right: []}
    columns = ("position", "step_id", "status", "error_code", "duration_ms")
    for row in rows.values("case_id", *columns):
        found[row["case_id"]].append(TurnSketch(**{name: row[name] for name in columns}))
    return tuple(found[left]) if left is not None else (), tuple(found[right]) if right is not None else ()


def entries(left: int | None, right: int | None, *, ignored: IgnoreRules | None = None) -> tuple[Entry, ...]:
    """Align the turns of two cases and tell of each pair what differs; either case may be missing."""
    outline = outlines(left, right)
    inputs = _inputs(left, outline[0], outline[1]), _inputs(right, outline[1], outline[0])
    aligned = align(
        # What was not read is like nothing on the other side.
        [(turn.step_id, inputs[0].get(turn.position, ("left", turn.position))) for turn in outline[0]],
        [(turn.step_id, inputs[1].get(turn.position, ("right", turn.position))) for turn in outline[1]],
    )
    differences = _differences(left, right, [(i, j) for i, j in aligned if i is not None and j is not None], ignored)
    return tuple(
        _entry(
            outline[0][i] if i is not None else None,
            outline[1][j] if j is not None else None,
            differences.get(i) if i is not None and j is not None else None,
        )
        for i, j in aligned
    )


def _entry(left: TurnSketch | None, right: TurnSketch | None, difference: TurnDifference | None) -> Entry:
    if left is None or right is None:
        return Entry(left, right, TurnMark.ONLY_RIGHT if left is None else TurnMark.ONLY_LEFT, None)
    if difference is None:
        return Entry(left, right, TurnMark.UNREAD, None)
    return Entry(left, right, TurnMark.CHANGED if difference.is_any else TurnMark.EQUAL, difference)


def _inputs(case: int | None, outline: Sequence[TurnSketch], other: Sequence[TurnSketch]) -> Mapping[int, str]:
    """Read the inputs of turns whose step the other side does not have; usually there are none."""
    known = {turn.step_id for turn in other}
    places = [turn.position for turn in outline if turn.step_id not in known][:_UNMATCHED_READ]
    if case is None or not places or not other:
        return {}
    return {place: json.dumps(turn["input"], sort_keys=True) for place, turn in turn_data(case, places).items()}


def _differences(
    left: int | None, right: int | None, pairs: Sequence[tuple[int, int]], ignored: IgnoreRules | None
) -> dict[int, TurnDifference]:
    """Compare pairs of turns, given in order by their places, until too much was read."""
    found: dict[int, TurnDifference] = {}
    if left is None or right is None or not pairs:
        return found
    streams = _stream(left, [i for i, _j in pairs]), _stream(right, [j for _i, j in pairs])
    read, has_parted = 0, False
    for (i, _j), (size, before), (other_size, after) in zip(pairs, *streams, strict=True):
        found[i] = turn_difference(before, after, ignored=ignored)
        has_parted |= found[i].is_any
        read += size + other_size
        if read > (MOST_BYTES if has_parted else MOST_EQUAL_BYTES):
            break
    return found


def _stream(case: int, places: Sequence[int]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the turns at some places of a case, in order, each with its size in bytes."""
    wanted = set(places)
    rows = Turn.objects.filter(case_id=case).order_by("position").values_list("position", "payload")
    for position, payload in rows.iterator(chunk_size=10):
        if position in wanted:
            text = payloads.unpack_bytes(payload)
            yield len(text), json.loads(text)


def turn_data(case: int | None, places: Sequence[int]) -> Mapping[int, dict[str, Any]]:
    """Read the turns of a case at some places."""
    if case is None or not places:
        return {}
    rows = Turn.objects.filter(case_id=case, position__in=places).values_list("position", "payload")
    return {position: payloads.unpack(payload) for position, payload in rows}


def case_results(
    left: int | None, right: int | None
) -> tuple[Sequence[Mapping[str, Any]], Sequence[Mapping[str, Any]]]:
    """Return the results of the scenario's own assertions of both cases."""
    rows = Case.objects.filter(pk__in=[pk for pk in (left, right) if pk is not None]).values_list("pk", "payload")
    found: dict[int | None, Results] = {pk: payloads.unpack(payload).get("assertions") or () for pk, payload in rows}
    return found.get(left, ()), found.get(right, ())


def definitions(
    sides: tuple[Side, Side], scenario_id: str
) -> tuple[Mapping[str, Any] | None, Mapping[str, Any] | None]:
    """Return the scenario as both sides define it, as plain data; None where a suite does not have it."""
    revisions = [side.revision.pk for side in sides]
    key = text_key(restored(scenario_id))
    rows = Scenario.objects.filter(revision_id__in=revisions, key=key).values_list("revision_id", "definition")
    found: dict[int, Definition] = {pk: payloads.unpack(definition) for pk, definition in rows if definition}
    return found.get(revisions[0]), found.get(revisions[1])
