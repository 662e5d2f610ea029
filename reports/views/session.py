"""Sign in, by password or by a one-time address, and out; and the reader's theme."""

from django.contrib.auth import login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from reports.access import TeamRequest, page
from reports.services.sign_in import SignInLinkRefused, redeem_sign_in_link
from reports.views.errors import error_page


@page()
def sign_in(request: TeamRequest, **kwargs: object) -> HttpResponse:
    return HttpResponse(status=501)


@never_cache
@require_http_methods(["GET"])  # not HEAD: a link preview must not use the address up
def sign_in_by_link(request: HttpRequest, token: str) -> HttpResponse:
    if "prefetch" in request.headers.get("Sec-Purpose", ""):
        return HttpResponse(status=503)
    try:
        user = redeem_sign_in_link(token=token)
    except SignInLinkRefused:
        if request.user.is_authenticated:  # the browser's history brought its reader here again
            return redirect("home")
        return error_page(
            request,
            410,
            "This sign-in address cannot be used",
            "It was used before, or has expired. Print a new one with: python3 manage.py sign_in_link",
        )
    login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    return redirect("home")


@page()
def sign_out(request: TeamRequest, **kwargs: object) -> HttpResponse:
    return HttpResponse(status=501)


@page()
def set_theme(request: TeamRequest, **kwargs: object) -> HttpResponse:
    return HttpResponse(status=501)
