"""Start and cancel runs."""

from __future__ import annotations

import uuid
from dataclasses import replace

from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from reports.access import TeamRequest, page, role_includes
from reports.domain.run_draft import RunDraft
from reports.domain.run_options import Refusal, RequestRefused
from reports.forms.cases import CaseFilterForm
from reports.forms.new_run import draft_from_address, draft_from_form, read_upload, with_choices_of
from reports.pages import new_run as pages
from reports.pages.rerun import narrowed_draft, rerun_draft
from reports.selectors.run import get_run
from reports.services import new_run as service
from reports.services.cancelling import NotCancellable, request_cancel
from reports.services.executions import IdempotencyConflict
from reports.services.run_suites import MOST_BYTES


@require_http_methods(["GET", "HEAD", "POST"])
@page("runner")
def new_run(request: TeamRequest) -> HttpResponse:
    """Show the form; sent, start the run, or with ``preview`` only show what would run."""
    if request.method != "POST":
        draft, note = _first_draft(request)
        return _form(request, draft, note=note)
    draft = draft_from_form(request.POST)
    try:
        draft = _with_upload(request, draft)
    except RequestRefused as refused:
        return _form(request, draft, refused.refusals)
    if "preview" in request.POST:
        return _form(request, draft)
    if note := _unseen_choices(draft):
        return _form(request, draft, note=note)
    try:
        requested = service.start_run(team=request.team, user=request.user, draft=draft, is_admin=_is_admin(request))
    except RequestRefused as refused:
        return _form(request, draft, refused.refusals)
    except IdempotencyConflict as conflict:
        return _sent_before(request, draft, conflict.run_pk)
    return redirect("run", pk=requested.run_pk)


@require_POST
@page("runner")
def preview(request: TeamRequest) -> HttpResponse:
    """Return the parts of the form that follow from the others."""
    refusals: tuple[Refusal, ...] = ()
    draft = draft_from_form(request.POST)
    try:
        draft = _with_upload(request, draft)
    except RequestRefused as refused:
        refusals = refused.refusals
    shown = pages.new_run_page(request.team, draft, is_admin=_is_admin(request), refusals=refusals)
    return render(request, "reports/partials/new_run_preview.html", {"page": shown})


@require_POST
@page("runner")
def cancel(request: TeamRequest, pk: uuid.UUID) -> HttpResponse:
    if get_run(team=request.team, pk=pk) is None:
        raise Http404
    try:
        outcome = request_cancel(team=request.team, run_pk=pk, user=request.user)
    except NotCancellable as refused:
        messages.warning(request, str(refused))
    else:
        words = {
            "cancelled": "The run is cancelled; nothing of it was under way.",
            "requested": "The run is being cancelled: turns in flight end as cancelled, what is done stays.",
            "interrupted": "The run has ended, interrupted: a part of it had broken off before.",
        }
        messages.success(request, words[outcome])
    return HttpResponseRedirect(reverse("run", args=[pk]))


def _with_upload(request: TeamRequest, draft: RunDraft) -> RunDraft:
    content = read_upload(request.FILES, most_bytes=MOST_BYTES)
    return service.choose_upload(team=request.team, draft=draft, content=content)


def _first_draft(request: TeamRequest) -> tuple[RunDraft, str]:
    """Return the form as it is opened: empty, as the address fills it in, or to repeat a run."""
    asked = request.GET.get("rerun")
    if not asked:
        return draft_from_address(request.GET), ""
    try:
        pk = uuid.UUID(asked)
    except ValueError:
        raise Http404 from None
    found = rerun_draft(request.team, pk)
    if found is None:
        raise Http404
    draft, note = found
    draft = with_choices_of(request.GET, draft)
    form = CaseFilterForm(request.GET)
    form.is_valid()  # a filter that cannot be read asks for nothing
    only = request.GET.get("only", "")
    draft, more = narrowed_draft(request.team, draft, pk, only, form.filters())
    return draft, f"{note} {more}"


def _form(request: TeamRequest, draft: RunDraft, refusals: tuple[Refusal, ...] = (), *, note: str = "") -> HttpResponse:
    shown = pages.new_run_page(request.team, draft, is_admin=_is_admin(request), refusals=refusals, rerun_note=note)
    return render(request, "reports/new_run.html", {"page": shown}, status=422 if refusals else 200)


def _sent_before(request: TeamRequest, draft: RunDraft, run_pk: uuid.UUID) -> HttpResponse:
    """Show the form afresh: changed after it had started a run, it may be meant to start another, or by mistake."""
    draft = replace(draft, key=uuid.uuid4().hex)
    shown = pages.new_run_page(request.team, draft, is_admin=_is_admin(request), started=run_pk)
    return render(request, "reports/new_run.html", {"page": shown}, status=409)


def _unseen_choices(draft: RunDraft) -> str:
    """Say what has to be looked at first: without script, or before it answered, the form still shows other choices.

    Starting then would run a version or scenarios that belong to another target or suite.
    """
    if draft.is_for_another_target:
        return "Nothing was started yet: you chose another target. These are its versions and suites."
    if draft.has_picks_of_another_suite:
        return "Nothing was started yet: you chose another suite. These are its scenarios and tags."
    return ""


def _is_admin(request: TeamRequest) -> bool:
    return role_includes(request.membership.role, "admin")
