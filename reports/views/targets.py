"""Targets."""

from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from reports.access import TeamRequest, page, role_includes
from reports.forms.grid import GridForm
from reports.pages.cursors import parse_cursor
from reports.pages.grid import grid_page
from reports.pages.targets import target_list_page, trend_json
from reports.pages.targets import target_page as page_of_target

_LARGEST = 2**31 - 1


@require_safe
@page()
def target_list(request: TeamRequest) -> HttpResponse:
    may_run = role_includes(request.membership.role, "runner")
    cursor = parse_cursor(request.GET.get("after", ""))
    return render(
        request, "reports/targets.html", {"page": target_list_page(team=request.team, after=cursor, may_run=may_run)}
    )


@require_safe
@page()
def target_page(request: TeamRequest, pk: int) -> HttpResponse:
    before = parse_cursor(request.GET.get("before", ""))
    shown = page_of_target(team=request.team, pk=pk, suite_pk=_suite(request), before=before)
    if shown is None:
        raise Http404
    return render(request, "reports/target.html", {"page": shown})


@require_safe
@page()
def trend(request: TeamRequest, pk: int) -> HttpResponse:
    """The figure of the target's page, fetched when the chart comes into view."""
    figure = trend_json(team=request.team, pk=pk, suite_pk=_suite(request))
    if figure is None:
        raise Http404
    return JsonResponse(figure)


@require_safe
@page()
def grid(request: TeamRequest, pk: int) -> HttpResponse:
    form = GridForm(request.GET)
    form.is_valid()
    shown = grid_page(team=request.team, pk=pk, filters=form.filters())
    if shown is None:
        raise Http404
    return render(request, "reports/grid.html", {"page": shown})


def _suite(request: TeamRequest) -> int:
    """Read the chosen suite; 0 for what is no number."""
    text = request.GET.get("suite", "")
    return min(int(text), _LARGEST) if text.isascii() and text.isdigit() and len(text) < 20 else 0
