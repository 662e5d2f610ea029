"""Comparison of two runs or versions."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from reports.access import TeamRequest, page
from reports.forms.compare import ComparisonForm
from reports.pages.compare import comparison_page
from reports.pages.compare_choose import choose_page
from reports.pages.compare_frame import Address
from reports.selectors.compare import compare_sides
from reports.selectors.compare_menus import suggestions
from reports.selectors.compare_sides import SideProblem


@require_GET
@page()
def comparison(request: TeamRequest) -> HttpResponse:
    form = ComparisonForm(request.GET)
    faults = () if form.is_valid() else form.faults()
    baseline, candidate, suite = form.text("baseline"), form.text("candidate"), form.suite_pk()
    if not (baseline and candidate):
        return _choose(request, _missing(baseline, candidate))
    try:
        stored = compare_sides(team=request.team, baseline=baseline, candidate=candidate, suite=suite)
    except SideProblem as problem:
        return _choose(request, problem.sentence, status=404 if problem.is_unknown else 400)
    address = Address(baseline, candidate, suite, form.filters())
    shown = comparison_page(stored, form.filters(), team=request.team, address=address, cursor=form.text("after"))
    return render(request, "reports/compare.html", {"page": shown, "faults": faults}, status=400 if faults else 200)


def _missing(baseline: str, candidate: str) -> str:
    if baseline or candidate:
        return f"The {'candidate' if baseline else 'baseline'} is missing."
    return ""


def _choose(request: TeamRequest, sentence: str, *, status: int = 200) -> HttpResponse:
    shown = choose_page(suggestions(team=request.team), sentence, is_fault=status != 200)
    return render(request, "reports/compare_choose.html", {"page": shown}, status=status)
