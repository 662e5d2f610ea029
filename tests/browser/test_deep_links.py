"""Links that open a page at a turn, a criterion or a JSON path: unfolded, in sight, marked, also without script."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from reports.models import Run, Team, User
from reports.services.sign_in import create_sign_in_link
from tests.browser.keys import press
from tests.browser.test_compare import assert_accessible
from tests.factories import case, report, suite, turn
from tests.factories import stored as store

pytestmark = pytest.mark.django_db(transaction=True)
TURNS = 500


def talk(team: Team, fingerprint: str, *turns: dict[str, Any], status: str = "passed") -> Run:
    made = case(status, scenario_id="talk", turns=list(turns))
    return store(team, report(cases=[made], target={"id": "desk", "fingerprint": fingerprint}, suite=suite("talk")))


def long_talk(team: Team, fingerprint: str, price: int) -> Run:
    turns = [
        turn(
            step_id=f"s{number}",
            observation={"response": {"message": f"Answer {number}"}, "facts": [{"price": price, "name": "same"}] * 3},
        )
        for number in range(1, TURNS + 1)
    ]
    return talk(team, fingerprint, *turns)


def beside(page: Page, live_server: LiveServer, before: Run, after: Run, more: str = "") -> None:
    """Open the side by side of the first scenario variant, at an address of its own."""
    page.goto(f"{live_server.url}/compare/?baseline=run:{before.pk}&candidate=run:{after.pk}&class=all")
    href = page.locator("[data-key-item] a[href*='/compare/case/']").first.get_attribute("href") or ""
    page.goto(f"{live_server.url}{href.partition('#')[0]}{more}")


def place(page: Page, anchor: str) -> Any:
    return page.locator(f'[id="{anchor}"]')


def assert_in_sight(page: Page, anchor: str) -> None:
    """The place is in the window, below what sticks to the top of it, and marked."""
    found = place(page, anchor)
    expect(found).to_be_in_viewport()
    box = found.bounding_box()
    assert box is not None
    covered = page.evaluate(
        """({ id }) => {
          const element = document.getElementById(id), box = element.getBoundingClientRect();
          const top = document.elementFromPoint(box.left + box.width / 3, box.top + 4);
          return !(top && (element.contains(top) || top.contains(element)));
        }""",
        {"id": anchor},
    )
    assert not covered
    marked = "el => getComputedStyle(el).backgroundColor + getComputedStyle(el).boxShadow"
    assert found.evaluate(marked) != "rgba(0, 0, 0, 0)none"


@pytest.fixture
def page_without_script(browser: Browser, live_server: LiveServer, runner: User) -> Iterator[Page]:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{live_server.url}/sign-in/{create_sign_in_link(user=runner)}/")
    button = page.get_by_role("button", name="Sign in")
    if button.count():
        button.click()
    yield page
    context.close()


def test_a_path_of_an_equal_turn_far_away_opens_unfolded_and_in_sight(
    signed_in_page: Page, live_server: LiveServer, team: Team
) -> None:
    page = signed_in_page
    runs = long_talk(team, "v1", 1), long_talk(team, "v2", 1)

    beside(page, live_server, *runs, "&turn=444&path=facts[2].name#turn-444:facts[2].name")

    assert_in_sight(page, "turn-444:facts[2].name")
    assert_accessible(page)


def test_c_copies_the_lasting_link_of_a_path_and_it_opens_there(
    signed_in_page: Page, live_server: LiveServer, team: Team
) -> None:
    page = signed_in_page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    beside(page, live_server, long_talk(team, "v1", 1), long_talk(team, "v2", 2), "#divergence")
    place(page, "turn-7:facts[1].price").get_by_role("link").focus()

    press(page, "c")

    expect(page.get_by_text("Link copied.")).to_be_attached()
    copied = page.evaluate("navigator.clipboard.readText()")
    asked = parse_qs(urlsplit(copied).query)
    assert (asked["turn"], asked["path"], asked["b"], asked["c"]) == (["7"], ["facts[1].price"], ["1"], ["1"])
    page.goto("about:blank")
    page.goto(copied)
    assert_in_sight(page, "turn-7:facts[1].price")


def test_n_then_c_copies_the_link_of_the_turn(signed_in_page: Page, live_server: LiveServer, team: Team) -> None:
    page = signed_in_page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    beside(page, live_server, long_talk(team, "v1", 1), long_talk(team, "v2", 2), "#divergence")

    press(page, "n")
    press(page, "c")

    expect(page.get_by_text("Link copied.")).to_be_attached()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert parse_qs(urlsplit(copied).query)["turn"] == [urlsplit(copied).fragment.removeprefix("turn-")]


def test_a_criterion_in_closed_folds_opens_by_its_link(
    signed_in_page: Page, live_server: LiveServer, team: Team
) -> None:
    page = signed_in_page
    held = {"id": "both", "passed": True, "children": [{"id": "one", "passed": True}, {"id": "two", "passed": True}]}
    parts = [turn(step_id=f"s{number}", assertions=[held]) for number in range(1, 30)]
    before, after = talk(team, "v1", *parts), talk(team, "v2", *parts)

    beside(page, live_server, before, after, "&turn=20#turn-20/both/two")
    assert_in_sight(page, "turn-20/both/two")

    page.goto(f"{live_server.url}/runs/{after.pk}/cases/0/?turn=20#turn-20/both/two")
    assert_in_sight(page, "turn-20/both/two")
    assert_accessible(page)


def test_the_json_of_a_case_opens_at_a_path_and_copies_its_link(
    signed_in_page: Page, live_server: LiveServer, team: Team
) -> None:
    page = signed_in_page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    run = long_talk(team, "v1", 1)
    page.goto(f"{live_server.url}/runs/{run.pk}/cases/0/?turn=321")
    press(page, "Escape")
    turn_shown = page.locator("#turn-321")
    turn_shown.get_by_text("Observation", exact=True).click()
    turn_shown.locator("a.json__key", has_text="price").nth(1).focus()

    press(page, "c")

    expect(page.get_by_text("Link copied.")).to_be_attached()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.endswith("?turn=321&path=facts[1].price#turn-321:facts[1].price")
    page.goto(copied)
    assert_in_sight(page, "turn-321:facts[1].price")
    assert_accessible(page)


def test_without_script_links_open_folds_too(page_without_script: Page, live_server: LiveServer, team: Team) -> None:
    page = page_without_script
    held = {"id": "both", "passed": True, "children": [{"id": "one", "passed": True}, {"id": "two", "passed": True}]}
    odd = turn(observation={"response": {"message": "Hi"}, "two words": {"ü.x": [1, 2]}}, assertions=[held])
    before, after = talk(team, "v1", *[odd] * 30), talk(team, "v2", *[odd] * 30)
    anchor = "turn-25:[%22two%20words%22][%22%C3%BC.x%22][1]"

    page.goto(f'{live_server.url}/runs/{after.pk}/cases/0/?turn=25&path=["two words"]["ü.x"][1]#{anchor}')
    assert_in_sight(page, anchor)
    page.goto(f"{live_server.url}/runs/{after.pk}/cases/0/?turn=25#turn-25/both/two")
    assert_in_sight(page, "turn-25/both/two")
    beside(page, live_server, before, after, f'&turn=25&path=["two words"]["ü.x"][1]#{anchor}')
    assert_in_sight(page, anchor)


def test_a_rule_s_example_opens_its_place(signed_in_page: Page, live_server: LiveServer, team: Team) -> None:
    page = signed_in_page
    talk(team, "v1", turn(observation={"response": {"message": "Hi", "meta": {"traceId": "x1"}}}))
    page.goto(f"{live_server.url}/settings/ignore-rules/")
    assert_accessible(page)

    page.get_by_role("link", name="response.meta.traceId").click()

    assert_in_sight(page, "turn-1:response.meta.traceId")
