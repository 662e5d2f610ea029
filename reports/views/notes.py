"""Notes on scenario variants and failure signatures."""

from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from reports.access import TeamRequest, page, role_includes
from reports.forms.notes import AboutForm, NoteForm
from reports.models import Run
from reports.pages.notes import note_list_page, note_page
from reports.selectors.note_list import About, NoteRow, about_signature, about_variant, find_note
from reports.selectors.run import get_run
from reports.services.notes import (
    NoteRefused,
    change_note,
    close_notes,
    note_cluster,
    note_signature,
    note_variant,
)


@require_safe
@page()
def note_list(request: TeamRequest) -> HttpResponse:
    before = request.GET.get("before", "")
    shown = note_list_page(
        team=request.team,
        is_closed=request.GET.get("state") == "closed",
        before=int(before) if before.isascii() and before.isdigit() and len(before) < 19 else None,
        may_write=role_includes(request.membership.role, "triager"),
    )
    return render(request, "reports/notes.html", {"page": shown})


@require_http_methods(["GET", "HEAD", "POST"])
@page("triager")
def new_note(request: TeamRequest) -> HttpResponse:
    """The form for what the address names, and writing it: on the signature, or on each of its scenario variants."""
    about, run = _about(request)
    if request.method != "POST":
        if about.open_note:
            return redirect("note", pk=about.open_note)
        return _form(request, about, {}, may_each=run is not None)
    form = NoteForm(request.POST)
    if not form.is_valid():
        return _form(request, about, request.POST, may_each=run is not None, faults=form.faults())
    try:
        _write(request, about, run, form)
    except NoteRefused as refused:
        return _form(request, about, request.POST, may_each=run is not None, faults=(refused.sentence,))
    return _back(request)


def _about(request: TeamRequest) -> tuple[About, Run | None]:
    form = AboutForm(request.GET)
    if not form.is_valid():
        raise Http404
    given = form.cleaned_data
    find: Any = about_signature if given["signature"] else about_variant
    about = find(team=request.team, target=given["target"], key=given["signature"] or given["variant"])
    run = get_run(team=request.team, pk=given["run"]) if given["run"] else None
    if about is None or (given["run"] and (run is None or run.version.target_id != about.target)):
        raise Http404
    return about, run


def _write(request: TeamRequest, about: About, run: Run | None, form: NoteForm) -> None:
    who: dict[str, Any] = {"team": request.team, "user": request.user, "content": form.content()}
    if about.kind == "variant":
        note_variant(**who, target_pk=about.target, variant=about.key, run=run)
    elif form.cleaned_data["each"] and run is not None:
        note_cluster(**who, run=run, signature=about.key)
    else:
        note_signature(**who, target_pk=about.target, signature=about.key)


@require_http_methods(["GET", "HEAD", "POST"])
@page("triager")
def note(request: TeamRequest, pk: int) -> HttpResponse:
    """Change an open note."""
    row = find_note(team=request.team, pk=pk)
    if row is None or row.closed_at is not None:
        raise Http404
    if request.method != "POST":
        return _form(request, _about_row(row), _given(row), pk=pk)
    form = NoteForm(request.POST)
    faults = () if form.is_valid() else form.faults()
    if not faults:
        try:
            change_note(team=request.team, user=request.user, pk=pk, content=form.content())
            return _back(request)
        except NoteRefused as refused:
            faults = (refused.sentence,)
    return _form(request, _about_row(row), request.POST, pk=pk, faults=faults)


def _about_row(row: NoteRow) -> About:
    kind = "signature" if row.signature_key else "variant"
    key = row.signature_key or row.variant_key
    return About(kind, key, row.about, row.chosen, row.target, row.target_id, row.pk)


def _given(row: NoteRow) -> dict[str, Any]:
    names = ("state", "owner", "text", "link", "expires_on", "first_version", "last_version")
    return {name: getattr(row, name) for name in names}


@require_POST
@page("triager")
def close(request: TeamRequest) -> HttpResponse:
    """Close the chosen notes."""
    texts = [text for text in request.POST.getlist("note") if text.isascii() and text.isdigit() and len(text) < 19]
    close_notes(team=request.team, user=request.user, pks=[int(text) for text in texts])
    return redirect("notes")


def _form(
    request: TeamRequest,
    about: About,
    given: Any,
    *,
    may_each: bool = False,
    faults: tuple[str, ...] = (),
    pk: int = 0,
) -> HttpResponse:
    following = request.POST.get("next", "") or request.GET.get("next", "")
    shown = note_page(
        about, team=request.team, given=given, following=following, may_each=may_each, faults=faults, pk=pk
    )
    return render(request, "reports/note.html", {"page": shown}, status=400 if faults else 200)


def _back(request: TeamRequest) -> HttpResponse:
    """Go back to where the form was opened, never to another host."""
    wanted = request.POST.get("next", "") or request.GET.get("next", "")
    is_ours = url_has_allowed_host_and_scheme(wanted, {request.get_host()}, request.is_secure())
    return redirect(wanted if is_ours else "notes")
