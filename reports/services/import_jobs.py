"""Uploads that are too long for a request: kept as a file, read by a worker, safe to begin again.

A job is claimed by one conditional update and holds a lease that its progress renews. A lease that ran out belongs to a
worker that died: the job is claimed anew, which is harmless because an import stores everything or nothing, once.
"""

from __future__ import annotations

import secrets
import shutil
import time
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from django.conf import settings
from django.core.files.uploadedfile import TemporaryUploadedFile, UploadedFile
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from reports.importers.given import NOTHING, Given
from reports.models import ImportJob, Run, Team, User
from reports.services.ingest import ReportRejected, ingest_report
from reports.services.messages import IMPORT_UPLOAD, tell_after_commit
from reports.text import restored, storable

LEASE_S = 60.0
_NOTED_EVERY_S = 0.5


class JobLost(Exception):
    """Another worker has claimed this job meanwhile."""


class _Reads(Protocol):
    def read(self, size: int = ..., /) -> bytes: ...


def queue_upload(
    *, team: Team, user: User, upload: UploadedFile[Any], origin: str = Run.Origin.UPLOAD, given: Given = NOTHING
) -> ImportJob:
    """Keep an uploaded file in the data folder and let a worker import it, with what was said beside it."""
    path = _kept(upload)
    with transaction.atomic():
        job = ImportJob.objects.create(
            team=team,
            created_by=user,
            origin=origin,
            path=str(path),
            file_name=storable(upload.name or "")[:1000],
            byte_size=path.stat().st_size,
            given={name: storable(text) for name, text in given.to_data().items()},
        )
        tell_after_commit(IMPORT_UPLOAD, job.pk)
    return job


def _kept(upload: UploadedFile[Any]) -> Path:
    folder = Path(settings.DATA_DIR) / "imports"
    folder.mkdir(exist_ok=True)
    path = folder / secrets.token_hex(16)
    if isinstance(upload, TemporaryUploadedFile):
        Path(upload.temporary_file_path()).replace(path)  # the same file system: both lie in the data folder
        return path
    with path.open("xb") as kept:
        shutil.copyfileobj(upload, kept)
    return path


def waiting_jobs(*, before: datetime, limit: int = 200) -> Sequence[int]:
    """Return the jobs that were queued before a moment or whose worker died, oldest first."""
    jobs = ImportJob.objects.filter(_claimable()).filter(created_at__lte=before).order_by("created_at", "pk")
    return list(jobs.values_list("pk", flat=True)[:limit])


def _claimable() -> Q:
    died = Q(state=ImportJob.State.RUNNING, lease_expires_at__lt=timezone.now())
    return Q(state=ImportJob.State.QUEUED) | died


def claim(*, job_pk: int) -> str | None:
    """Claim a waiting job and return the claim's token; None when it is not waiting (any more)."""
    token = secrets.token_hex(16)
    jobs = ImportJob.objects.filter(_claimable(), pk=job_pk)
    claimed = jobs.update(state=ImportJob.State.RUNNING, claim_token=token, lease_expires_at=_lease(), bytes_read=0)
    return token if claimed == 1 else None


def _lease() -> datetime:
    return timezone.now() + timedelta(seconds=LEASE_S)


def run_job(*, job_pk: int) -> None:
    """Import the file of a waiting job; does nothing for any other job. The file is gone afterwards."""
    token = claim(job_pk=job_pk)
    if token is None:
        return
    job = ImportJob.objects.select_related("team", "created_by").get(pk=job_pk)
    try:
        _import(job, token)
    except JobLost:
        return  # the file is the other worker's now
    Path(job.path).unlink(missing_ok=True)


def _import(job: ImportJob, token: str) -> None:
    progress = _Progress(job, token)
    try:
        with Path(job.path).open("rb") as source:
            done = ingest_report(
                team=job.team,
                source=progress.watched(source),
                origin=job.origin,
                created_by=job.created_by,
                file_name=restored(job.file_name),
                given=Given.from_data({name: restored(text) for name, text in job.given.items()}),
                on_stored=progress.note_stored,
            )
    except ReportRejected as rejection:
        faults = [[storable(path), storable(sentence)] for path, sentence in rejection.faults]
        _finish(job, token, error_code=rejection.code, error_text=storable(rejection.sentence), error_paths=faults)
    except FileNotFoundError:
        text = "The uploaded file is gone from the data folder. Upload it again."
        _finish(job, token, error_code="file_gone", error_text=text)
    except JobLost:
        raise
    except Exception:  # isolation point: whatever it was, the job must not be tried for ever
        text = "The import broke off on our side; it was recorded. Nothing was stored."
        _finish(job, token, error_code="import_failed", error_text=text)
        raise
    else:
        _finish(job, token, run_id=done.run_pk)


def _finish(job: ImportJob, token: str, **outcome: object) -> None:
    state = ImportJob.State.REFUSED if "error_code" in outcome else ImportJob.State.DONE
    mine = ImportJob.objects.filter(pk=job.pk, claim_token=token)
    mine.update(
        state=state,
        claim_token="",
        lease_expires_at=None,
        bytes_read=job.byte_size,
        finished_at=timezone.now(),
        **outcome,
    )


class _Progress:
    """Notes how far a job is, not oftener than twice a second, and renews its lease.

    Reading the file is the first half of the way, storing its cases the second.
    """

    def __init__(self, job: ImportJob, token: str) -> None:
        self._job, self._token = job, token
        self._read = 0
        self._noted_at_s = 0.0

    def watched(self, source: _Reads) -> BinaryIO:
        return _Watched(source, self._note_read)  # type: ignore[return-value]  # only read() is used

    def note_stored(self, stored: int, total: int) -> None:
        self._note(self._job.byte_size // 2 + self._job.byte_size * stored // (2 * max(total, 1)))

    def _note_read(self, size: int) -> None:
        self._read += size
        self._note(self._read // 2)

    def _note(self, bytes_read: int) -> None:
        now_s = time.monotonic()
        if now_s - self._noted_at_s < _NOTED_EVERY_S:
            return
        self._noted_at_s = now_s
        mine = ImportJob.objects.filter(pk=self._job.pk, claim_token=self._token)
        if mine.update(bytes_read=bytes_read, lease_expires_at=_lease()) != 1:
            raise JobLost


class _Watched:
    """A source that tells how much was read from it."""

    def __init__(self, source: _Reads, note: _Note) -> None:
        self._source, self._note = source, note

    def read(self, size: int = -1, /) -> bytes:
        data = self._source.read(size)
        self._note(len(data))
        return data


class _Note(Protocol):
    def __call__(self, size: int, /) -> None: ...
