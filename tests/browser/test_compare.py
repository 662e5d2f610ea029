"""The comparison and the side by side, walked by keyboard."""

from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from reports.models import Team
from tests.browser.keys import press
from tests.factories import LETTERS, case, outcomes, report, suite, turn
from tests.factories import stored as store

pytestmark = pytest.mark.django_db(transaction=True)


def conversation(*texts: str) -> list[dict[str, Any]]:
    return [
        turn(step_id=f"s{number}", observation={"response": {"message": text}})
        for number, text in enumerate(texts, start=1)
    ]


def long_case(fingerprint: str, *texts: str, letters: str = "P") -> dict[str, Any]:
    cases = [
        case(LETTERS[letter], scenario_id="talk", repetition=number, turns=conversation(*texts))
        for number, letter in enumerate(letters)
    ]
    return report(cases=cases, target={"id": "desk.agent", "fingerprint": fingerprint}, suite=suite("talk"))


def open_comparison(page: Page, live_server: LiveServer, team: Team, left: Any, right: Any, **members: str) -> None:
    before, after = store(team, left), store(team, right)
    more = "".join(f"&{name}={value}" for name, value in members.items())
    page.goto(f"{live_server.url}/compare/?baseline=run:{before.pk}&candidate=run:{after.pk}{more}")


def assert_accessible(page: Page) -> None:
    found = Axe().run(page).response["violations"]
    assert [(each["id"], each["nodes"][0]["html"][:200]) for each in found] == []


def test_j_and_enter_lead_from_the_rows_to_the_first_difference(
    signed_in_page: Page, live_server: LiveServer, team: Team
) -> None:
    page = signed_in_page
    open_comparison(
        page, live_server, team, outcomes("v1", a="PPP", b="PPP", c="PP"), outcomes("v2", a="FFF", b="PPF", c="PP")
    )
    assert_accessible(page)

    press(page, "j")
    press(page, "j")
    press(page, "Enter")

    expect(page.get_by_role("heading", level=1)).to_contain_text("b")
    expect(page.locator(".pair--first")).to_be_in_viewport()
    assert page.url.endswith("#divergence")
    assert_accessible(page)


def test_k_goes_back_to_the_row_before(signed_in_page: Page, live_server: LiveServer, team: Team) -> None:
    page = signed_in_page
    open_comparison(page, live_server, team, outcomes("v1", a="P", b="P"), outcomes("v2", a="F", b="F"))
    page.get_by_role("link", name="b", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("b")

    press(page, "k")

    expect(page.get_by_role("heading", level=1)).to_contain_text("a")


def test_n_and_p_walk_the_differences_and_digits_the_turns(
    signed_in_page: Page, live_server: LiveServer, team: Team
) -> None:
    page = signed_in_page
    left = long_case("v1", *(["same", "one"] * 3))
    right = long_case("v2", *(["same", "other"] * 3))
    open_comparison(page, live_server, team, left, right, **{"class": "all"})
    page.get_by_role("link", name="talk", exact=True).click()
    expect(page.locator("#turn-2")).to_be_in_viewport()

    press(page, "n")
    expect(page.locator("#turn-4")).to_be_focused()
    press(page, "n")
    expect(page.locator("#turn-6")).to_be_focused()
    press(page, "p")
    expect(page.locator("#turn-4")).to_be_focused()
    press(page, "2")
    expect(page.locator("#turn-2")).to_be_in_viewport()


def test_brackets_change_the_repetition_of_a_side(signed_in_page: Page, live_server: LiveServer, team: Team) -> None:
    page = signed_in_page
    open_comparison(page, live_server, team, outcomes("v1", a="PPP"), outcomes("v2", a="FFF"))
    page.locator("[data-key-item]").get_by_role("link", name="a", exact=True).click()
    expect(page.locator(".pair--first")).to_be_visible()

    press(page, "]")
    expect(page.get_by_text("repetition 2 of 3:")).to_be_visible()
    press(page, "}")
    expect(page.get_by_text("repetition 2 of 3", exact=True)).to_be_visible()
    press(page, "[")
    expect(page.get_by_text("repetition 1 of 3:")).to_be_visible()


def test_a_matrix_cell_narrows_the_rows_and_back_undoes_it(
    signed_in_page: Page, live_server: LiveServer, team: Team
) -> None:
    page = signed_in_page
    open_comparison(page, live_server, team, outcomes("v1", a="P", b="F"), outcomes("v2", a="F", b="P"))

    page.get_by_role("link", name="1 case: passed before, failed now").click()
    expect(page.get_by_role("link", name="b", exact=True)).to_have_count(0)
    page.go_back()

    expect(page.get_by_role("link", name="b", exact=True)).to_be_visible()


def test_narrow_windows_stack_the_sides_and_switch_between_them(
    signed_in_page: Page, live_server: LiveServer, team: Team
) -> None:
    page = signed_in_page
    page.set_viewport_size({"width": 360, "height": 800})
    open_comparison(page, live_server, team, outcomes("v1", a="P"), outcomes("v2", a="F"))
    page.locator("[data-key-item]").get_by_role("link", name="a", exact=True).click()

    page.get_by_label("Candidate", exact=True).check()

    expect(page.locator(".sbs__left").first).to_be_hidden()
    expect(page.locator(".sbs__right").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
