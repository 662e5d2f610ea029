"""Results of the scenario harness in all the forms in which they come."""

import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evalrunner.harness import summarize

from reports.importers.containers import Content
from reports.importers.formats import check_content
from reports.importers.given import Given
from reports.importers.report_json import CheckedReport

DATA = Path(__file__).parent.parent / "data" / "harness"
GIVEN = Given("assistant", "abc123")
Rows = Sequence[Mapping[str, Any]]


def row(id: str = "greet", *failures: str, **members: Any) -> dict[str, Any]:
    """Make a result row; with failures it did not pass."""
    made: dict[str, Any] = {"scenario_id": id, "profile": "fast", "passed": not failures}
    return made | ({"failures": list(failures)} if failures else {}) | {"elapsed_ms": 12, "event_types": []} | members


def lines(*rows: Mapping[str, Any]) -> bytes:
    return "".join(json.dumps(each, ensure_ascii=False, separators=(",", ":")) + "\n" for each in rows).encode()


def report(*rows: Mapping[str, Any], **summary: Any) -> bytes:
    return json.dumps({"summary": summarize(rows) | summary, "results": list(rows)}, indent=2).encode()


def check(data: bytes, given: Given = GIVEN) -> tuple[CheckedReport, list[dict[str, Any]]]:
    """Import a file as far as importers go; gives the checked report and its cases."""
    cases: list[dict[str, Any]] = []
    checked = check_content(Content(io.BytesIO(data)), lambda case, position: cases.append(dict(case)), given)
    return checked, cases


def definitions(checked: CheckedReport) -> list[dict[str, Any]]:
    """Return the scenarios of the suite as plain data."""
    whole: dict[str, Any] = dict(checked.suite.to_data())
    scenarios: list[dict[str, Any]] = whole["scenarios"]
    return scenarios
