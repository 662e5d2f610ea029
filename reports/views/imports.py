"""Uploads: the form, and the page of one that is imported in the background."""

from typing import Any, BinaryIO, cast

from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from reports.access import TeamRequest, page
from reports.forms.imports import ImportForm
from reports.importers.containers import is_packed
from reports.importers.given import LONGEST, Given
from reports.models import Run
from reports.pages.imports import (
    FileLine,
    import_job_page,
    import_page,
    queued_line,
    refused_line,
    taken_line,
)
from reports.pages.refusals import Refusal, status_of
from reports.selectors.import_jobs import get_job
from reports.services.import_jobs import queue_upload
from reports.services.ingest import ReportRejected, ingest_report
from reports.text import storable

SMALL_BYTES = 8 << 20
PACKED_HOLDS = 8  # times its own size, roughly
_LEVELS = {"success": messages.SUCCESS, "info": messages.INFO}
_TEMPLATE = "reports/import.html"


@require_http_methods(["GET", "HEAD", "POST"])
@page("runner")
def import_reports(request: TeamRequest) -> HttpResponse:
    """Answer every file; one that was taken alone leads on to its run or its job."""
    if request.method != "POST":
        return render(request, _TEMPLATE, {"page": import_page(small_bytes=SMALL_BYTES)})
    form = ImportForm(request.POST, request.FILES)
    if not form.is_valid():
        shown = import_page(
            errors=[str(error) for errors in form.errors.values() for error in errors],
            small_bytes=SMALL_BYTES,
            given=_said(form),
        )
        return render(request, _TEMPLATE, {"page": shown}, status=400)
    try:
        given = form.given()
    except ReportRejected as rejection:
        shown = import_page(errors=[rejection.sentence], small_bytes=SMALL_BYTES, given=_said(form))
        return render(request, _TEMPLATE, {"page": shown}, status=status_of(rejection))
    answers = [_take(request, upload, given) for upload in form.cleaned_data["report_files"]]
    lines = [line for line, _ in answers]
    if len(lines) == 1 and lines[0].href:
        messages.add_message(request, _LEVELS[lines[0].level], lines[0].sentence)
        return redirect(lines[0].href)
    shown = import_page(lines, small_bytes=SMALL_BYTES, given=_said(form))
    return render(request, _TEMPLATE, {"page": shown}, status=max(status for _, status in answers))


def _said(form: ImportForm) -> Given:
    """Return what was typed, so that it need not be typed again; a file cannot be given back."""
    names = ("target", "fingerprint", "suite")
    return Given.from_data({name: form.data.get(name, "")[:LONGEST] for name in names})


def _take(request: TeamRequest, upload: "UploadedFile[Any]", given: Given) -> tuple[FileLine, int]:
    """Import one file, or queue it when it is large; return its line and the status that it alone would have."""
    name = storable(upload.name or "")
    if not _is_small(upload):
        return queued_line(name, queue_upload(team=request.team, user=request.user, upload=upload, given=given)), 200
    try:
        done = ingest_report(
            team=request.team,
            source=cast(BinaryIO, upload),
            origin=Run.Origin.UPLOAD,
            created_by=request.user,
            file_name=upload.name or "",
            given=given,
        )
    except ReportRejected as rejection:
        return refused_line(name, Refusal.of(rejection)), status_of(rejection)
    return taken_line(name, done.outcome, done.run_pk), 200


def _is_small(upload: "UploadedFile[Any]") -> bool:
    """Tell whether a file is short enough to be imported while its sender waits; packed ones hold many times more."""
    start = upload.read(4)
    upload.seek(0)
    return (upload.size or 0) <= (SMALL_BYTES // PACKED_HOLDS if is_packed(start) else SMALL_BYTES)


@require_safe
@page("runner")
def import_job(request: TeamRequest, pk: int) -> HttpResponse:
    """The progress of an upload; htmx gets the part that moves."""
    job = get_job(team=request.team, pk=pk)
    if job is None:
        raise Http404
    is_part = request.headers.get("HX-Request") == "true"
    template = "reports/partials/import_job.html" if is_part else "reports/import_job.html"
    return render(request, template, {"page": import_job_page(job)})
