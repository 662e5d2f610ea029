"""Resume a run, or retry what failed in it."""

from __future__ import annotations

import uuid

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from reports.access import TeamRequest, page, role_includes
from reports.domain.continuation import Verb
from reports.domain.run_options import RequestRefused
from reports.models import Run
from reports.pages import continuing as pages
from reports.selectors.run import get_run
from reports.services.continuing import CannotContinue, Prospect, continue_run, look_ahead
from reports.services.executions import IdempotencyConflict


@require_http_methods(["GET", "HEAD", "POST"])
@page("runner")
def continue_page(request: TeamRequest, pk: uuid.UUID, verb: str) -> HttpResponse:
    """Say what would happen to which cases; sent, start it."""
    run = _run(request, pk)
    if request.method == "POST":
        return _start(request, run, Verb(verb))
    ahead = _ahead(request, run, Verb(verb))
    shown = pages.continue_page(run, Verb(verb), ahead, is_admin=_is_admin(request))
    return render(request, "reports/continue.html", {"page": shown}, status=_status(ahead))


@require_GET
@page("runner")
def receipts(request: TeamRequest, pk: uuid.UUID, verb: str) -> HttpResponse:
    """What cases have left that wrote outside and are blocked until somebody has looked."""
    run = _run(request, pk)
    ahead = _ahead(request, run, Verb(verb))
    shown = pages.receipts_page(run, Verb(verb), ahead, is_admin=_is_admin(request))
    return render(request, "reports/receipts.html", {"page": shown}, status=_status(ahead))


def _start(request: TeamRequest, run: Run, verb: Verb) -> HttpResponse:
    is_admin, writes_allowed = _is_admin(request), "allow_external_writes" in request.POST
    key = request.POST.get("key", "")[:100]
    faults: tuple[str, ...]
    try:
        requested = continue_run(
            team=request.team,
            user=request.user,
            origin="web",
            run_pk=run.pk,
            verb=verb,
            allow_external_writes=writes_allowed,
            may_authorise_writes=is_admin,
            idempotency_key=f"continue:{key}" if key else "",
        )
        return redirect("run", pk=requested.run_pk)
    except CannotContinue as refused:
        faults = (refused.sentence,)
    except RequestRefused as refused:
        faults = tuple(refusal.sentence for refusal in refused.refusals)
    except IdempotencyConflict:
        faults = ("This form was sent before with other choices; it is shown afresh here.",)
    ahead = _ahead(request, run, verb)
    shown = pages.continue_page(run, verb, ahead, is_admin=is_admin, faults=faults)
    return render(request, "reports/continue.html", {"page": shown}, status=409)


def _ahead(request: TeamRequest, run: Run, verb: Verb) -> Prospect | CannotContinue:
    try:
        return look_ahead(team=request.team, run_pk=run.pk, verb=verb)
    except CannotContinue as refused:
        return refused


def _status(ahead: Prospect | CannotContinue) -> int:
    return 409 if isinstance(ahead, CannotContinue) else 200


def _run(request: TeamRequest, pk: uuid.UUID) -> Run:
    run = get_run(team=request.team, pk=pk)
    if run is None:
        raise Http404
    return run


def _is_admin(request: TeamRequest) -> bool:
    return role_includes(request.membership.role, "admin")
