"""The main job, walked as a person would: import, compare, open what broke, run, watch, compare again.

With a real browser, the site's own server and a real worker.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.conf import LazySettings
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from tests.browser.keys import press
from tests.execution.conftest import Worker

pytestmark = pytest.mark.django_db(transaction=True)

FLIGHTS = Path(__file__).parents[1] / "data" / "conformance" / "families" / "flights"
LONG_MS = 45_000  # a worker starts in a few seconds


@pytest.fixture
def worker(transactional_db: None, settings: LazySettings, tmp_path: Path) -> Iterator[Worker]:
    """A worker with the targets of a fresh start: the tutorial."""
    settings.TARGETS_FILE = ""
    started = Worker(None, tmp_path, 0, {}, troubles=False)
    yield started
    started.kill()
    said = started.log.read_text()
    assert "Traceback" not in said and "database is locked" not in said, said


def check_accessibility(page: Page) -> None:
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()


def test_import_compare_open_the_break_run_watch_and_compare_again(signed_in_page: Page, worker: Worker) -> None:
    page = signed_in_page
    check_accessibility(page)

    # Import two versions of one target.
    page.get_by_role("link", name="Import a report").first.click()
    page.get_by_label("Report files").set_input_files(sorted(FLIGHTS.glob("[12]-*.json")))
    check_accessibility(page)
    page.get_by_role("button", name="Import reports").click()
    expect(page.get_by_label("What became of each file").get_by_role("link")).to_have_count(2)
    check_accessibility(page)

    # Compare them from the list of runs.
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Runs").click()
    check_accessibility(page)
    for box in page.get_by_role("checkbox").all()[:2]:
        box.check()
    page.get_by_role("button", name="Compare the chosen").click()
    expect(page.locator(".page__answer, .comparison__answer").first).to_contain_text("5 scenario variants broke")
    check_accessibility(page)

    # Open the first row that broke: the page stands at the first difference.
    page.locator("[data-key-item] a").first.click()
    expect(page).to_have_url(re.compile(r"/compare/case/"))
    expect(page.locator("#divergence")).to_be_in_viewport()
    expect(page.get_by_text("First difference:").first).to_be_visible()
    check_accessibility(page)

    # Start the tutorial, twice, as two versions; the page shows each to its end by itself.
    start_run(page, version="correct-selection")
    expect(page.locator(".page__answer")).to_contain_text("4 of 4 decided cases passed", timeout=LONG_MS)
    check_accessibility(page)
    start_run(page, version="wrong-selection")
    expect(page.locator(".page__answer")).to_contain_text("2 of 4 decided cases passed", timeout=LONG_MS)

    # Compare it with the version before, and stand where the conversations part.
    page.get_by_role("link", name="Compare with its baseline").click()
    expect(page.get_by_role("main")).to_contain_text("2 scenario variants broke")
    page.locator("[data-key-item] a").first.click()
    expect(page.get_by_role("main")).to_contain_text("floor-lamp")
    check_accessibility(page)


def start_run(page: Page, *, version: str) -> None:
    page.get_by_role("link", name="New run").first.click()
    page.get_by_label("Version").select_option(version)
    expect(page.get_by_text("4 cases, 6 turns")).to_be_visible()
    check_accessibility(page)
    page.get_by_role("button", name="Start run").click()
    expect(page).to_have_url(re.compile(r"/runs/[0-9a-f-]{36}/"))


def test_the_main_job_by_keyboard_alone(signed_in_page: Page, live_server: LiveServer, worker: Worker) -> None:
    page = signed_in_page

    # The skip link comes first, and the help answers "?".
    press(page, "Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    press(page, "?")
    expect(page.get_by_role("dialog")).to_be_visible()
    press(page, "Escape")

    # Choosing a file is the browser's own dialog; the address of the form is reached by Tab.
    tab_to(page, "Import a report")
    press(page, "Enter")
    page.get_by_label("Report files").set_input_files(sorted(FLIGHTS.glob("[12]-*.json")))
    page.get_by_label("Report files").focus()
    tab_to(page, "Import reports")
    press(page, "Enter")
    expect(page.get_by_label("What became of each file").get_by_role("link")).to_have_count(2)

    # The list: two checkboxes and their button.
    tab_to(page, "Runs")
    press(page, "Enter")
    page.get_by_role("checkbox").first.focus()
    press(page, "Space")
    page.get_by_role("checkbox").nth(1).focus()
    press(page, "Space")
    tab_to(page, "Compare the chosen")
    press(page, "Enter")

    # j and Enter open a row; n goes to the next difference.
    expect(page.get_by_role("main")).to_contain_text("5 scenario variants broke")
    press(page, "j")
    press(page, "Enter")
    expect(page).to_have_url(re.compile(r"/compare/case/"))
    press(page, "n")

    # A run is started and watched without the mouse.
    tab_to(page, "New run")
    press(page, "Enter")
    page.get_by_label("Repetitions").focus()
    press(page, "ControlOrMeta+a")
    page.keyboard.type("2")
    expect(page.get_by_text("8 cases, 12 turns")).to_be_visible()
    press(page, "Enter")
    expect(page).to_have_url(re.compile(r"/runs/[0-9a-f-]{36}/"))
    expect(page.locator(".page__answer")).to_contain_text("8 of 8 decided cases passed", timeout=LONG_MS)


def tab_to(page: Page, name: str, most: int = 80) -> None:
    """Press Tab until the element with this text has the focus."""
    for _ in range(most):
        press(page, "Tab")
        focused = page.evaluate("document.activeElement.textContent.trim()")
        if focused.startswith(name):
            return
    raise AssertionError(f"Tab does not reach {name!r}")
