"""Suites."""

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from reports.access import TeamRequest, page, role_includes
from reports.pages.suites import definition_json, suite_list_page
from reports.pages.suites import suite_page as page_of_suite

_LARGEST = 2**31 - 1


@require_safe
@page()
def suite_list(request: TeamRequest) -> HttpResponse:
    may_run = role_includes(request.membership.role, "runner")
    shown = suite_list_page(team=request.team, after=_number(request, "after"), may_run=may_run)
    return render(request, "reports/suites.html", {"page": shown})


@require_safe
@page()
def suite_page(request: TeamRequest, pk: int) -> HttpResponse:
    shown = page_of_suite(
        team=request.team,
        pk=pk,
        revision=_number(request, "revision"),
        against=_number(request, "against"),
        start=_number(request, "start"),
    )
    if shown is None:
        raise Http404
    return render(request, "reports/suite.html", {"page": shown})


@require_safe
@page()
def suite_definition(request: TeamRequest, pk: int, revision: int) -> HttpResponse:
    """A revision's definition as JSON."""
    found = definition_json(team=request.team, pk=pk, revision=revision)
    if found is None:
        raise Http404
    return HttpResponse(found, content_type="application/json")


def _number(request: TeamRequest, name: str) -> int:
    """Read a number of the address; 0 for what is none."""
    text = request.GET.get(name, "")
    return min(int(text), _LARGEST) if text.isascii() and text.isdigit() and len(text) < 20 else 0
