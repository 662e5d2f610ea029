"""One run."""

from django.http import HttpResponse

from reports.access import TeamRequest, page


@page()
def run_page(request: TeamRequest, **kwargs: object) -> HttpResponse:
    return HttpResponse(status=501)


@page()
def live(request: TeamRequest, **kwargs: object) -> HttpResponse:
    return HttpResponse(status=501)


@page()
def report(request: TeamRequest, **kwargs: object) -> HttpResponse:
    return HttpResponse(status=501)
