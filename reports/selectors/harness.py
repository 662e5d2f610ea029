"""Reads of runs of the scenario harness: rows as the harness wrote them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from reports.domain.harness.cases import row_of_case, row_of_results
from reports.domain.harness.names import SUMMARY
from reports.domain.harness.totals import Totals
from reports.models import Case, Run
from reports.payloads import unpack
from reports.selectors.stored_reports import iter_stored_cases

FORMAT = "harness"
_PIECE = 200  # rows that are fetched at once


def is_of_harness(run: Run) -> bool:
    """Tell whether the cases of a run are rows of the scenario harness."""
    return run.format == FORMAT


def iter_light_rows(generation_id: int | None) -> Iterator[dict[str, Any]]:
    """Give the rows of a run, without their traces, in the order of its report; what was not reached has none."""
    if generation_id is None:
        return
    cases = Case.objects.filter(generation_id=generation_id).order_by("position").values_list("payload", flat=True)
    for payload in cases.iterator(chunk_size=_PIECE):
        row = row_of_results(unpack(payload).get("assertions") or ())
        if row is not None:
            yield row


def iter_rows(generation_id: int | None) -> Iterator[dict[str, Any]]:
    """Give the whole rows of a run in the order of its report."""
    for case in iter_stored_cases(generation_id):
        row = row_of_case(case.to_data())
        if row is not None:
            yield row


def summary_of(run: Run) -> dict[str, Any]:
    """Return the summary of a run: as it was imported, where it said something else than the rows, else their sum."""
    for result in unpack(run.head).get("assertions") or () if run.head else ():
        told = (result.get("evidence") or {}).get(SUMMARY) if result["id"] == SUMMARY else None
        if told is not None:
            return dict(told)
    totals = Totals()
    for row in iter_light_rows(run.generation_id):
        totals.add(row)
    return totals.summary()
