"""A stored run as the report it came from, or would have: written out as it is read, in bounded memory."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from reports.models import Run
from reports.payloads import unpack, unpack_bytes
from reports.selectors.stored_reports import StoredCase, iter_stored_cases
from reports.services.case_rows import wire_bytes
from reports.services.run_rows import COUNTED

_PIECE = 1 << 16  # bytes
_BEFORE_CASES = ("fingerprint", "target", "startedAt", "finishedAt", "status")


class NoReportError(ValueError):
    """A run without a report: it has not published its first checkpoint, or could not begin."""


def iter_report_json(run: Run) -> Iterator[bytes]:
    """Give the UTF-8 text of a run's report in pieces; NoReportError, before the first piece, where there is none.

    The value is the one that ``parse_evaluation_report`` reads from what was imported. The summary is counted from the
    cases that are given, so it agrees with them also while the run goes on.
    """
    ensure_report(run)
    return _pieces(_parts(run))


def ensure_report(run: Run) -> None:
    """Raise NoReportError where a run has no report, or none yet."""
    if not run.head:
        reason = "could not begin" if run.status == "rejected" else f"is {run.status}"
        raise NoReportError(f"This run {reason} and has no report.")


def _parts(run: Run) -> Iterator[bytes]:
    head: dict[str, Any] = unpack(run.head)
    yield b'{"schemaVersion":1,"runId":' + wire_bytes(head["runId"])
    yield _member(head, "resumedFrom")
    yield b',"suite":' + unpack_bytes(run.revision.definition)
    for name in _BEFORE_CASES:
        yield _member(head, name)
    counts: Counter[str] = Counter()
    yield b',"cases":['
    for case in iter_stored_cases(run.generation_id):
        counts[case.status] += 1
        yield b"," if counts.total() > 1 else b""
        yield from _case_parts(case)
    yield b"]" + _member(head, "assertions")
    summary = {"total": counts.total()} | {status: counts[status] for status in COUNTED}
    yield b',"summary":' + wire_bytes(summary) + b"}"


def _member(head: dict[str, Any], name: str) -> bytes:
    return b',"' + name.encode() + b'":' + wire_bytes(head[name]) if name in head else b""


def _case_parts(case: StoredCase) -> Iterator[bytes]:
    """Put the turns back into their case: its payload is an object with members, so it ends in a brace."""
    yield unpack_bytes(case.payload)[:-1] + b',"turns":['
    for index, turn in enumerate(case.turns):
        yield (b"," if index else b"") + unpack_bytes(turn)
    yield b"]}"


def _pieces(parts: Iterable[bytes]) -> Iterator[bytes]:
    piece = bytearray()
    for part in parts:
        piece += part
        if len(piece) >= _PIECE:
            yield bytes(piece)
            piece.clear()
    yield bytes(piece)
