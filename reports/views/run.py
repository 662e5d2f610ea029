"""One run."""

import uuid

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from reports.access import TeamRequest, page, role_includes
from reports.forms.cases import CaseFilterForm
from reports.models import Run
from reports.pages import run as pages
from reports.pages.followed import followed_part
from reports.pages.live import live_part
from reports.pages.run_timings import timings_view
from reports.selectors import run as selector
from reports.views.live import POLLS


def _run(request: TeamRequest, pk: uuid.UUID) -> Run:
    run = selector.get_run(team=request.team, pk=pk)
    if run is None:
        raise Http404
    return run


@require_GET
@page()
def run_page(request: TeamRequest, pk: uuid.UUID) -> HttpResponse:
    run = _run(request, pk)
    form = CaseFilterForm(request.GET)
    faults = () if form.is_valid() else form.faults()
    may_run = role_includes(request.membership.role, "runner")
    live = live_part(run, may_cancel=may_run, poll_s=POLLS.interval_s)
    may_triage = role_includes(request.membership.role, "triager")
    cursor = form.cleaned_data.get("after") or ""
    shown = pages.run_page(run, form.filters(), cursor, live=live, may_run=may_run, may_triage=may_triage)
    context = {"page": shown, "faults": faults, "followed": followed_part(run)}
    return render(request, "reports/run.html", context, status=400 if faults else 200)


@require_GET
@page()
def timings(request: TeamRequest, pk: uuid.UUID) -> HttpResponse:
    """The run's timings, read when the reader comes to them."""
    shown = timings_view(_run(request, pk))
    template = "reports/partials/timings.html" if request.headers.get("HX-Request") else "reports/run_timings.html"
    return render(request, template, {"page": shown})
