"""Changed definitions of a comparison."""

from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from reports.access import TeamRequest, page, role_includes
from reports.forms.compare import ComparisonForm
from reports.pages.compare_frame import Address
from reports.pages.definitions import definitions_href, definitions_page
from reports.selectors.compare import StoredComparison, compare_sides
from reports.selectors.compare_filters import RowFilters
from reports.selectors.compare_sides import SideProblem
from reports.selectors.policies import policy_of_team
from reports.services.definitions import accept_definitions, withdraw_definition


@require_http_methods(["GET", "HEAD", "POST"])
@page()
def definitions(request: TeamRequest) -> HttpResponseBase:
    form = ComparisonForm(request.GET)
    form.is_valid()
    address = Address(form.text("baseline"), form.text("candidate"), form.suite_pk(), RowFilters())
    try:
        stored = compare_sides(
            team=request.team,
            baseline=address.baseline,
            candidate=address.candidate,
            suite=address.suite,
            accepted=policy_of_team(request.team).accepted_definitions,
        )
    except SideProblem as problem:
        raise Http404 from problem
    return _change(request, stored, address) if request.method == "POST" else _show(request, stored, address)


def _show(request: TeamRequest, stored: StoredComparison, address: Address) -> HttpResponse:
    may_accept = role_includes(request.membership.role, "triager")
    start = request.GET.get("start", "")
    is_place = start.isascii() and start.isdigit() and len(start) < 10
    shown = definitions_page(stored, address, may_accept=may_accept, start=int(start) if is_place else 0)
    return render(request, "reports/definitions.html", {"page": shown})


@page("triager")
def _change(request: TeamRequest, stored: StoredComparison, address: Address) -> HttpResponse:
    reason = request.POST.get("reason", "")[:2_000]
    withdrawn = request.POST.get("withdraw", "")
    if withdrawn.isascii() and withdrawn.isdigit() and len(withdrawn) < 19:
        withdraw_definition(team=request.team, user=request.user, pk=int(withdrawn), reason=reason)
    else:
        accept_definitions(
            team=request.team,
            user=request.user,
            revisions=(stored.baseline.revision.pk, stored.candidate.revision.pk),
            scenario_keys=request.POST.getlist("scenario")[:10_000],
            reason=reason,
        )
    return redirect(definitions_href(address))
