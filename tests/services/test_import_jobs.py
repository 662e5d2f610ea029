"""Uploads that a worker reads in the background."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile, TemporaryUploadedFile
from django.utils import timezone

from reports.models import Generation, ImportJob, Run, Team, User
from reports.services import import_jobs
from reports.services.import_jobs import JobLost, claim, queue_upload, run_job, waiting_jobs
from tests.bad_reports import BAD_FILES, BAD_NAMES, BadFile
from tests.factories import report


def queued(team: Team, runner: User, content: bytes, name: str = "r.json") -> ImportJob:
    return queue_upload(team=team, user=runner, upload=SimpleUploadedFile(name, content))


def encoded(value: object) -> bytes:
    return json.dumps(value).encode()


def test_a_queued_upload_becomes_a_run_and_its_file_goes(team: Team, runner: User) -> None:
    job = queued(team, runner, encoded(report("PF")))
    assert Path(job.path).exists()

    run_job(job_pk=job.pk)

    job.refresh_from_db()
    run = Run.objects.get()
    assert (job.state, job.run, job.bytes_read, job.error_code) == ("done", run, job.byte_size, "")
    assert job.finished_at is not None
    assert (run.origin, run.file_name, run.created_by) == ("upload", "r.json", runner)
    assert not Path(job.path).exists()


def test_an_upload_on_disk_is_moved_not_copied(team: Team, runner: User) -> None:
    upload = TemporaryUploadedFile("r.json", "application/json", 0, None)
    upload.write(encoded(report("P")))
    upload.flush()
    place = Path(upload.temporary_file_path())

    job = queue_upload(team=team, user=runner, upload=upload)
    upload.close()

    assert not place.exists()
    run_job(job_pk=job.pk)
    assert Run.objects.count() == 1


@pytest.mark.parametrize("bad", BAD_FILES[:4] + BAD_FILES[8:12], ids=BAD_NAMES[:4] + BAD_NAMES[8:12])
def test_a_bad_upload_is_refused_with_its_places(team: Team, runner: User, bad: BadFile) -> None:
    job = queued(team, runner, bad.make())

    run_job(job_pk=job.pk)

    job.refresh_from_db()
    assert (job.state, job.error_code, job.run) == ("refused", bad.code, None)
    assert job.error_text
    if bad.path is not None:
        assert job.error_paths[0][0] == bad.path
    assert not Path(job.path).exists()
    assert (Run.objects.count(), Generation.objects.count()) == (0, 0)


def test_faults_of_hostile_places_are_stored(team: Team, runner: User) -> None:
    job = queued(team, runner, encoded(report("P") | {"\x00\ud83d": 1}))

    run_job(job_pk=job.pk)

    job.refresh_from_db()
    assert job.error_paths == [["\\x00\\ud83d", "is a member that the format does not know"]]


def test_a_job_is_claimed_once_until_its_lease_runs_out(team: Team, runner: User) -> None:
    job = queued(team, runner, encoded(report("P")))
    later = timezone.now() + timedelta(seconds=1)
    assert waiting_jobs(before=later) == [job.pk]

    assert claim(job_pk=job.pk) is not None
    assert claim(job_pk=job.pk) is None
    assert waiting_jobs(before=later) == []

    ImportJob.objects.update(lease_expires_at=timezone.now() - timedelta(seconds=1))
    assert waiting_jobs(before=later) == [job.pk]
    run_job(job_pk=job.pk)
    assert Run.objects.count() == 1
    run_job(job_pk=job.pk)
    assert Run.objects.count() == 1


def test_progress_is_noted_while_the_file_is_read_and_stored(
    team: Team, runner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_jobs, "_NOTED_EVERY_S", 0)
    noted: list[int] = []
    note = import_jobs._Progress._note

    def watching(self: Any, bytes_read: int) -> None:
        note(self, bytes_read)
        noted.append(ImportJob.objects.values_list("bytes_read", flat=True).get())

    monkeypatch.setattr(import_jobs._Progress, "_note", watching)
    job = queued(team, runner, encoded(report("P" * 200)))

    run_job(job_pk=job.pk)

    assert noted == sorted(noted)
    assert noted[0] < job.byte_size // 2 <= noted[-1] < job.byte_size


def test_a_worker_that_lost_its_claim_stops_and_leaves_the_file(
    team: Team, runner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_jobs, "_NOTED_EVERY_S", 0)
    job = queued(team, runner, encoded(report("P")))
    original = import_jobs.claim

    def robbed(*, job_pk: int) -> str | None:
        token = original(job_pk=job_pk)
        ImportJob.objects.update(claim_token="another")
        return token

    monkeypatch.setattr(import_jobs, "claim", robbed)

    run_job(job_pk=job.pk)

    job.refresh_from_db()
    assert (job.state, Path(job.path).exists(), Run.objects.count()) == ("running", True, 0)
    assert issubclass(JobLost, Exception)


def test_a_defect_ends_the_job_instead_of_repeating_it(
    team: Team, runner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(**options: object) -> None:
        raise RuntimeError("defect")

    monkeypatch.setattr(import_jobs, "ingest_report", broken)
    job = queued(team, runner, encoded(report("P")))

    with pytest.raises(RuntimeError):
        run_job(job_pk=job.pk)

    job.refresh_from_db()
    assert (job.state, job.error_code) == ("refused", "import_failed")


def test_a_file_that_is_gone_is_said_to_be_gone(team: Team, runner: User) -> None:
    job = queued(team, runner, b"{}")
    Path(job.path).unlink()

    run_job(job_pk=job.pk)

    job.refresh_from_db()
    assert (job.state, job.error_code) == ("refused", "file_gone")
