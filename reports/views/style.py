"""The living style page: every component with every state. Only when debugging."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from reports.pages.style import StylePage


def style_page(request: HttpRequest) -> HttpResponse:
    return render(request, "reports/style.html", {"page": StylePage.made()})
