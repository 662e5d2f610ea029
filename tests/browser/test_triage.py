"""Baselines, notes, definitions and rules in the browser: by keyboard, without console errors, accessible."""

from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from reports.models import Baseline, Note, Run, Team
from reports.services.sign_in import create_sign_in_link
from tests.browser.keys import press
from tests.factories import make_member, outcomes, scenario, suite
from tests.factories import stored as store

pytestmark = pytest.mark.django_db(transaction=True)
Pair = tuple[Run, Run]


@pytest.fixture
def admins_page(page: Page, live_server: LiveServer, team: Team) -> Page:
    page.goto(f"{live_server.url}/sign-in/{create_sign_in_link(user=make_member(team, 'admin'))}/")
    return page


@pytest.fixture
def pair(team: Team) -> Pair:
    other = scenario("b")
    other["steps"][0]["input"] = {"text": "Something else"}
    defined: dict[str, Any] = suite() | {"scenarios": [scenario("a"), other]}
    before = outcomes("v1", a="PPP", b="PP") | {"startedAt": "2026-03-01T09:00:00Z"}
    return store(team, before), store(team, outcomes("v2", a="FFF", b="FF") | {"suite": defined})


def assert_accessible(page: Page) -> None:
    found = Axe().run(page).response["violations"]
    assert [(each["id"], each["nodes"][0]["html"][:200]) for each in found] == []


def test_a_run_is_pinned_and_compared_by_name(admins_page: Page, live_server: LiveServer, pair: Pair) -> None:
    page = admins_page
    page.goto(f"{live_server.url}/runs/{pair[0].pk}/")
    page.get_by_role("link", name="Make baseline…").click()
    page.get_by_label("Reason").fill("Released")
    press(page, "Enter")
    expect(page.get_by_role("row", name="production default")).to_be_visible()
    assert_accessible(page)

    page.goto(f"{live_server.url}/compare/?baseline=baseline&candidate=run:{pair[1].pk}")

    expect(page.get_by_text("the baseline production, the default of this target and suite")).to_be_visible()
    assert_accessible(page)
    assert Baseline.objects.get().reason == "Released"


def test_a_row_is_noted_and_the_reader_comes_back_to_it(admins_page: Page, live_server: LiveServer, pair: Pair) -> None:
    page = admins_page
    page.goto(f"{live_server.url}/compare/?baseline=run:{pair[0].pk}&candidate=run:{pair[1].pk}")
    page.get_by_role("link", name="Add a note on a", exact=True).click()
    assert_accessible(page)
    page.get_by_label("State").select_option("known issue")
    page.get_by_label("Text").fill("Ticket 12")
    page.get_by_role("button", name="Keep this note").click()

    expect(page.get_by_role("link", name="known issue")).to_be_visible()
    assert "#row-" in page.url
    page.goto(f"{live_server.url}/settings/notes/")
    expect(page.get_by_role("link", name="3 failing cases")).to_be_visible()
    assert_accessible(page)
    page.get_by_label("Choose the note on a").check()
    page.get_by_role("button", name="Close the chosen notes").click()
    expect(page.get_by_text("There are no open notes")).to_be_visible()
    assert Note.objects.get().closed_at is not None


def test_definitions_rules_and_policy_are_accessible(admins_page: Page, live_server: LiveServer, pair: Pair) -> None:
    page = admins_page
    page.goto(f"{live_server.url}/compare/?baseline=run:{pair[0].pk}&candidate=run:{pair[1].pk}")
    page.get_by_role("link", name="Review the changed definitions").click()
    assert_accessible(page)
    page.get_by_label("Choose b").check()
    page.get_by_role("button", name="Accept the chosen definitions").click()
    page.get_by_text("Withdraw…").click()
    expect(page.get_by_role("button", name="Withdraw this")).to_be_visible()
    assert_accessible(page)

    page.goto(f"{live_server.url}/runs/{pair[0].pk}/baseline/")
    page.get_by_role("button", name="Make this run the baseline").click()
    page.get_by_text("Clear…").click()
    page.get_by_label("Reason").last.fill("Withdrawn")
    assert_accessible(page)
    page.get_by_role("button", name="Clear production").click()
    expect(page.get_by_role("cell", name="Withdrawn")).to_be_visible()

    for address in ("/settings/ignore-rules/", "/settings/policy/", "/settings/audit/"):
        page.goto(f"{live_server.url}{address}")
        assert_accessible(page)


@pytest.mark.parametrize(
    "address", ["/settings/notes/", "/settings/ignore-rules/", "/settings/policy/", "/settings/audit/"]
)
def test_narrow_windows_show_settings_without_scrolling_sideways(
    admins_page: Page, live_server: LiveServer, pair: Pair, address: str
) -> None:
    page = admins_page
    page.set_viewport_size({"width": 360, "height": 800})

    page.goto(f"{live_server.url}{address}")

    assert page.evaluate("document.documentElement.scrollWidth") <= 360
