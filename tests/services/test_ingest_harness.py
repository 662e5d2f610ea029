"""Results of the scenario harness are stored once, whole or not at all, from wherever they come."""

import io
import json
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from reports.importers.given import Given
from reports.models import Case, Generation, ImportJob, Run, Team, User
from reports.services.import_jobs import queue_upload, run_job
from reports.services.ingest import ReportRejected, ingest_report
from reports.services.recount import recount_run
from tests.importers.harness_files import DATA, lines, row

GIVEN = Given("assistant", "abc")
V1 = (DATA / "reports" / "v1" / "results.jsonl").read_bytes()
SCENARIO = json.dumps({"id": "greet", "prompt": "Hello there", "expected": {"assistant_contains": ["Hi"]}})


def ingest(team: Team, data: bytes, given: Given = GIVEN) -> str:
    return ingest_report(team=team, source=io.BytesIO(data), origin="upload", given=given).outcome


def test_the_same_results_are_one_run_in_every_form(team: Team) -> None:
    outcomes = [ingest(team, data) for data in (V1, V1, (DATA / "reports" / "v1" / "report.json").read_bytes())]

    run = Run.objects.get()
    assert outcomes == ["created", "unchanged", "unchanged"]
    assert (run.format, run.status, run.total, run.passed, run.failed) == ("harness", "completed", 60, 50, 10)
    assert (run.version.target.target_id, run.version.fingerprint) == ("assistant", "abc")
    assert recount_run(run, repair=False) == ()


def test_nothing_is_stored_of_results_with_a_bad_line(team: Team) -> None:
    with pytest.raises(ReportRejected, match="line 61"):
        ingest(team, V1 + b"{}\n")

    assert not Run.objects.exists() and not Generation.objects.exists() and not Case.objects.exists()


def test_a_failed_row_says_in_words_what_the_harness_said(team: Team) -> None:
    ingest(team, lines(row("greet", "assistant response missing substring: Hi", "turns above maximum: x")))

    case = Case.objects.get()
    assert case.failing == "at the end: assistant response missing substring: Hi (and 1 more)"
    assert case.signature is not None
    assert case.signature.assertions == [["assistant_contains"], ["max_turns"]]


def test_a_worker_imports_with_what_was_said_beside_the_file(team: Team, runner: User) -> None:
    upload = SimpleUploadedFile("results.jsonl", lines(row()))

    job = queue_upload(team=team, user=runner, upload=upload, given=Given("a", "b\ud800", "s", SCENARIO))
    run_job(job_pk=job.pk)

    job = ImportJob.objects.get()
    assert job.state == "done", job.error_text
    assert Run.objects.get().revision.suite.suite_id == "s"


# ------------------------------------------------------------------------------------------------------------- the ways


def test_the_form_takes_target_version_and_scenario_file(client_of_runner: Client) -> None:
    sent = {
        "report_files": SimpleUploadedFile("results.jsonl", lines(row())),
        "scenario_file": SimpleUploadedFile("scenarios.jsonl", SCENARIO.encode()),
        "target": "assistant",
        "fingerprint": "abc",
    }

    response = client_of_runner.post(reverse("import"), sent, follow=True)

    run = Run.objects.get()
    assert response.redirect_chain == [(f"/runs/{run.pk}/", 302)]
    page = client_of_runner.get(f"/runs/{run.pk}/cases/0/").content.decode()
    assert "Hello there" in page


def test_the_form_says_what_is_needed_and_keeps_what_was_typed(client_of_runner: Client) -> None:
    sent = {"report_files": SimpleUploadedFile("results.jsonl", lines(row())), "target": "assistant <b>"}

    response = client_of_runner.post(reverse("import"), sent)

    page = response.content.decode()
    assert response.status_code == 422
    assert "fingerprint is missing" in page
    assert '<details class="fold" open>' in page
    assert 'value="assistant &lt;b&gt;"' in page


def test_the_command_takes_them_as_flags(team: Team, tmp_path: Path) -> None:
    results, scenarios = tmp_path / "results.jsonl", tmp_path / "scenarios.jsonl"
    results.write_bytes(lines(row()))
    scenarios.write_text(SCENARIO)
    flags = ["--target", "assistant", "--fingerprint", "abc", "--scenarios", str(scenarios)]

    call_command("import_reports", str(results), *flags, stdout=io.StringIO())

    assert Run.objects.get().revision.suite.suite_id == "harness"
