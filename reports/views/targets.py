"""Targets."""

from django.http import HttpResponse

from reports.access import TeamRequest, page


@page()
def target_list(request: TeamRequest, **kwargs: object) -> HttpResponse:
    return HttpResponse(status=501)


@page()
def target_page(request: TeamRequest, **kwargs: object) -> HttpResponse:
    return HttpResponse(status=501)


@page()
def trend(request: TeamRequest, **kwargs: object) -> HttpResponse:
    return HttpResponse(status=501)
