"""A run of the scenario harness as files of the harness."""

import uuid
from collections.abc import Callable

from django.http import Http404, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.views.decorators.http import require_safe

from reports.access import TeamRequest, page
from reports.models import Run
from reports.selectors.harness import is_of_harness
from reports.selectors.run_records import get_run_to_export
from reports.services.harness_export import NoReportError, harness_report, harness_rows, harness_summary
from reports.views.errors import error_page


@require_safe
@page()
def rows(request: TeamRequest, pk: uuid.UUID) -> HttpResponseBase:
    """The result rows, one a line."""
    return _file(request, pk, "results", "jsonl", lambda run: StreamingHttpResponse(harness_rows(run)))


@require_safe
@page()
def summary(request: TeamRequest, pk: uuid.UUID) -> HttpResponseBase:
    return _file(request, pk, "summary", "json", lambda run: HttpResponse(harness_summary(run)))


@require_safe
@page()
def report(request: TeamRequest, pk: uuid.UUID) -> HttpResponseBase:
    """Summary and rows in one document."""
    return _file(request, pk, "harness-report", "json", lambda run: StreamingHttpResponse(harness_report(run)))


def _file(
    request: TeamRequest, pk: uuid.UUID, name: str, kind: str, make: Callable[[Run], HttpResponseBase]
) -> HttpResponseBase:
    """Answer with a file; 404 for runs that are none of the harness, 409 with the reason while there are no results."""
    run = get_run_to_export(team=request.team, pk=pk)
    if run is None or not is_of_harness(run):
        raise Http404
    try:
        response = make(run)
    except NoReportError as error:
        return error_page(request, 409, "There are no results yet", str(error))
    response["Content-Type"] = "application/x-ndjson" if kind == "jsonl" else "application/json"
    response["Content-Disposition"] = f'attachment; filename="{name}-{run.pk}.{kind}"'
    return response
