"""Uploading reports by keyboard, watching a large one, and reading about the API."""

import json
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from reports.models import ImportJob, Run
from reports.services.import_jobs import run_job
from reports.views import imports
from tests.factories import report

pytestmark = pytest.mark.django_db(transaction=True)


def written(folder: Path, name: str, value: object) -> Path:
    path = folder / name
    path.write_text(json.dumps(value))
    return path


def assert_accessible(page: Page) -> None:
    for width in (360, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        found = Axe().run(page).response["violations"]
        assert [(width, each["id"], each["nodes"][0]["html"]) for each in found] == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_two_reports_are_imported_by_keyboard(signed_in_page: Page, live_server: LiveServer, tmp_path: Path) -> None:
    page = signed_in_page
    page.goto(f"{live_server.url}/runs/import/")
    assert_accessible(page)

    page.get_by_label("Report files").set_input_files(
        [written(tmp_path, "one.json", report("P")), written(tmp_path, "b\u202eo.json", report("F"))]
    )
    page.get_by_role("button", name="Import reports").press("Enter")

    expect(page.get_by_text("2 files taken")).to_be_visible()
    assert_accessible(page)
    page.get_by_role("link", name="Open the run of one.json").press("Enter")
    expect(page).to_have_url(f"{live_server.url}/runs/{Run.objects.get(file_name='one.json').pk}/")


def test_a_large_report_is_watched_until_it_is_there_or_refused(
    signed_in_page: Page, live_server: LiveServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = signed_in_page
    monkeypatch.setattr(imports, "SMALL_BYTES", 100)
    for value, outcome in ((report("P"), "The report is imported"), (report("P") | {"extra": 1}, "extra")):
        page.goto(f"{live_server.url}/runs/import/")
        page.get_by_label("Report files").set_input_files(written(tmp_path, "large.json", value))
        page.get_by_role("button", name="Import reports").press("Enter")
        expect(page.get_by_text("Waiting for a worker")).to_be_visible()
        assert_accessible(page)

        run_job(job_pk=ImportJob.objects.order_by("-pk")[0].pk)

        expect(page.get_by_text(outcome).first).to_be_visible()
        assert_accessible(page)


def test_the_api_is_described_on_a_page_without_foreign_parts(signed_in_page: Page, live_server: LiveServer) -> None:
    page = signed_in_page
    foreign: list[str] = []
    page.on("request", lambda sent: None if sent.url.startswith(live_server.url) else foreign.append(sent.url))

    page.goto(f"{live_server.url}/api/docs")

    expect(page.get_by_role("heading", name="Import a report")).to_be_visible()
    assert_accessible(page)
    assert foreign == []
