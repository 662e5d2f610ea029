"""Pages stand still while their scripts start and while what they fetch later comes into view."""

import time

import pytest
from playwright.sync_api import Page, Route, expect
from pytest_django.live_server_helper import LiveServer
from pytest_playwright.pytest_playwright import CreateContextCallback

from reports.models import Case, Run, Target, Team, User
from reports.services.sign_in import create_sign_in_link
from tests.factories import outcomes, stored

pytestmark = pytest.mark.django_db(transaction=True)
WATCH_SHIFTS = """
window.shifts = [];
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) {
    if (entry.hadRecentInput) continue;
    const what = entry.sources.map(({ node, previousRect, currentRect }) =>
      `${node?.className ?? ""} from ${previousRect.y} to ${currentRect.y}`);
    window.shifts.push(`${entry.value.toFixed(4)}: ${what.join(", ")}`);
  }
}).observe({ type: "layout-shift", buffered: true });
"""


@pytest.fixture
def runs(team: Team) -> list[Run]:
    """Three versions of a target that has enough scenarios to scroll through."""
    names = [f"s{number:02}" for number in range(30)]
    return [
        stored(
            team,
            outcomes(f"v{day}", **dict.fromkeys(names, "PP"), first=letters)
            | {"startedAt": f"2026-03-0{day}T09:00:00Z", "finishedAt": f"2026-03-0{day}T09:01:00Z"},
        )
        for day, letters in enumerate(("PP", "PF", "FF"), 1)
    ]


def addresses(runs: list[Run]) -> list[str]:
    before, after = runs[-2:]
    target = Target.objects.get(versions=after.version_id)
    failed = Case.objects.filter(generation=after.generation_id, status="failed")[0]
    sides = f"baseline=run:{before.pk}&candidate=run:{after.pk}"
    return [
        "/",
        "/runs/",
        f"/runs/{after.pk}/",
        f"/runs/{after.pk}/cases/{failed.position}/",
        f"/runs/{after.pk}/cases/{failed.position}/raw/",
        f"/runs/{after.pk}/baseline/",
        "/runs/new/",
        "/compare/",
        f"/compare/?{sides}",
        f"/compare/case/?{sides}&variant={failed.variant.key}",
        "/targets/",
        f"/targets/{target.pk}/",
        f"/targets/{target.pk}/grid/?all=1",
        "/suites/",
        f"/suites/{after.revision.suite_id}/",
        "/settings/notes/",
        "/api/docs",
    ]


def slowly(route: Route) -> None:
    time.sleep(0.03)
    route.continue_()


@pytest.mark.parametrize("width", [360, 1280])
def test_nothing_jumps_while_a_page_starts_and_is_scrolled(
    signed_in_page: Page, live_server: LiveServer, runs: list[Run], width: int
) -> None:
    page = signed_in_page
    page.set_viewport_size({"width": width, "height": 900})
    page.add_init_script(WATCH_SHIFTS)
    page.route("**/*.js", slowly)
    for address in addresses(runs):
        page.goto(f"{live_server.url}{address}", wait_until="networkidle")
        page.locator("html[data-started]").wait_for()
        for _screen in range(4):
            page.mouse.wheel(0, 700)
            page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        page.wait_for_load_state("networkidle")
        if "/targets/" in address and address.count("/") == 3:
            page.locator(".js-plotly-plot").wait_for()

        assert (address, page.evaluate("window.shifts")) == (address, [])


def test_what_needs_scripts_is_there_with_them_and_absent_without(
    new_context: CreateContextCallback, live_server: LiveServer, runner: User, runs: list[Run]
) -> None:
    target = Target.objects.get(versions=runs[0].version_id)
    for has_script in (True, False):
        page = new_context(java_script_enabled=has_script).new_page()
        page.goto(f"{live_server.url}/sign-in/{create_sign_in_link(user=runner)}/")

        page.goto(f"{live_server.url}/targets/{target.pk}/")
        expect(page.locator(".chart")).to_be_visible(visible=has_script)

        page.goto(f"{live_server.url}/runs/new/")
        expect(page.get_by_role("button", name="Show what will run")).to_be_visible(visible=not has_script)
