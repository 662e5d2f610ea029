"""The upload form and the page of a background import."""

import gzip
import json
import re
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from reports.models import Generation, ImportJob, Run, Team
from reports.services.import_jobs import run_job
from reports.views import imports
from tests.bad_reports import BAD_FILES, BAD_NAMES, BadFile, hostile_report
from tests.factories import make_team, report, stored

URL = "/runs/import/"


def upload(value: object, name: str = "report.json") -> SimpleUploadedFile:
    content = value if isinstance(value, bytes) else json.dumps(value).encode()
    return SimpleUploadedFile(name, content)


def test_the_form_is_for_runners(client_of_runner: Client, client_of_viewer: Client) -> None:
    assert client_of_runner.get(URL).status_code == 200
    assert client_of_viewer.get(URL).status_code == 403
    assert client_of_viewer.post(URL, {"report_files": upload(report("P"))}).status_code == 403
    assert Run.objects.count() == 0


def test_one_report_leads_to_its_run_each_time(client_of_runner: Client) -> None:
    value = report("PF")

    first = client_of_runner.post(URL, {"report_files": upload(value)})
    again = client_of_runner.post(URL, {"report_files": upload(gzip.compress(json.dumps(value).encode()), "r.gz")})

    run = Run.objects.get()
    assert (first.status_code, first["Location"]) == (302, f"/runs/{run.pk}/")
    assert again["Location"] == first["Location"]
    assert "was there already; nothing changed" in client_of_runner.get(again["Location"]).content.decode()


def test_several_files_are_answered_each(client_of_runner: Client) -> None:
    value = report("P")
    files = [upload(value, "good.json"), upload(b"{", "cut.json"), upload(value, "twice.json")]

    response = client_of_runner.post(URL, {"report_files": files})

    text = response.content.decode()
    assert response.status_code == 400
    assert "2 of 3 files taken, 1 refused" in text
    assert "Imported as a new run" in text
    assert "was there already" in text
    assert "cut off" in text
    assert Run.objects.count() == 1


@pytest.mark.parametrize("bad", BAD_FILES, ids=BAD_NAMES)
def test_bad_files_are_shown_with_code_and_place(client_of_runner: Client, bad: BadFile) -> None:
    response = client_of_runner.post(URL, {"report_files": upload(bad.make(), "bad.json")})

    text = response.content.decode()
    assert response.status_code == bad.status
    assert f"<code>{bad.code}</code>" in text
    if bad.path:
        assert f"<bdi>{bad.path}</bdi>" in text
    assert (Run.objects.count(), Generation.objects.count()) == (0, 0)


def test_sending_no_file_is_answered_at_the_field(client_of_runner: Client) -> None:
    response = client_of_runner.post(URL, {})

    assert response.status_code == 400
    assert "Choose at least one report file" in response.content.decode()


def test_names_and_places_from_outside_are_text(client_of_runner: Client) -> None:
    value = report("P") | {"<img src=x onerror=alert(1)>\u202e": 1}

    text = client_of_runner.post(URL, {"report_files": upload(value, "<b>\u202e.json")}).content.decode()

    assert "<img" not in text.replace('<img src="', "")
    assert "<b>" not in text
    assert "\u202e" not in text


# ---------------------------------------------------------------------------------------------------- in the background


@pytest.fixture
def queued(client_of_runner: Client, monkeypatch: pytest.MonkeyPatch) -> ImportJob:
    """A job whose file was too large to be imported at once."""
    monkeypatch.setattr(imports, "SMALL_BYTES", 100)
    response = client_of_runner.post(URL, {"report_files": upload(hostile_report(), "large.json")})
    job = ImportJob.objects.get()
    assert response["Location"] == f"/imports/{job.pk}/"
    return job


def test_a_large_file_is_imported_by_a_worker_while_its_page_watches(
    client_of_runner: Client, queued: ImportJob
) -> None:
    page = f"/imports/{queued.pk}/"
    waiting = client_of_runner.get(page).content.decode()
    assert "Waiting for a worker" in waiting
    assert 'hx-trigger="every 1s"' in waiting

    ImportJob.objects.update(state="running", bytes_read=queued.byte_size // 4)
    part = client_of_runner.get(page, headers={"HX-Request": "true"}).content.decode()
    assert "Checking the report" in part
    assert "25 % done" in part or "24 % done" in part
    assert "<html" not in part

    ImportJob.objects.update(state="queued")
    run_job(job_pk=queued.pk)
    done = client_of_runner.get(page).content.decode()
    assert "hx-trigger" not in done
    assert re.search(rf'href="/runs/{Run.objects.get().pk}/"', done)


def test_packed_files_are_large_sooner(client_of_runner: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    content = json.dumps(report("P")).encode()
    monkeypatch.setattr(imports, "SMALL_BYTES", len(content))

    plain = client_of_runner.post(URL, {"report_files": upload(content)})
    packed = client_of_runner.post(URL, {"report_files": upload(gzip.compress(content))})

    assert plain["Location"].startswith("/runs/")
    assert packed["Location"].startswith("/imports/")


def test_a_refused_large_file_shows_its_places(client_of_runner: Client, queued: ImportJob) -> None:
    Path(queued.path).write_text(json.dumps(report("P") | {"extra": 1}))
    run_job(job_pk=queued.pk)

    text = client_of_runner.get(f"/imports/{queued.pk}/").content.decode()

    assert "<code>report_invalid</code>" in text
    assert "<bdi>extra</bdi>" in text
    assert "hx-trigger" not in text


def test_another_teams_job_is_not_there(client_of_runner: Client, queued: ImportJob, team: Team) -> None:
    ImportJob.objects.update(team=make_team())

    assert client_of_runner.get(f"/imports/{queued.pk}/").status_code == 404
    assert client_of_runner.get("/imports/99999999999999999999/").status_code == 404


def test_the_report_is_a_file_and_another_teams_is_not_there(client_of_viewer: Client, team: Team) -> None:
    value = report("PF")
    run = stored(team, value)
    foreign = stored(make_team(), report("P"))

    response = client_of_viewer.get(f"/runs/{run.pk}/report.json")

    assert json.loads(response.getvalue()) == value
    assert response["Content-Disposition"] == f'attachment; filename="report-{run.pk}.json"'
    assert client_of_viewer.get(f"/runs/{foreign.pk}/report.json").status_code == 404
    Run.objects.update(status="rejected", head=b"")
    refused = client_of_viewer.get(f"/runs/{run.pk}/report.json")
    assert refused.status_code == 409
    assert "could not begin" in refused.content.decode()
