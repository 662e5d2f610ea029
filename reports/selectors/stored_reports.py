"""Stored cases in the wire format, read in bounded memory."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from reports.models import Case, Turn
from reports.payloads import unpack

_Row = tuple[int, int, bytes | memoryview, int, str]
CHUNK = 200  # cases
_CHUNK_TURNS = 50  # turns read at once: each may hold megabytes


class StoredCase(NamedTuple):
    """A case as its payload columns; ``turns`` are in order."""

    position: int
    status: str
    payload: bytes
    turns: list[bytes]

    def to_data(self) -> dict[str, Any]:
        data: dict[str, Any] = unpack(self.payload)
        return data | {"turns": [unpack(turn) for turn in self.turns]}


def iter_stored_cases(generation_id: int | None) -> Iterator[StoredCase]:
    """Give the cases of a generation in the order of the report."""
    begin = 0
    while generation_id is not None:
        rows = Case.objects.filter(generation_id=generation_id, position__gte=begin).order_by("position")
        chunk: list[_Row] = list(rows.values_list("pk", "position", "payload", "turn_count", "status")[:CHUNK])
        yield from _with_turns(chunk)
        if len(chunk) < CHUNK:
            return
        begin = chunk[-1][1] + 1


def get_stored_case(generation_id: int | None, position: int) -> StoredCase | None:
    """Return one case of a generation, None where there is none at this place."""
    rows = Case.objects.filter(generation_id=generation_id) if generation_id is not None else Case.objects.none()
    columns = rows.filter(position=position).values_list("pk", "position", "payload", "turn_count", "status")
    return next(_read_turns(list(columns)), None)


def _with_turns(chunk: list[_Row]) -> Iterator[StoredCase]:
    """Read the turns of a few cases at a time: as many cases as have about ``_CHUNK_TURNS`` turns."""
    part: list[_Row] = []
    turns = 0
    for row in chunk:
        part.append(row)
        turns += row[3]
        if turns >= _CHUNK_TURNS:
            yield from _read_turns(part)
            part, turns = [], 0
    yield from _read_turns(part)


def _read_turns(part: list[_Row]) -> Iterator[StoredCase]:
    turns: dict[int, list[bytes]] = {pk: [] for pk, *_ in part}
    found = (
        Turn.objects.filter(case_id__in=list(turns)).order_by("case_id", "position") if part else Turn.objects.none()
    )
    for case_id, payload in found.values_list("case_id", "payload"):
        turns[case_id].append(bytes(payload))
    for pk, position, payload, _, status in part:
        yield StoredCase(position, status, bytes(payload), turns[pk])
