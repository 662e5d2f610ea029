"""Comparison of two runs or versions."""

from dataclasses import replace

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from reports.access import TeamRequest, page, role_includes
from reports.forms.compare import ComparisonForm
from reports.pages.compare import comparison_page
from reports.pages.compare_choose import Half, choose_page
from reports.pages.compare_frame import Address
from reports.pages.compare_harness import harness_changes, with_kinds
from reports.selectors.compare import compare_sides
from reports.selectors.compare_menus import offers, suggestions
from reports.selectors.compare_sides import SideProblem, resolve_sides
from reports.selectors.compare_verdict import judge_for
from reports.selectors.harness_comparison import compare_harness
from reports.selectors.named_sides import BASELINE, with_baselines
from reports.selectors.policies import policy_of_team
from reports.services.looks import remember_look


@require_GET
@page()
def comparison(request: TeamRequest) -> HttpResponse:
    form = ComparisonForm(request.GET)
    faults = () if form.is_valid() else form.faults()
    baseline, candidate, suite = form.text("baseline"), form.text("candidate"), form.suite_pk()
    if not (baseline or candidate):
        return _choose(request, "")
    if not (baseline and candidate):
        return _half(request, "baseline" if baseline else "candidate", baseline or candidate, suite)
    policy = policy_of_team(request.team)
    try:
        stored = compare_sides(
            team=request.team,
            baseline=baseline,
            candidate=candidate,
            suite=suite,
            accepted=policy.accepted_definitions,
        )
    except SideProblem as problem:
        return _choose(request, problem.sentence, status=404 if problem.is_unknown else 400)
    address = Address(baseline, candidate, suite, form.filters())
    judged, noted = judge_for(request.team, stored, policy)
    shown = comparison_page(
        judged,
        form.filters(),
        team=request.team,
        address=address,
        cursor=form.text("after"),
        noted=noted,
        may_run=role_includes(request.membership.role, "runner"),
        may_triage=role_includes(request.membership.role, "triager"),
        looked_at=remember_look(team=request.team, sides=(stored.baseline, stored.candidate)),
    )
    by_harness = compare_harness(stored.baseline, stored.candidate)
    harness = None
    if by_harness is not None:
        shown = replace(shown, groups=with_kinds(shown.groups, by_harness))
        harness = harness_changes(by_harness, baseline=baseline, candidate=candidate, suite=suite)
    context = {"page": shown, "faults": (*faults, *shown.missing), "harness": harness}
    return render(request, "reports/compare.html", context, status=400 if faults else 200)


def _choose(request: TeamRequest, sentence: str, *, status: int = 200, half: Half | None = None) -> HttpResponse:
    pairs = suggestions(team=request.team)
    shown = choose_page(pairs, sentence, is_fault=status != 200, half=half)
    return render(request, "reports/compare_choose.html", {"page": shown}, status=status)


def _half(request: TeamRequest, role: str, side: str, suite: int) -> HttpResponse:
    """Offer what could stand beside the one side that was chosen."""
    try:
        found, _same = resolve_sides(team=request.team, baseline=side, candidate=side, suite=suite)
    except SideProblem as problem:
        return _choose(request, problem.sentence.replace("baseline", role), status=404 if problem.is_unknown else 400)
    versions, runs = offers(team=request.team, side=found)
    offered = versions if found.token.kind == "version" else runs
    missing = "candidate" if role == "baseline" else "baseline"
    rule = _rule(request, side, suite) if missing == "baseline" else ""
    return _choose(request, f"The {missing} is missing: choose one.", half=Half(role, found, offered, rule))


def _rule(request: TeamRequest, candidate: str, suite: int) -> str:
    """Say which baseline the rules find for a candidate; "" where there is none."""
    try:
        return with_baselines(
            team=request.team, baseline=BASELINE, candidate=candidate, suite=suite
        ).baseline_rule.words
    except SideProblem:
        return ""
