"""The audit trail."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from reports.access import TeamRequest, page
from reports.pages.audit import audit_page


@require_safe
@page("admin")
def audit(request: TeamRequest) -> HttpResponse:
    before = request.GET.get("before", "")
    cursor = int(before) if before.isascii() and before.isdigit() and len(before) < 19 else None
    return render(request, "reports/audit.html", {"page": audit_page(team=request.team, before=cursor)})
