"""Runs of the scenario harness go out in its own formats as they came in."""

import io
import json
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.test import Client
from django.urls import reverse
from evalrunner.harness import parse_report, summarize

from reports.importers.given import Given
from reports.models import Run, Team, User
from reports.services.harness_export import harness_report, harness_rows, harness_summary
from reports.services.ingest import ingest_report
from tests import factories
from tests.execution.harness import Harness, scenario
from tests.importers.harness_files import DATA, lines, report, row

VERSIONS = sorted((DATA / "reports").glob("v*"))
NAMES = ("harness-rows", "harness-summary", "harness-report")


def imported(team: Team, data: bytes, given: Given | None = None) -> Run:
    said = given or Given("assistant", "abc")
    done = ingest_report(team=team, source=io.BytesIO(data), origin="upload", given=said)
    return Run.objects.select_related("revision").get(pk=done.run_pk)


@pytest.mark.parametrize("version", VERSIONS, ids=lambda path: path.name)
def test_what_was_imported_comes_out_byte_for_byte(team: Team, version: Path) -> None:
    results, summary, whole = (
        (version / name).read_bytes() for name in ("results.jsonl", "summary.json", "report.json")
    )

    run = imported(team, results, Given("assistant", "abc", "", (version / "scenarios.jsonl").read_text()))

    assert b"".join(harness_rows(run)) == results
    assert harness_summary(run) == summary
    assert b"".join(harness_report(run)) == whole


def test_a_summary_comes_out_as_it_was_written(team: Team) -> None:
    run = imported(team, report(row(), total_elapsed_ms=999, avg_elapsed_ms=0.5))

    assert json.loads(harness_summary(run))["total_elapsed_ms"] == 999
    assert json.loads(b"".join(harness_report(run)))["summary"]["avg_elapsed_ms"] == 0.5


@pytest.mark.django_db(transaction=True)
def test_what_was_run_here_comes_out_as_the_harness_writes_it(
    tmp_path: Path, settings: LazySettings, team: Team, runner: User
) -> None:
    harness = Harness(tmp_path, settings, team, runner)
    harness.write(scenario("a"), scenario("ä \u2028", turns=["more"], expected={"max_turns": 0}), keys="trace = false")

    run = harness.run()

    rows = [json.loads(line) for line in b"".join(harness_rows(run)).decode().split("\n")[:-1]]
    assert [(each["scenario_id"], each["passed"]) for each in rows] == [("a", True), ("ä \u2028", False)]
    assert list(rows[0])[:4] == ["scenario_id", "profile", "passed", "elapsed_ms"]
    assert "trace" not in rows[0]
    assert json.loads(harness_summary(run)) == summarize(rows)
    assert parse_report(b"".join(harness_report(run)).decode())["results"] == rows


def test_pages_and_api_offer_them_for_runs_of_the_harness_alone(client_of_viewer: Client, team: Team) -> None:
    run = imported(team, lines(row()))
    other = factories.make_member(factories.make_team("Other"), "viewer")
    stranger = Client()
    stranger.force_login(other)

    for name in NAMES:
        address = reverse(name, args=[run.pk])
        response = client_of_viewer.get(address)
        assert response.status_code == 200
        assert "attachment" in response["Content-Disposition"]
        assert stranger.get(address).status_code == 404
    for name in ("results", "summary", "report"):
        address = f"/api/v1/runs/{run.pk}/harness/{name}"
        assert client_of_viewer.get(address).status_code == 200
        assert stranger.get(address).status_code == 404
    page = client_of_viewer.get(reverse("run", args=[run.pk])).content.decode()
    assert "Harness: result rows (JSONL)" in page


def test_other_runs_have_none(client_of_viewer: Client, team: Team) -> None:
    run = imported(team, json.dumps(factories.report("P")).encode())

    for name in NAMES:
        assert client_of_viewer.get(reverse(name, args=[run.pk])).status_code == 404
    page = client_of_viewer.get(reverse("run", args=[run.pk])).content.decode()
    assert "Harness: result rows" not in page
