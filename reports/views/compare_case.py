"""Side by side."""

from django.http import HttpResponse

from reports.access import TeamRequest, page


@page()
def side_by_side(request: TeamRequest, **kwargs: object) -> HttpResponse:
    return HttpResponse(status=501)
