"""Ignore rules and the policy of a team."""

from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from reports.access import TeamRequest, page, role_includes
from reports.pages.team_rules import ignore_rules_page, policy_page, rules_of
from reports.services.team_rules import RulesRefused, check_ignored, set_ignored, set_policy

_LONGEST = 500_000


@require_http_methods(["GET", "HEAD", "POST"])
@page()
def ignore_rules(request: TeamRequest) -> HttpResponseBase:
    """Show what is left out; an admin changes it, after a preview of what it would hide."""
    return _change_ignored(request) if request.method == "POST" else _show_ignored(request)


def _show_ignored(request: TeamRequest, typed: str | None = None, faults: tuple[str, ...] = ()) -> HttpResponse:
    may_change = role_includes(request.membership.role, "admin")
    shown = ignore_rules_page(team=request.team, may_change=may_change, typed=typed, faults=faults)
    return render(request, "reports/ignore_rules.html", {"page": shown}, status=400 if faults else 200)


@page("admin")
def _change_ignored(request: TeamRequest) -> HttpResponse:
    if "rules" not in request.POST:  # an empty field stands for no rules at all, an absent one for nothing
        return _show_ignored(request, faults=("The form sent no rules; nothing was changed.",))
    typed = request.POST["rules"][:_LONGEST]
    rules = rules_of(typed)
    try:
        if "preview" in request.POST:
            check_ignored(rules)
            return _show_ignored(request, typed)
        set_ignored(team=request.team, user=request.user, rules=rules)
    except RulesRefused as refused:
        return _show_ignored(request, typed, refused.sentences)
    return redirect("ignore-rules")


@require_http_methods(["GET", "HEAD", "POST"])
@page()
def policy(request: TeamRequest) -> HttpResponseBase:
    """Show the policy by which comparisons are judged; an admin changes it."""
    return _change_policy(request) if request.method == "POST" else _show_policy(request)


def _show_policy(request: TeamRequest, typed: str | None = None, faults: tuple[str, ...] = ()) -> HttpResponse:
    may_change = role_includes(request.membership.role, "admin")
    shown = policy_page(team=request.team, may_change=may_change, typed=typed, faults=faults)
    return render(request, "reports/policy.html", {"page": shown}, status=400 if faults else 200)


@page("admin")
def _change_policy(request: TeamRequest) -> HttpResponse:
    typed = request.POST.get("policy", "")[:_LONGEST].replace("\r\n", "\n")
    try:
        set_policy(team=request.team, user=request.user, text=typed)
    except RulesRefused as refused:
        return _show_policy(request, typed, refused.sentences)
    return redirect("policy")
