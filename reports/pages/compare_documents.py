"""A comparison as a file: the document of ``evalrunner.compare`` in one of its renderings, or its rows as CSV."""

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from evalrunner.compare.renderings import FORMATS

CSV: Final = "csv"
NAMES: Final = (*FORMATS, CSV)
_TYPES: Final = {
    "text": ("text/plain; charset=utf-8", "txt"),
    "json": ("application/json", "json"),
    "markdown": ("text/markdown; charset=utf-8", "md"),
    "html": ("text/html; charset=utf-8", "html"),
    CSV: ("text/csv; charset=utf-8", "csv"),
}
CONTENT_TYPES: Final = tuple(content_type.partition(";")[0] for content_type, _ending in _TYPES.values())
_COLUMNS: Final = (
    "scenario",
    "variants",
    "class",
    "group",
    "critical",
    "known",
    "redefined",
    "baseline_passed",
    "baseline_decided",
    "baseline_undecided",
    "candidate_passed",
    "candidate_decided",
    "candidate_undecided",
    "drop",
    "adjusted_p",
    "first_failure",
    "key",
)


@dataclass(frozen=True, slots=True)
class ComparisonFile:
    content: bytes
    content_type: str
    name: str


def comparison_file(document: Mapping[str, Any], kind: str) -> ComparisonFile:
    """Render a document; ``kind`` is one of ``NAMES``."""
    content_type, ending = _TYPES[kind]
    text = _csv(document) if kind == CSV else FORMATS[kind](document)
    return ComparisonFile(text.encode("utf-8", "backslashreplace"), content_type, f"comparison.{ending}")


def _csv(document: Mapping[str, Any]) -> str:
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\r\n")
    writer.writerow(_COLUMNS)
    writer.writerows(_cells(row) for row in document["rows"])
    return written.getvalue()


def _cells(row: Mapping[str, Any]) -> list[Any]:
    before, after = row["baseline"], row["candidate"]
    failures = after["failures"] or before["failures"]
    return [
        _plain(row["scenarioId"]),
        _plain(", ".join(f"{step}: {variant}" for step, variant in row["variants"].items())),
        row["class"],
        row["group"],
        *(str(row[name]).lower() for name in ("isCritical", "isKnown", "isRedefined")),
        *(side[name] for side in (before, after) for name in ("passed", "decided", "undecided")),
        round(row["drop"], 6),
        "" if row["adjustedP"] is None else round(row["adjustedP"], 6),
        _plain(failures[0]["words"]) if failures else "",
        row.get("key", ""),
    ]


def _plain(text: str) -> str:
    """Keep spreadsheets from reading a text from outside as a formula, and NUL from ending a cell."""
    fit = text.replace("\0", "\\0")
    return f"'{fit}" if fit[:1] in ("=", "+", "-", "@", "\t", "\r") else fit
