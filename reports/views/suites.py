"""Suites."""

from django.http import HttpResponse

from reports.access import TeamRequest, page


@page()
def suite_list(request: TeamRequest, **kwargs: object) -> HttpResponse:
    return HttpResponse(status=501)


@page()
def suite_page(request: TeamRequest, **kwargs: object) -> HttpResponse:
    return HttpResponse(status=501)
