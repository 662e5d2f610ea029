"""Ignore rules and the policy of a team."""

from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from reports.access import TeamRequest, page, role_includes
from reports.pages.team_rules import ignore_rules_page, names_of, policy_page
from reports.services.team_rules import RulesRefused, set_ignored, set_policy

_LONGEST = 500_000


@require_http_methods(["GET", "HEAD", "POST"])
@page()
def ignore_rules(request: TeamRequest) -> HttpResponseBase:
    """Show what is left out; an admin changes it, after a preview of what it would hide."""
    return _change_ignored(request) if request.method == "POST" else _show_ignored(request)


def _show_ignored(request: TeamRequest, typed: str | None = None, fault: str = "") -> HttpResponse:
    may_change = role_includes(request.membership.role, "admin")
    shown = ignore_rules_page(team=request.team, may_change=may_change, typed=typed, fault=fault)
    return render(request, "reports/ignore_rules.html", {"page": shown}, status=400 if fault else 200)


@page("admin")
def _change_ignored(request: TeamRequest) -> HttpResponse:
    typed = request.POST.get("names", "")[:_LONGEST]
    if "preview" in request.POST:
        return _show_ignored(request, typed)
    try:
        set_ignored(team=request.team, user=request.user, names=names_of(typed))
    except RulesRefused as refused:
        return _show_ignored(request, typed, refused.sentence)
    return redirect("ignore-rules")


@require_http_methods(["GET", "HEAD", "POST"])
@page()
def policy(request: TeamRequest) -> HttpResponseBase:
    """Show the policy by which comparisons are judged; an admin changes it."""
    return _change_policy(request) if request.method == "POST" else _show_policy(request)


def _show_policy(request: TeamRequest, typed: str | None = None, fault: str = "") -> HttpResponse:
    may_change = role_includes(request.membership.role, "admin")
    shown = policy_page(team=request.team, may_change=may_change, typed=typed, fault=fault)
    return render(request, "reports/policy.html", {"page": shown}, status=400 if fault else 200)


@page("admin")
def _change_policy(request: TeamRequest) -> HttpResponse:
    typed = request.POST.get("policy", "")[:_LONGEST].replace("\r\n", "\n")
    try:
        set_policy(team=request.team, user=request.user, text=typed)
    except RulesRefused as refused:
        return _show_policy(request, typed, refused.sentence)
    return redirect("policy")
