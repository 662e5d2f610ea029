"""Pages of uploads: the form with what became of its files, and a job in the background."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

from django.template.defaultfilters import filesizeformat
from django.urls import reverse

from reports.importers.given import NOTHING, Given
from reports.models import ImportJob
from reports.pages.refusals import Refusal
from reports.selectors.import_jobs import JobRow

_WORDS = {
    "created": ("success", "Imported as a new run."),
    "updated": ("success", "A later snapshot: the run it belongs to was updated."),
    "unchanged": ("info", "This report was there already; nothing changed."),
    "queued": ("info", "Being imported in the background."),
    "refused": ("error", ""),
}


_ABOUT_GIVEN = ("target_needed", "scenarios_invalid")


@dataclass(frozen=True, slots=True)
class FileLine:
    """What became of one file: ``level`` is that of a notice, ``name`` in stored form."""

    name: str
    level: str
    sentence: str
    href: str
    link: str
    refusal: Refusal | None = None


@dataclass(frozen=True, slots=True)
class ImportPage:
    sentence: str
    errors: tuple[str, ...] = ()
    lines: tuple[FileLine, ...] = ()
    limit_words: str = ""
    given: Given = NOTHING
    is_given_open: bool = False


def import_page(
    lines: Sequence[FileLine] = (), errors: Sequence[str] = (), *, small_bytes: int, given: Given = NOTHING
) -> ImportPage:
    """Make the page of the form; ``small_bytes`` is the size up to which a file is imported at once.

    ``given`` is what was typed beside the files; it is folded away unless it was needed.
    """
    refused = sum(line.refusal is not None for line in lines)
    sentence = "Reports become runs once: the same report again changes nothing, a later snapshot updates its run."
    if lines:
        taken = len(lines) - refused
        files = "file" if len(lines) == 1 else "files"
        sentence = (
            f"{taken} of {len(lines)} {files} taken, {refused} refused." if refused else f"{taken} {files} taken."
        )
    is_needed = any(line.refusal is not None and line.refusal.code in _ABOUT_GIVEN for line in lines)
    return ImportPage(
        sentence, tuple(errors), tuple(lines), filesizeformat(small_bytes), given, is_needed or given != NOTHING
    )


def taken_line(name: str, outcome: str, run_pk: UUID) -> FileLine:
    level, sentence = _WORDS[outcome]
    return FileLine(name, level, sentence, reverse("run", args=[run_pk]), "Open the run")


def queued_line(name: str, job: ImportJob) -> FileLine:
    level, sentence = _WORDS["queued"]
    return FileLine(name, level, sentence, reverse("import-job", args=[job.pk]), "Watch its progress")


def refused_line(name: str, refusal: Refusal) -> FileLine:
    return FileLine(name, "error", refusal.sentence, "", "", refusal)


@dataclass(frozen=True, slots=True)
class ImportJobPage:
    """``is_going`` decides whether the page asks again; ``percent`` is the way done, from 0 to 100."""

    name: str
    sentence: str
    size: str
    percent: int
    percent_words: str
    is_going: bool
    is_done: bool
    href: str
    run_href: str
    refusal: Refusal | None = field(default=None)


def import_job_page(job: JobRow) -> ImportJobPage:
    is_going = job.state in (ImportJob.State.QUEUED, ImportJob.State.RUNNING)
    is_refused = job.state == ImportJob.State.REFUSED
    percent = 100 * job.bytes_read // max(job.byte_size, 1) if is_going else 100
    refusal = Refusal.stored(job.error_code, job.error_text, job.error_paths) if is_refused else None
    return ImportJobPage(
        name=job.file_name,
        sentence=_job_sentence(job),
        size=filesizeformat(job.byte_size),
        percent=percent,
        percent_words=f"{percent} % done",
        is_going=is_going,
        is_done=job.state == ImportJob.State.DONE,
        href=reverse("import-job", args=[job.pk]),
        run_href=reverse("run", args=[job.run_id]) if job.run_id else "",
        refusal=refusal,
    )


def _job_sentence(job: JobRow) -> str:
    if job.state == ImportJob.State.QUEUED:
        return "Waiting for a worker."
    if job.state == ImportJob.State.REFUSED:
        return "The report was refused; nothing was stored."
    if job.state == ImportJob.State.DONE:
        return "The report is imported." if job.run_id else "The report was imported; its run has been deleted since."
    return "Checking the report." if 2 * job.bytes_read < job.byte_size else "Storing its cases."
