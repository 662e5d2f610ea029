"""Keys and signs: a page of its own, and the content of the dialog that ``?`` opens."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.templatetags.static import static
from django.views.decorators.http import require_GET

from reports.access import TeamRequest, page
from reports.pages.help import HelpPage


@require_GET
@page()
def help_page(request: TeamRequest) -> HttpResponse:
    template = "reports/partials/help.html" if request.headers.get("HX-Request") else "reports/help.html"
    return render(request, template, {"page": HelpPage.made()})


@require_GET
@page()
def connect(request: TeamRequest) -> HttpResponse:
    """How an agent of one's own becomes a target that can be run here."""
    return render(request, "reports/connect.html", {})


@require_GET
def favicon(request: HttpRequest) -> HttpResponse:
    """Browsers ask for this beside documents that are no pages of ours, such as an exported report."""
    return redirect(static("img/mark.svg"), permanent=False)
