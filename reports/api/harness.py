"""Runs of the scenario harness in its own formats."""

import uuid
from typing import Any, cast

from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from evalrunner.harness.rows import encode_pretty
from ninja import Path, Query, Router, Schema

from reports.access import TeamRequest
from reports.api.auth import needs
from reports.api.compare import PROBLEMS, SidesIn, refuse_unknown_parameters, sides_of
from reports.api.problems import Problem, ProblemOut, not_found
from reports.models import Run
from reports.selectors.harness import is_of_harness
from reports.selectors.harness_comparison import compare_harness
from reports.selectors.run_records import get_run_to_export
from reports.services.harness_export import NoReportError, harness_report, harness_rows, harness_summary

router = Router(auth=needs("viewer"), tags=["runs"])

_REFUSALS: dict[Any, Any] = {401: ProblemOut, 404: ProblemOut, 409: ProblemOut, 422: ProblemOut}
_LINES = {"responses": {200: {"content": {"application/x-ndjson": {"schema": {"type": "string"}}}}}}


@router.get(
    "/runs/{run}/harness/results",
    response={200: None, **_REFUSALS},
    openapi_extra=_LINES,
    url_name="harness_results",
    summary="Export the rows of a harness run",
)
def results(request: HttpRequest, run: Path[uuid.UUID]) -> HttpResponseBase:
    """One result row a line, as the harness writes them; 404 for runs that are none of the scenario harness."""
    stored = _run(request, run)
    try:
        return StreamingHttpResponse(harness_rows(stored), content_type="application/x-ndjson")
    except NoReportError as error:
        raise _none_yet(error) from None


@router.get(
    "/runs/{run}/harness/summary",
    response={200: dict[str, Any], **_REFUSALS},
    url_name="harness_summary",
    summary="Export the summary of a harness run",
)
def summary(request: HttpRequest, run: Path[uuid.UUID]) -> HttpResponse:
    stored = _run(request, run)
    try:
        return HttpResponse(harness_summary(stored), content_type="application/json")
    except NoReportError as error:
        raise _none_yet(error) from None


@router.get(
    "/runs/{run}/harness/report",
    response={200: dict[str, Any], **_REFUSALS},
    url_name="harness_report",
    summary="Export the report of a harness run",
)
def report(request: HttpRequest, run: Path[uuid.UUID]) -> HttpResponseBase:
    """Summary and rows in one document, as the harness writes it."""
    stored = _run(request, run)
    try:
        return StreamingHttpResponse(harness_report(stored), content_type="application/json")
    except NoReportError as error:
        raise _none_yet(error) from None


class HarnessEntryOut(Schema):
    scenario_id: str
    kind: str


class HarnessComparisonOut(Schema):
    """As `evalrunner scenarios compare` prints it."""

    pass_rate_delta: float
    avg_elapsed_delta_ms: float
    total_token_delta: int | None
    regressions: list[HarnessEntryOut]
    improvements: list[HarnessEntryOut]


@router.get(
    "/compare/harness",
    response={200: HarnessComparisonOut, **PROBLEMS},
    url_name="compare_harness",
    summary="Compare two runs of the scenario harness by its own rules",
)
def compare(request: HttpRequest, given: Query[SidesIn]) -> HttpResponse:
    """Of a version the newest harness run is compared; 404 where a side has none."""
    refuse_unknown_parameters(request, SidesIn)
    compared = compare_harness(*sides_of(cast(TeamRequest, request).team, given))
    if compared is None:
        raise Problem(404, "not_found", "One side, or both, has no run of the scenario harness.")
    return HttpResponse(encode_pretty(compared.result), content_type="application/json")


def _run(request: HttpRequest, pk: uuid.UUID) -> Run:
    run = get_run_to_export(team=cast(TeamRequest, request).team, pk=pk)
    if run is None or not is_of_harness(run):
        raise not_found("run of the scenario harness")
    return run


def _none_yet(error: NoReportError) -> Problem:
    return Problem(409, "no_report", str(error))
