"""One case: the conversation, and the raw JSON of its parts."""

import uuid

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from reports.access import TeamRequest, page
from reports.forms.cases import CaseFilterForm
from reports.models import Run
from reports.pages import case as pages
from reports.pages import case_raw
from reports.selectors import case as selector
from reports.selectors.case import WholeCase


def _case(request: TeamRequest, pk: uuid.UUID, position: int) -> tuple[Run, WholeCase]:
    run = selector.case_run(team_id=request.team.pk, pk=pk)
    case = selector.get_case(run, position) if run and position < 2**31 else None
    if run is None or case is None:
        raise Http404
    return run, case


@require_GET
@page()
def case_page(request: TeamRequest, pk: uuid.UUID, position: int) -> HttpResponse:
    run, case = _case(request, pk, position)
    form = CaseFilterForm(request.GET)
    form.is_valid()
    asked = form.asked_path()
    turn = (asked.turn if asked else None) or form.cleaned_data.get("turn")
    shown = pages.case_page(run, case, form.filters(), at=turn - 1 if turn else None, asked=asked)
    return render(request, "reports/case.html", {"page": shown, "faults": (*form.faults(), *shown.missing)})


@require_GET
@page()
def raw(request: TeamRequest, pk: uuid.UUID, position: int) -> HttpResponse:
    """A part of the case as JSON: a page or fragment with its tree, or the plain text with ``?as=text``."""
    run, case = _case(request, pk, position)
    part, pointer = request.GET.get("part", "case"), request.GET.get("pointer", "")
    try:
        found = selector.part_of(case, part, pointer)
    except KeyError:
        raise Http404 from None
    if request.GET.get("as") == "text":
        return _plain(case_raw.pretty(found.value))
    shown = case_raw.raw_page(run, case, part, found)
    if request.headers.get("HX-Request"):
        return render(request, "reports/partials/raw.html", {"raw": shown.raw})
    return render(request, "reports/case_raw.html", {"page": shown})


def _plain(text: str) -> HttpResponse:
    return HttpResponse(text, content_type="text/plain; charset=utf-8")
