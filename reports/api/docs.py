"""The documentation of the API as a page of the site: no foreign script, readable without any."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from reports.access import page
from reports.api import api
from reports.pages.api_docs import api_docs_page


@page()
def docs_page(request: HttpRequest) -> HttpResponse:
    shown = api_docs_page(
        api.get_openapi_schema(),
        origin=f"{request.scheme}://{request.get_host()}",
        schema_href=reverse("api-1:openapi-json"),
    )
    return render(request, "reports/api_docs.html", {"page": shown})
