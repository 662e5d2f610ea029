"""The grid by keyboard and without script: scenarios unfold, arrow keys pass over what is folded."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer
from pytest_playwright.pytest_playwright import CreateContextCallback

from reports.models import Run, Team, User
from reports.services.sign_in import create_sign_in_link
from tests.browser.keys import press
from tests.pages.test_grid_rows import version_of_variants

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def run(team: Team) -> Run:
    version_of_variants(team, 1, ask="PPP", leave="P")
    return version_of_variants(team, 2, ask="FFP", leave="F")


def address(live_server: LiveServer, run: Run) -> str:
    return f"{live_server.url}/targets/{run.version.target_id}/grid/"


def focused(page: Page) -> str:
    return str(page.evaluate("document.activeElement.closest('tr').querySelector('th').innerText.split('\\n')[0]"))


def test_arrow_keys_pass_over_folded_rows_and_walk_through_unfolded_ones(
    signed_in_page: Page, live_server: LiveServer, run: Run
) -> None:
    page = signed_in_page
    page.goto(address(live_server, run))
    first = page.locator("tbody .cell").first
    variant = page.get_by_text("ask: w0")
    expect(variant).to_be_hidden()

    first.focus()
    press(page, "ArrowDown")
    folded = focused(page)
    page.locator("summary", has_text="ask").focus()
    page.keyboard.press("Enter")
    expect(variant).to_be_visible()
    first.focus()
    page.keyboard.press("ArrowDown")

    assert (folded, focused(page)) == ("leave", "ask: w0")
    assert Axe().run(page).response["violations"] == []


def test_scenarios_unfold_without_script(
    new_context: CreateContextCallback, live_server: LiveServer, runner: User, run: Run
) -> None:
    page = new_context(java_script_enabled=False).new_page()
    page.goto(f"{live_server.url}/sign-in/{create_sign_in_link(user=runner)}/")
    page.goto(address(live_server, run))

    expect(page.get_by_text("ask: w0")).to_be_hidden()
    page.locator("summary", has_text="ask").click()

    expect(page.get_by_text("ask: w0")).to_be_visible()
