"""One case."""

from django.http import HttpResponse

from reports.access import TeamRequest, page


@page()
def case_page(request: TeamRequest, **kwargs: object) -> HttpResponse:
    return HttpResponse(status=501)


@page()
def raw(request: TeamRequest, **kwargs: object) -> HttpResponse:
    return HttpResponse(status=501)
