"""Error pages."""

from collections.abc import Mapping

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string


def error_page(request: HttpRequest, status: int, title: str, text: str) -> HttpResponse:
    """Answer with a status, what is wrong and what to do."""
    return render(request, "error.html", {"title": title, "text": text, "status": status}, status=status)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return error_page(
        request, 400, "This request cannot be read", str(exception) or "Something in the address is wrong."
    )


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    return error_page(request, 403, "You may not do this", str(exception) or "Ask an admin of your team for the role.")


def form_refused(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Answer a form whose token does not fit: it was opened before a sign-in or sign-out, or cookies are refused."""
    text = (
        "You have signed in or out since the form was opened, or your browser keeps no cookies of this site. "
        "Nothing was done: go back, reload the page, and send the form again."
    )
    return error_page(request, 403, "This form cannot be taken any more", text)


def locked_out(request: HttpRequest, answer: HttpResponse, credentials: Mapping[str, object]) -> HttpResponse:
    """Answer whoever gave wrong passwords too often; ``answer`` is what they would have got otherwise."""
    text = "Wait a quarter of an hour, then try again, or sign in by a one-time address: python3 manage.py sign_in_link"
    return error_page(request, 429, "The password was wrong too often", text)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return error_page(
        request, 404, "There is nothing here", "It was removed, belongs to another team, or never existed."
    )


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer without a frame: reading who is signed in may be just what broke."""
    return HttpResponse(render_to_string("500.html"), status=500)
