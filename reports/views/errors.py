"""Error pages."""

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


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return error_page(
        request, 404, "There is nothing here", "It was removed, belongs to another team, or never existed."
    )


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer without a frame: reading who is signed in may be just what broke."""
    return HttpResponse(render_to_string("500.html"), status=500)
