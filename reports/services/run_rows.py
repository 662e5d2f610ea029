"""Columns of a run, derived from the head of its report (its members without suite and cases)."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from evalrunner.models import EvaluationSummary

from reports.keys import text_key
from reports.models import Run
from reports.services.case_rows import pack_data
from reports.text import storable

COUNTED = ("pending", "running", "passed", "failed", "error", "cancelled", "skipped", "blocked")


def run_columns(head: Mapping[str, Any], counts: Mapping[str, int]) -> dict[str, Any]:
    """Return the values of all columns of ``Run`` that the report decides, except version, revision and generation.

    ``counts`` are cases by status; statuses that are missing count as zero. ``ordered_at`` is there only where the
    report's start is a moment.
    """
    results = head.get("assertions", ())
    failed = sum(not result["passed"] for result in results)
    numbers = {status: counts.get(status, 0) for status in COUNTED}
    total = sum(numbers.values())
    started_at = parsed_moment(head["startedAt"])
    columns = numbers | {
        "run_id": storable(head["runId"]),
        "run_key": text_key(head["runId"]),
        "resumed_from": storable(head.get("resumedFrom", "")),
        "resumed_key": text_key(head["resumedFrom"]) if "resumedFrom" in head else "",
        "status": head["status"],
        "total": total,
        "suite_assertions": len(results),
        "suite_assertions_failed": failed,
        "is_passing": is_passing(head["status"], numbers, failed),
        "compatibility_fingerprint": storable(head["fingerprint"]),
        "started_text": storable(head["startedAt"]),
        "finished_text": storable(head.get("finishedAt", "")),
        "started_at": started_at,
        "finished_at": parsed_moment(head.get("finishedAt", "")),
        "head": pack_data(head),
    }
    return columns if started_at is None else columns | {"ordered_at": started_at}


def summary_of(run: Run) -> EvaluationSummary:
    """Return the summary of a run's report from its columns."""
    return EvaluationSummary(total=run.total, **{status: getattr(run, status) for status in COUNTED})


def is_passing(status: str, counts: Mapping[str, int], suite_assertions_failed: int) -> bool:
    """Tell whether a run passes: completed, every case passed (there is one at least), every suite assertion too."""
    total = sum(counts.get(name, 0) for name in COUNTED)
    return status == "completed" and 0 < total == counts.get("passed", 0) and not suite_assertions_failed


def parsed_moment(text: str) -> datetime | None:
    """Return the moment that a text names in ISO 8601 with a zone, in UTC; None for anything else."""
    try:
        moment = datetime.fromisoformat(text)
        return moment.astimezone(UTC) if moment.tzinfo is not None else None
    except (ValueError, OverflowError):
        return None
