"""Runs list."""

from django.http import HttpResponse

from reports.access import TeamRequest, page


@page()
def run_list(request: TeamRequest, **kwargs: object) -> HttpResponse:
    return HttpResponse(status=501)
