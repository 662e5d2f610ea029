"""The frame and the lists by keyboard: search, choosing, comparing, help, theme; a scan finds nothing amiss."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer
from pytest_playwright.pytest_playwright import CreateContextCallback

from reports.models import Run, Target, Team, User
from reports.services.sign_in import create_sign_in_link
from tests.browser.keys import press
from tests.factories import report, stored

pytestmark = pytest.mark.django_db(transaction=True)
WIDTHS = (360, 1280)


@pytest.fixture
def runs(team: Team) -> list[Run]:
    """Three versions of one target, oldest first."""
    return [
        stored(
            team,
            report(
                letters,
                target={"id": "desk.agent", "fingerprint": f"v{day}"},
                startedAt=f"2026-03-0{day}T09:00:00Z",
                finishedAt=f"2026-03-0{day}T09:01:00Z",
            ),
        )
        for day, letters in enumerate(("PPPP", "PPFS", "PFEB"), 1)
    ]


def addresses(run: Run) -> list[str]:
    target = Target.objects.get(versions=run.version_id)
    return ["/", "/runs/", "/targets/", f"/targets/{target.pk}/", "/suites/", f"/suites/{run.revision.suite_id}/"]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_an_accessibility_scan_finds_nothing(
    signed_in_page: Page, live_server: LiveServer, runs: list[Run], theme: str
) -> None:
    signed_in_page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
    for address in [*addresses(runs[0]), "/help/", "/help/connect/"]:
        for width in WIDTHS:
            signed_in_page.set_viewport_size({"width": width, "height": 900})
            signed_in_page.goto(f"{live_server.url}{address}")

            found = Axe().run(signed_in_page).response["violations"]

            assert [(address, width, each["id"], each["nodes"][0]["html"]) for each in found] == []
            assert signed_in_page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (address, width)


def test_signing_in_is_accessible(page: Page, live_server: LiveServer) -> None:
    page.goto(f"{live_server.url}/sign-in/")

    assert Axe().run(page).response["violations"] == []


def test_two_runs_are_chosen_and_compared_by_keyboard(
    signed_in_page: Page, live_server: LiveServer, runs: list[Run]
) -> None:
    page = signed_in_page
    page.goto(f"{live_server.url}/runs/")
    compare = page.get_by_role("button", name="Compare the chosen")
    expect(compare).to_be_disabled()

    boxes = page.get_by_role("checkbox", name="Choose desk.agent")
    boxes.nth(0).press("Space")
    boxes.nth(2).press("Space")
    expect(boxes.nth(1)).to_be_disabled()
    compare.press("Enter")

    page.wait_for_url(f"{live_server.url}/compare/?baseline={runs[0].pk}&candidate={runs[2].pk}")


def test_keys_walk_the_list_and_open_what_is_chosen(
    signed_in_page: Page, live_server: LiveServer, runs: list[Run]
) -> None:
    page = signed_in_page
    page.goto(f"{live_server.url}/runs/")
    expect(page.locator("html")).to_have_attribute("data-started", "")

    for key in ("j", "j", "j", "k"):
        press(page, key)

    expect(page.locator("tr[data-current]")).to_have_count(1)
    expect(page.locator("tr[data-current] a:focus")).to_have_attribute("href", f"/runs/{runs[1].pk}/")


def test_a_slash_leads_to_the_search_and_the_search_to_the_runs(
    signed_in_page: Page, live_server: LiveServer, runs: list[Run]
) -> None:
    page = signed_in_page
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(f"{live_server.url}/targets/")
        expect(page.locator("html")).to_have_attribute("data-started", "")

        press(page, "/")
        page.keyboard.type("version:v2")
        press(page, "Enter")

        page.wait_for_url("**/runs/?q=version%3Av2")
        expect(page.locator("tbody tr")).to_have_count(1)


def test_a_chips_menu_is_fetched_when_it_opens_and_narrows_the_list(
    signed_in_page: Page, live_server: LiveServer, runs: list[Run]
) -> None:
    page = signed_in_page
    page.goto(f"{live_server.url}/runs/")

    page.locator(".chip summary", has_text="version").click()
    page.get_by_role("link", name="v3", exact=True).click()

    page.wait_for_url("**/runs/?q=version%3Av3")
    expect(page.locator("tbody tr")).to_have_count(1)


def test_a_menu_closes_by_escape_and_by_a_press_elsewhere(
    signed_in_page: Page, live_server: LiveServer, runs: list[Run]
) -> None:
    page = signed_in_page
    page.goto(f"{live_server.url}/runs/")
    expect(page.locator("html")).to_have_attribute("data-started", "")
    choice = page.get_by_role("link", name="not passed")
    chip = page.locator(".chip summary", has_text="outcome")

    chip.press("Enter")
    expect(choice).to_be_visible()
    press(page, "Escape")
    expect(choice).to_be_hidden()
    expect(chip).to_be_focused()
    chip.click()
    expect(choice).to_be_visible()
    page.get_by_role("heading", name="Runs").click()

    expect(choice).to_be_hidden()


def test_help_opens_by_its_key_and_gives_the_focus_back(signed_in_page: Page, live_server: LiveServer) -> None:
    page = signed_in_page
    page.goto(f"{live_server.url}/targets/")
    expect(page.locator("html")).to_have_attribute("data-started", "")

    press(page, "?")
    dialog = page.get_by_role("dialog", name="Keys and signs")
    expect(dialog).to_be_visible()
    assert Axe().run(page).response["violations"] == []
    press(page, "Escape")

    expect(dialog).to_have_count(0)
    expect(page.get_by_role("link", name="Help and keys")).to_be_focused()


def test_the_theme_changes_at_once_and_stays(signed_in_page: Page, live_server: LiveServer) -> None:
    page = signed_in_page
    page.goto(f"{live_server.url}/runs/")

    page.get_by_label("Theme").click()
    with page.expect_response("**/settings/theme/") as answered:
        page.get_by_role("button", name="Dark").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")

    assert answered.value.status == 204
    page.goto(f"{live_server.url}/targets/")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


def test_a_baseline_from_the_target_page_waits_in_the_tray(
    signed_in_page: Page, live_server: LiveServer, runs: list[Run]
) -> None:
    page = signed_in_page
    page.goto(f"{live_server.url}{addresses(runs[0])[3]}")

    page.get_by_role("button", name="Use as baseline desk.agent @ v1").click()
    tray = page.get_by_role("complementary", name="Comparison tray")
    expect(tray).to_contain_text("desk.agent @ v1")
    page.goto(f"{live_server.url}/runs/")
    page.get_by_role("checkbox", name="Choose desk.agent @ v3").check()
    page.get_by_role("button", name="Compare the chosen").click()

    page.wait_for_url(f"**/compare/?baseline=version%3A{runs[0].version_id}&candidate={runs[2].pk}")


def test_the_trend_is_drawn_when_it_comes_into_view(
    signed_in_page: Page, live_server: LiveServer, runs: list[Run]
) -> None:
    page = signed_in_page
    page.goto(f"{live_server.url}{addresses(runs[0])[3]}")

    page.get_by_role("img", name="Chart of the pass rate").scroll_into_view_if_needed()

    expect(page.locator(".js-plotly-plot .point")).to_have_count(3, timeout=30_000)


def test_the_link_of_what_is_chosen_is_copied_by_its_key(
    signed_in_page: Page, live_server: LiveServer, runs: list[Run]
) -> None:
    page = signed_in_page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(f"{live_server.url}/runs/")
    expect(page.locator("html")).to_have_attribute("data-started", "")

    press(page, "j")
    press(page, "c")

    expect(page.get_by_text("Link copied.")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == f"{live_server.url}/runs/{runs[2].pk}/"


def test_filters_can_be_chosen_without_script(
    new_context: CreateContextCallback, live_server: LiveServer, runner: User, runs: list[Run]
) -> None:
    page = new_context(java_script_enabled=False).new_page()
    page.goto(f"{live_server.url}/sign-in/{create_sign_in_link(user=runner)}/")
    page.goto(f"{live_server.url}/runs/")

    page.locator(".chip summary", has_text="version").click()
    page.get_by_role("link", name="Choose a version").click()
    page.get_by_role("link", name="v3", exact=True).click()

    page.wait_for_url("**/runs/?q=version%3Av3")
    expect(page.locator("tbody tr")).to_have_count(1)
