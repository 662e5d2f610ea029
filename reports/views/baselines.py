"""Named baselines."""

import uuid

from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from reports.access import TeamRequest, page, role_includes
from reports.forms.baselines import BaselineForm
from reports.models import Run
from reports.pages.baselines import baseline_page
from reports.selectors.run import get_run
from reports.services.baselines import BaselineRefused, clear_baseline, set_baseline


@require_http_methods(["GET", "HEAD", "POST"])
@page()
def baseline(request: TeamRequest, pk: uuid.UUID) -> HttpResponseBase:
    """Show the baselines of a run's target and suite, and pin the run."""
    run = get_run(team=request.team, pk=pk)
    if run is None:
        raise Http404
    return _pin(request, run) if request.method == "POST" else _show(request, run)


def _show(request: TeamRequest, run: Run, *, fault: str = "", name: str = "") -> HttpResponse:
    may_set = role_includes(request.membership.role, "triager")
    shown = baseline_page(run, team=request.team, may_set=may_set, fault=fault, name=name)
    return render(request, "reports/baseline.html", {"page": shown}, status=400 if fault else 200)


@page("triager")
def _pin(request: TeamRequest, run: Run) -> HttpResponse:
    form = BaselineForm(request.POST)
    if not form.is_valid():
        return _show(request, run, fault="Give the baseline a name of at most 100 characters.")
    try:
        set_baseline(team=request.team, user=request.user, run_pk=run.pk, **form.cleaned_data)
    except BaselineRefused as refused:
        return _show(request, run, fault=refused.sentence, name=form.cleaned_data["name"])
    return redirect("baseline", pk=run.pk)


@require_POST
@page("triager")
def clear(request: TeamRequest, pk: int) -> HttpResponse:
    clear_baseline(team=request.team, user=request.user, pk=pk, reason=request.POST.get("reason", "")[:2_000])
    try:
        return redirect("baseline", pk=uuid.UUID(request.POST.get("run", "")))
    except ValueError:
        return redirect("targets")
