"""A run's report as a file."""

import uuid

from django.http import Http404, HttpResponseBase, StreamingHttpResponse
from django.views.decorators.http import require_safe

from reports.access import TeamRequest, page
from reports.selectors.run_records import get_run_to_export
from reports.services.export import NoReportError, iter_report_json
from reports.views.errors import error_page


@require_safe
@page()
def report(request: TeamRequest, pk: uuid.UUID) -> HttpResponseBase:
    """Stream the report; 409 with the reason while there is none."""
    run = get_run_to_export(team=request.team, pk=pk)
    if run is None:
        raise Http404
    try:
        pieces = iter_report_json(run)
    except NoReportError as error:
        return error_page(request, 409, "There is no report yet", str(error))
    headers = {"Content-Disposition": f'attachment; filename="report-{run.pk}.json"'}
    return StreamingHttpResponse(pieces, content_type="application/json", headers=headers)
