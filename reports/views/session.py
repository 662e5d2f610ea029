"""Sign in."""

from django.http import HttpResponse

from reports.access import TeamRequest, page


@page()
def sign_in(request: TeamRequest, **kwargs: object) -> HttpResponse:
    return HttpResponse(status=501)


@page()
def sign_in_by_link(request: TeamRequest, **kwargs: object) -> HttpResponse:
    return HttpResponse(status=501)


@page()
def sign_out(request: TeamRequest, **kwargs: object) -> HttpResponse:
    return HttpResponse(status=501)


@page()
def set_theme(request: TeamRequest, **kwargs: object) -> HttpResponse:
    return HttpResponse(status=501)
