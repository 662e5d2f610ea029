"""Runs list."""

import uuid
from collections.abc import Sequence
from contextlib import suppress

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from reports.access import TeamRequest, page, role_includes
from reports.frame import TRAY
from reports.pages.links import compare_href
from reports.pages.runs import filter_menu, run_list_page
from reports.selectors.runs import older_first
from reports.views.errors import error_page

LONGEST_QUERY = 4_000


@require_safe
@page()
def run_list(request: TeamRequest) -> HttpResponse:
    shown = run_list_page(
        team=request.team,
        text=request.GET.get("q", "")[:LONGEST_QUERY],
        after=request.GET.get("after", ""),
        may_run=role_includes(request.membership.role, "runner"),
        has_baseline=bool(request.session.get(TRAY)),
    )
    return render(request, "reports/runs.html", {"page": shown}, status=400 if shown.faults else 200)


@require_safe
@page()
def filter_choices(request: TeamRequest, name: str) -> HttpResponse:
    """The menu of one filter chip, fetched when it is opened; without script a page."""
    if name not in {"target", "version", "suite"}:
        raise Http404
    menu = filter_menu(team=request.team, name=name, text=request.GET.get("q", "")[:LONGEST_QUERY])
    template = "reports/partials/filter_menu.html" if request.headers.get("HX-Request") else "reports/filter_menu.html"
    return render(request, template, {"page": menu})


@require_safe
@page()
def compare_chosen(request: TeamRequest) -> HttpResponse:
    """Lead to the comparison of two runs, the older one first; one alone is compared with the baseline of the tray."""
    chosen = older_first(team=request.team, pks=_ids(request.GET.getlist("run")))
    tray = request.session.get(TRAY) or {}
    if len(chosen) == 1 and tray.get("side"):
        return redirect(compare_href(tray["side"], chosen[0]))
    if len(chosen) == 2:
        return redirect(compare_href(*chosen))
    return error_page(request, 400, "A comparison needs two runs", "Go back and choose exactly two.")


def _ids(texts: Sequence[str]) -> list[uuid.UUID]:
    """Read run ids; what is none is left out, and a long list is cut: two are wanted."""
    found = []
    for text in texts[:10]:
        with suppress(ValueError):
            found.append(uuid.UUID(text))
    return found
