"""The moving part of a run's page, asked for again and again while the run goes on."""

from __future__ import annotations

import time
import uuid

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from reports.access import TeamRequest, page, role_includes
from reports.domain.polling import PollPace
from reports.models import Run
from reports.pages.followed import followed_update, is_followed
from reports.pages.live import Shown, has_begun_since, live_update
from reports.selectors.executions import UNDER_WAY
from reports.selectors.run import get_run

POLLS = PollPace()


@require_GET
@never_cache
@page()
def live(request: TeamRequest, pk: uuid.UUID) -> HttpResponse:
    """Return what changed since ``seen``; 204 (or 304) when nothing did.

    When the run begins and when it has ended, the page is told to load itself anew.
    """
    run = get_run(team=request.team, pk=pk)
    if run is None:
        raise Http404
    if request.headers.get("HX-Request") != "true":
        return redirect("run", pk=pk)
    known = request.headers.get("If-None-Match", "").strip('"')
    shown = Shown.parse(known or request.GET.get("seen", ""), request.GET.get("done", ""))
    if run.status not in UNDER_WAY or has_begun_since(run, shown):
        return HttpResponse(headers={"HX-Refresh": "true"})
    may_cancel = role_includes(request.membership.role, "runner")
    part = live_update(run, shown, may_cancel=may_cancel, poll_s=POLLS.note(time.monotonic()))
    if part is None and is_followed(run):
        return _followed(request, run, shown)
    if part is None:
        return HttpResponse(status=304 if known else 204)
    answer = render(request, "reports/partials/live_update.html", {"live": part})
    answer["ETag"] = f'"{part.seen}"'
    return answer


def _followed(request: TeamRequest, run: Run, shown: Shown) -> HttpResponse:
    """Return what a later snapshot of an imported run brought; 204 when none has come."""
    part = followed_update(run, shown)
    if part is None:
        return HttpResponse(status=204)
    return render(request, "reports/partials/followed_update.html", {"followed": part})
