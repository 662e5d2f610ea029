"""What a viewer is offered: nothing on any page leads to a place that refuses them."""

import html
import re

import pytest
from django.test import Client

from reports.models import Run, Team
from tests.factories import outcomes, stored


@pytest.fixture
def runs(team: Team) -> tuple[Run, Run]:
    before = outcomes("v1", greet="PP", bye="PP") | {"startedAt": "2026-03-01T00:00:00.000Z"}
    return stored(team, before), stored(team, outcomes("v2", greet="PF", bye="FF"))


def addresses(before: Run, after: Run) -> dict[str, str]:
    both = f"baseline={before.pk}&candidate={after.pk}"
    return {
        "home": "/",
        "runs": "/runs/",
        "run": f"/runs/{after.pk}/",
        "case": f"/runs/{after.pk}/cases/0/",
        "comparison": f"/compare/?{both}",
        "choice of sides": "/compare/",
        "target": f"/targets/{after.version.target_id}/",
        "grid": f"/targets/{after.version.target_id}/grid/",
        "suites": "/suites/",
        "suite": f"/suites/{after.revision.suite_id}/",
    }


PAGES = [
    "home", "runs", "run", "case", "comparison", "choice of sides", "target", "grid", "suites", "suite",
]  # fmt: skip


@pytest.mark.parametrize("name", PAGES)
def test_no_link_of_a_page_leads_a_viewer_to_a_refusal(
    name: str, client_of_viewer: Client, runs: tuple[Run, Run]
) -> None:
    shown = client_of_viewer.get(addresses(*runs)[name]).content.decode()
    links = {html.unescape(each).partition("#")[0] for each in re.findall(r'<a [^>]*href="(/[^"]*)"', shown)}

    refused = [each for each in sorted(links) if client_of_viewer.get(each).status_code == 403]

    assert links and not refused


def test_a_team_without_runs_leads_a_viewer_to_no_refusal(client_of_viewer: Client) -> None:
    for address in ("/", "/runs/", "/targets/", "/suites/", "/compare/"):
        shown = client_of_viewer.get(address).content.decode()
        for link in re.findall(r'<a [^>]*href="(/[^"#]*)"', shown):
            assert client_of_viewer.get(html.unescape(link)).status_code != 403, (address, link)
