"""A scenario file is run from the form, watched, read, exported and compared with a second run."""

import json
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from tests.execution.conftest import Start
from tests.execution.conftest import start_worker as start_worker
from tests.execution.conftest import targets_file as targets_file
from tests.execution.harness import scenario

pytestmark = pytest.mark.django_db(transaction=True)

LONG_MS = 45_000  # a worker starts in a few seconds
TARGET = """
[[target]]
name = "assistant"
kind = "harness"
scenarios = ["smoke.jsonl"]
[target.fingerprint]
from = "asked"
"""
ROWS = [
    scenario("greets", "Say hello", tags=["smoke"], expected={"assistant_contains": ["Kairox"]}),
    scenario("says goodbye", "Say goodbye", tags=["smoke"], expected={"assistant_contains": ["Goodbye"]}),
    scenario("left out", "Not this one", tags=["slow"]),
]


def expect_sound(page: Page) -> None:
    found = Axe().run(page).response["violations"]
    assert [(each["id"], each["nodes"][0]["html"]) for each in found] == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.fixture
def harness_target(targets_file: Path) -> None:
    (targets_file.parent / "smoke.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    targets_file.write_text(TARGET)


def run_version(page: Page, live_server: LiveServer, version: str) -> str:
    """Fill in the form, start the run, wait for its end and return its address."""
    page.goto(f"{live_server.url}/runs/new/")
    page.get_by_label("Version (fingerprint)").fill(version)
    page.get_by_role("group", name="Tags to leave out").get_by_label("slow").check()
    expect(page.locator("#new-run-plan")).to_contain_text("2 scenarios × 1 repetition = 2 cases, 2 turns")
    expect_sound(page)
    page.get_by_role("button", name="Start run").click()
    expect(page.get_by_text("1 of 2 decided cases passed").first).to_be_visible(timeout=LONG_MS)
    return page.url


def test_a_scenario_file_is_run_read_exported_and_compared(
    signed_in_page: Page, live_server: LiveServer, harness_target: None, start_worker: Start
) -> None:
    page = signed_in_page
    start_worker()

    first = run_version(page, live_server, "v1")
    page.reload()
    expect_sound(page)
    page.get_by_role("link", name="says-goodbye").first.click()
    expect(page.get_by_text("hello from Kairox")).to_be_visible()
    expect(page.get_by_text("assistant response missing substring: Goodbye").first).to_be_visible()
    page.get_by_text("Sequence of events").click()
    expect(page.get_by_text("AssistantMessageCompleted").first).to_be_visible()
    expect_sound(page)

    page.goto(first)
    page.locator("summary", has_text="Export").click()
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Harness: result rows (JSONL)").click()
    rows = [json.loads(line) for line in Path(waiting.value.path()).read_text().splitlines()]
    assert [(row["scenario_id"], row["passed"]) for row in rows] == [("greets", True), ("says goodbye", False)]

    second = run_version(page, live_server, "v2")
    sides = [address.rstrip("/").rsplit("/", 1)[1] for address in (first, second)]
    page.goto(f"{live_server.url}/compare/?baseline=run:{sides[0]}&candidate=run:{sides[1]}")
    expect(page.get_by_role("heading", name="By the scenario harness")).to_be_visible()
    for width in (360, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        expect_sound(page)
