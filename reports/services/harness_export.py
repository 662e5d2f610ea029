"""A run of the scenario harness in the harness's own formats, byte for byte as it writes them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from evalrunner.harness.rows import encode_pretty, encode_rows

from reports.models import Run
from reports.selectors.harness import iter_rows, summary_of
from reports.services.export import NoReportError, ensure_report

__all__ = ["NoReportError", "harness_report", "harness_rows", "harness_summary"]

_PIECE = 1 << 16  # bytes


def harness_rows(run: Run) -> Iterator[bytes]:
    """Give the result rows, one a line, in pieces. NoReportError, before the first piece, where there are none."""
    ensure_report(run)
    return _pieces(encode_rows([row]) for row in iter_rows(run.generation_id))


def harness_summary(run: Run) -> bytes:
    """Return the summary. Raises NoReportError."""
    ensure_report(run)
    return _encoded(encode_pretty(summary_of(run)))


def harness_report(run: Run) -> Iterator[bytes]:
    """Give the report, summary and rows, in pieces. NoReportError, before the first piece, where there is none."""
    ensure_report(run)
    return _pieces(_report_parts(summary_of(run), iter_rows(run.generation_id)))


def _report_parts(summary: Mapping[str, Any], rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    yield '{\n  "summary": ' + _indented(summary, "  ") + ',\n  "results": ['
    is_first = True
    for row in rows:
        yield ("\n    " if is_first else ",\n    ") + _indented(row, "    ")
        is_first = False
    yield "]\n}" if is_first else "\n  ]\n}"


def _indented(value: object, by: str) -> str:
    """Write a value as a part of an indented document; a line break never stands inside of a text of JSON."""
    return json.dumps(value, ensure_ascii=False, indent=2).replace("\n", f"\n{by}")


def _pieces(parts: Iterable[str]) -> Iterator[bytes]:
    piece = bytearray()
    for part in parts:
        piece += _encoded(part)
        if len(piece) >= _PIECE:
            yield bytes(piece)
            piece.clear()
    yield bytes(piece)


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")
