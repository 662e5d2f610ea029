"""Two conversations of one scenario variant, side by side."""

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from reports.access import TeamRequest, page
from reports.forms.compare import SideBySideForm
from reports.pages.compare_case import side_by_side_page
from reports.pages.compare_frame import Address
from reports.selectors.compare import compare_sides, row_of_key
from reports.selectors.compare_sides import SideProblem
from reports.selectors.policies import policy_of_team


@require_GET
@page()
def side_by_side(request: TeamRequest) -> HttpResponse:
    form = SideBySideForm(request.GET)
    faults = () if form.is_valid() else form.faults()
    baseline, candidate, suite = form.text("baseline"), form.text("candidate"), form.suite_pk()
    try:
        stored = compare_sides(
            team=request.team,
            baseline=baseline,
            candidate=candidate,
            suite=suite,
            accepted=policy_of_team(request.team).accepted_definitions,
        )
    except SideProblem as problem:
        raise Http404(problem.sentence) from problem
    row = row_of_key(request.team, stored, form.text("variant"))
    if row is None:
        raise Http404("Neither side has this scenario variant.")
    filters = form.filters()
    address = Address(baseline, candidate, suite, filters)
    shown = side_by_side_page(stored, row, filters, team=request.team, address=address, asked=form.asked())
    context = {"page": shown, "faults": (*faults, *shown.missing)}
    return render(request, "reports/compare_case.html", context, status=400 if faults else 200)
