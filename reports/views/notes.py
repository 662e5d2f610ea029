"""Notes on scenario variants and failure signatures."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from reports.access import TeamRequest, page, role_includes
from reports.forms.notes import AboutForm, NoteForm, SourceForm
from reports.pages.note_form import note_page, noted_in_words
from reports.pages.notes import note_list_page
from reports.selectors.note_list import About, NoteRow, about_signature, about_variant, find_note
from reports.selectors.note_scope import Source, source_of
from reports.services.note_checks import NoteRefused
from reports.services.notes import change_note, close_notes, note_cluster, note_signature, note_variant


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
    about, source = _about(request)
    if request.method != "POST":
        if about.open_note:
            return redirect(_change_href(request, about.open_note))
        return _form(request, about, {}, source=source)
    form = NoteForm(request.POST)
    if not form.is_valid():
        return _form(request, about, request.POST, source=source, faults=form.faults())
    try:
        _write(request, about, source, form)
    except NoteRefused as refused:
        return _form(request, about, request.POST, source=source, faults=(refused.sentence,))
    return _back(request)


def _about(request: TeamRequest) -> tuple[About, Source | None]:
    form = AboutForm(request.GET)
    if not form.is_valid():
        raise Http404
    given = form.cleaned_data
    find: Any = about_signature if given["signature"] else about_variant
    about = find(team=request.team, target=given["target"], key=given["signature"] or given["variant"])
    if about is None:
        raise Http404
    return about, _source(request, given, about.target)


def _source(request: TeamRequest, given: Mapping[str, Any], target: int) -> Source | None:
    """Find where the reader comes from; what is no run or version of the target does not exist."""
    if not (given["run"] or given["version"]):
        return None
    source = source_of(team=request.team, run=given["run"], version=given["version"])
    if source is None or source.target != target:
        raise Http404
    return source


def _change_href(request: TeamRequest, pk: int) -> str:
    kept = {name: request.GET[name] for name in ("run", "version", "next") if request.GET.get(name)}
    return f"{reverse('note', args=[pk])}?{urlencode(kept)}" if kept else reverse("note", args=[pk])


def _write(request: TeamRequest, about: About, source: Source | None, form: NoteForm) -> None:
    who: dict[str, Any] = {"team": request.team, "user": request.user, "content": form.content()}
    if about.kind == "variant":
        note_variant(**who, target_pk=about.target, variant=about.key, source=source, is_new=True)
    elif form.cleaned_data["each"] and source is not None:
        noted = note_cluster(**who, source=source, signature=about.key)
        level = messages.SUCCESS if noted.written else messages.WARNING
        messages.add_message(request, level, noted_in_words(len(noted.written), noted.kept))
    else:
        note_signature(**who, target_pk=about.target, signature=about.key, is_new=True)


@require_http_methods(["GET", "HEAD", "POST"])
@page("triager")
def note(request: TeamRequest, pk: int) -> HttpResponse:
    """Change an open note."""
    row = find_note(team=request.team, pk=pk)
    asked = SourceForm(request.GET)
    if row is None or row.closed_at is not None or not asked.is_valid():
        raise Http404
    source = _source(request, asked.cleaned_data, row.target)
    if request.method != "POST":
        return _form(request, _about_row(row), _given(row), row=row, source=source)
    form = NoteForm(request.POST)
    faults = () if form.is_valid() else form.faults()
    if not faults:
        try:
            _change(request, row, form, source)
            return _back(request)
        except NoteRefused as refused:
            faults, row = (refused.sentence,), find_note(team=request.team, pk=pk)
    return (
        _form(request, _about_row(row), request.POST, row=row, source=source, faults=faults) if row else _back(request)
    )


def _change(request: TeamRequest, row: NoteRow, form: NoteForm, source: Source | None) -> None:
    change_note(
        team=request.team,
        user=request.user,
        pk=row.pk,
        content=form.content(),
        source=source if form.cleaned_data["learn"] else None,
        opened_at=form.cleaned_data["opened_at"],
    )


def _about_row(row: NoteRow) -> About:
    kind = "signature" if row.signature_key else "variant"
    key = row.signature_key or row.variant_key
    return About(kind, key, row.about, row.chosen, row.target, row.target_id, row.pk)


def _given(row: NoteRow) -> dict[str, Any]:
    names = ("state", "owner", "text", "link", "expires_on", "first_version", "last_version", "every_failure")
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
    source: Source | None,
    row: NoteRow | None = None,
    faults: tuple[str, ...] = (),
) -> HttpResponse:
    following = request.POST.get("next", "") or request.GET.get("next", "")
    shown = note_page(about, team=request.team, given=given, following=following, source=source, row=row, faults=faults)
    return render(request, "reports/note.html", {"page": shown}, status=400 if faults else 200)


def _back(request: TeamRequest) -> HttpResponse:
    """Go back to where the form was opened, never to another host."""
    wanted = request.POST.get("next", "") or request.GET.get("next", "")
    is_ours = url_has_allowed_host_and_scheme(wanted, {request.get_host()}, request.is_secure())
    return redirect(wanted if is_ours else "notes")
