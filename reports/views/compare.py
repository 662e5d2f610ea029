"""Comparison."""

from django.http import HttpResponse

from reports.access import TeamRequest, page


@page()
def comparison(request: TeamRequest, **kwargs: object) -> HttpResponse:
    return HttpResponse(status=501)
