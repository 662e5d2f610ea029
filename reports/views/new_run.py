"""Start and cancel runs."""

from django.http import HttpResponse

from reports.access import TeamRequest, page


@page()
def new_run(request: TeamRequest, **kwargs: object) -> HttpResponse:
    return HttpResponse(status=501)


@page()
def preview(request: TeamRequest, **kwargs: object) -> HttpResponse:
    return HttpResponse(status=501)


@page()
def cancel(request: TeamRequest, **kwargs: object) -> HttpResponse:
    return HttpResponse(status=501)
