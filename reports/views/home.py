"""Home."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from reports.access import TeamRequest, page, role_includes
from reports.pages.home import home_page


@require_safe
@page()
def home(request: TeamRequest) -> HttpResponse:
    shown = home_page(
        team=request.team,
        after=request.GET.get("after", ""),
        may_run=role_includes(request.membership.role, "runner"),
    )
    return render(request, "reports/home.html", {"page": shown})
