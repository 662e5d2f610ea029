"""The side by side with extreme content: where it opens, and what its rail shows."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from reports.models import Run, Team
from tests.browser.keys import press
from tests.browser.test_compare import assert_accessible
from tests.browser.test_deep_links import assert_in_sight, beside
from tests.factories import LETTERS, case, report, suite, turn
from tests.factories import stored as store

pytestmark = pytest.mark.django_db(transaction=True)
LONG_NAME = "a-name-of-160-characters-" + "x" * 135
HEBREW = "שלום, הטיסה שלך יוצאת בשעה תשע בבוקר משער 12 (B). " * 8


def answers(*texts: str, judged: bool = True) -> list[dict[str, Any]]:
    """Return a turn for each text; with ``judged`` its criterion fails for a reason of many lines where it is upper."""
    turns = []
    for number, text in enumerate(texts, start=1):
        passed = not (judged and text.isupper())
        actual = {"present": True, "value": HEBREW if passed else HEBREW[::-1]}
        made = {"id": LONG_NAME, "passed": passed, "expected": HEBREW, "actual": actual}
        status = "passed" if passed else "failed"
        observation = {"response": {"message": text}}
        turns.append(turn(status, step_id=f"s{number}", observation=observation, assertions=[made]))
    return turns


def talks(team: Team, fingerprint: str, *texts: str, letters: str = "P") -> Run:
    cases = [
        case(LETTERS[letter], scenario_id="talk", repetition=number, turns=answers(*texts))
        for number, letter in enumerate(letters)
    ]
    target = {"id": LONG_NAME, "fingerprint": fingerprint * 40}
    return store(team, report(cases=cases, target=target, suite=suite("talk")))


@pytest.mark.parametrize("width", [360, 1280, 2560])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_opens_at_the_first_difference_whatever_stands_in_the_heads(
    signed_in_page: Page, live_server: LiveServer, team: Team, width: int, scheme: Any
) -> None:
    page = signed_in_page
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=scheme)
    texts = [f"text {number}" for number in range(90)]
    before = talks(team, "v1", *texts, letters="P" * 40)
    after = talks(team, "v2", *texts[:70], "OTHER", *texts[71:], letters="F" * 40)

    beside(page, live_server, before, after, "#divergence")

    assert_in_sight(page, "turn-71")
    top = page.locator(".pair--first").bounding_box()
    assert top is not None and top["y"] < 240
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert_accessible(page)


def test_the_rail_marks_the_turn_that_is_read(signed_in_page: Page, live_server: LiveServer, team: Team) -> None:
    page = signed_in_page
    texts = [f"text {number}" for number in range(200)]
    before = talks(team, "v1", *texts)
    after = talks(team, "v2", *(text if number % 20 else text.upper() for number, text in enumerate(texts)))
    current = page.locator(".sbs__rail [aria-current]")
    beside(page, live_server, before, after, "&turn=101#turn-101")
    expect(current).to_contain_text("101")
    expect(current).to_be_in_viewport()

    press(page, "n")
    expect(page.locator("#turn-121")).to_be_focused()

    expect(current).to_contain_text("121")
    expect(current).to_have_count(1)


def test_a_digit_leads_to_a_turn_in_a_folded_stretch(signed_in_page: Page, live_server: LiveServer, team: Team) -> None:
    page = signed_in_page
    texts = [f"text {number}" for number in range(60)]
    before, after = talks(team, "v1", *texts), talks(team, "v2", *texts[:50], "OTHER", *texts[51:])
    beside(page, live_server, before, after, "#divergence")
    expect(page.get_by_text("1–50: 50 equal turns")).to_be_visible()

    press(page, "3")

    expect(page.locator("#turn-3")).to_be_in_viewport()
