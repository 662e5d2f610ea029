"""Tables at 360 px: they scroll sideways in their own box rather than break short texts into many lines."""

import pytest
from playwright.sync_api import Page
from pytest_django.live_server_helper import LiveServer

from reports.models import Run, Target, Team
from reports.services.baselines import set_baseline
from tests.factories import make_member, outcomes, stored

pytestmark = pytest.mark.django_db(transaction=True)
MOST_LINES = 2
SHORT = 22  # characters, of a fingerprint or "291 of 294 decided"
BROKEN_TEXTS = """([mostLines, short]) => [...document.querySelectorAll("table td, table th")].flatMap((cell) => {
  const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
  const found = [];
  while (walker.nextNode()) {
    const text = walker.currentNode.textContent.trim();
    if (!text || text.length > short) continue;
    const range = document.createRange();
    range.selectNodeContents(walker.currentNode);
    const lines = new Set([...range.getClientRects()].filter((box) => box.width > 1).map((box) => Math.round(box.top)));
    if (lines.size > mostLines) found.push(`${text}: ${lines.size} lines`);
  }
  return found;
})"""


@pytest.fixture
def runs(team: Team) -> list[Run]:
    letters = dict.fromkeys([f"s{number:02}" for number in range(98)], "PPF")
    made = [
        stored(team, outcomes(name, **letters) | {"startedAt": f"2026-03-0{day}T09:00:00Z"})
        for day, name in enumerate(("git:0c4417e", "git:1f0c9ab", "nightly-2026.02.4-rc1"), 1)
    ]
    triager = make_member(team, "triager")
    set_baseline(team=team, user=triager, run_pk=made[1].pk, name="production", is_default=True, reason="Shipped")
    return made


def test_short_texts_stay_on_few_lines_at_360_pixels(
    signed_in_page: Page, live_server: LiveServer, runs: list[Run]
) -> None:
    page = signed_in_page
    page.set_viewport_size({"width": 360, "height": 800})
    target = Target.objects.get(versions=runs[0].version_id)
    for address in (
        "/runs/",
        "/targets/",
        f"/targets/{target.pk}/",
        f"/targets/{target.pk}/grid/?all=1",
        f"/runs/{runs[-1].pk}/baseline/",
        f"/compare/?baseline=run:{runs[0].pk}&candidate=run:{runs[1].pk}&class=all",
    ):
        page.goto(f"{live_server.url}{address}")

        assert (address, page.evaluate(BROKEN_TEXTS, [MOST_LINES, SHORT])) == (address, [])
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), address
