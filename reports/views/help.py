"""Keys and signs: a page of its own, and the content of the dialog that ``?`` opens."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from reports.access import TeamRequest, page
from reports.pages.help import HelpPage


@require_GET
@page()
def help_page(request: TeamRequest) -> HttpResponse:
    template = "reports/partials/help.html" if request.headers.get("HX-Request") else "reports/help.html"
    return render(request, template, {"page": HelpPage.made()})
