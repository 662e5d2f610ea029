"""Uploads."""

from django.http import HttpResponse

from reports.access import TeamRequest, page


@page()
def import_reports(request: TeamRequest, **kwargs: object) -> HttpResponse:
    return HttpResponse(status=501)


@page()
def import_job(request: TeamRequest, **kwargs: object) -> HttpResponse:
    return HttpResponse(status=501)
