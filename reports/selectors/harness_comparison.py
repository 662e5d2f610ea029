"""The scenario harness's own comparison of two sides: deltas, regressions and improvements by its rules, not ours.

The harness compares two reports. A run is one; of a version the newest of its runs stands for it.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from evalrunner.harness import compare_reports

from reports.models import Run
from reports.selectors.compare_sides import Side
from reports.selectors.harness import FORMAT, iter_light_rows, summary_of

_COMPARED = ("scenario_id", "profile", "passed", "elapsed_ms", "context_input_tokens")
_REPORTS_KEPT = 32


@dataclass(frozen=True, slots=True)
class HarnessComparison:
    """``result`` is what ``evalrunner.harness.compare_reports`` gives; the summaries are those of both reports.

    ``…_runs`` count the runs that a side has; more than one where a version stands for its newest.
    """

    result: Mapping[str, Any]
    baseline: Mapping[str, Any]
    candidate: Mapping[str, Any]
    baseline_runs: int
    candidate_runs: int


def compare_harness(baseline: Side, candidate: Side) -> HarnessComparison | None:
    """Compare the newest harness run of each side; None where a side has none."""
    before, after = (_newest_report(side) for side in (baseline, candidate))
    if before is None or after is None:
        return None
    return HarnessComparison(
        result=compare_reports(before, after),
        baseline=before["summary"],
        candidate=after["summary"],
        baseline_runs=len(baseline.runs),
        candidate_runs=len(candidate.runs),
    )


def _newest_report(side: Side) -> Mapping[str, Any] | None:
    runs = [run for run in side.runs if run.format == FORMAT and run.generation is not None]
    return _report(runs[-1].pk, runs[-1].generation, _stamp(runs[-1].pk)) if runs else None


def _stamp(pk: uuid.UUID) -> str:
    """Return what changes whenever the rows of a run do: a run that goes on keeps its generation."""
    found = Run.objects.filter(pk=pk).values_list("updated_at", flat=True).first()
    return str(found)


@lru_cache(maxsize=_REPORTS_KEPT)
def _report(pk: uuid.UUID, generation: int | None, stamp: str) -> Mapping[str, Any]:
    """Read the report of a run as far as it is compared."""
    run = Run.objects.only("head", "generation_id").get(pk=pk)
    rows = [{name: row[name] for name in _COMPARED if name in row} for row in iter_light_rows(generation)]
    return {"summary": summary_of(run), "results": rows}
