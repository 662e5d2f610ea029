"""The page of an imported run whose snapshots keep coming."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from reports.domain.snapshots import AWAITED_S, YOUNG_S
from reports.models import Run, Team
from tests.factories import case, make_team, report, stored

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true"}


def snapshot(*statuses: str, status: str = "running") -> dict[str, Any]:
    """A report of the same run, with the statuses that its cases have by now."""
    cases = [case(each, scenario_id=f"s{number}") for number, each in enumerate(statuses)]
    for number, made in enumerate(cases):  # the factory counts on; these are the same cases every time
        made |= {"id": f"case-{number}", "threadId": f"thread-{number}"}
        made["turns"] = [each | {"turnId": f"turn-{number}"} for each in made["turns"]]
    ended = {} if status == "running" else {"finishedAt": "2026-03-01T10:05:00.000Z"}
    whole = report(cases=cases, status=status, runId="followed", startedAt="2026-03-01T10:00:00.000Z", **ended)
    if status == "running":
        whole.pop("finishedAt", None)
    return whole


def poll_address(page: bytes) -> str:
    found = re.search(r'hx-get="([^"]*/live/[^"]*)" hx-trigger="every 5s"', page.decode())
    assert found is not None
    return found.group(1).replace("&amp;", "&")


def test_a_young_snapshot_shows_where_the_run_stands_and_asks_for_the_next(
    client_of_viewer: Client, team: Team
) -> None:
    run = stored(team, snapshot("passed", "running", "pending"))

    page = client_of_viewer.get(f"/runs/{run.pk}/")

    assert "1 of 3 cases done, 1 running, 1 waiting." in page.content.decode()
    assert client_of_viewer.get(poll_address(page.content), headers=HTMX).status_code == 204


def test_a_later_snapshot_is_shown_by_itself_and_the_last_one_loads_the_page_anew(
    client_of_viewer: Client, team: Team
) -> None:
    run = stored(team, snapshot("passed", "running", "pending"))
    address = poll_address(client_of_viewer.get(f"/runs/{run.pk}/").content)

    stored(team, snapshot("passed", "failed", "running"))
    later = client_of_viewer.get(address, headers=HTMX)
    stored(team, snapshot("passed", "failed", "passed", status="completed"))
    last = client_of_viewer.get(poll_address(later.content), headers=HTMX)

    assert "2 of 3 cases done, 1 running, 0 waiting." in later.content.decode()
    assert "1 case has ended since this page was loaded" in later.content.decode()
    assert 'id="run-answer" hx-swap-oob="true"' in later.content.decode()
    assert last.headers["HX-Refresh"] == "true"


@pytest.mark.parametrize(
    ("age_s", "words", "trigger"),
    [
        (YOUNG_S + 1, "none has come since; this part looks again every minute", 'hx-trigger="every 60s"'),
        (AWAITED_S + 1, "none has come since.", ""),
    ],
)
def test_the_longer_no_snapshot_comes_the_more_seldom_a_page_asks_until_it_does_not(
    client_of_viewer: Client, team: Team, age_s: float, words: str, trigger: str
) -> None:
    run = stored(team, snapshot("passed", "running"))
    address = poll_address(client_of_viewer.get(f"/runs/{run.pk}/").content)
    Run.objects.filter(pk=run.pk).update(updated_at=timezone.now() - timedelta(seconds=age_s))

    for answer in (client_of_viewer.get(address, headers=HTMX), client_of_viewer.get(f"/runs/{run.pk}/")):
        text = answer.content.decode()
        assert words in text
        assert (trigger in text) if trigger else ("/live/" not in text)
    assert "Imported while its run went on" in text


def test_a_finished_import_has_no_moving_part(client_of_viewer: Client, team: Team) -> None:
    run = stored(team, report("PF"))

    assert "live-progress" not in client_of_viewer.get(f"/runs/{run.pk}/").content.decode()


def test_the_moving_part_is_for_members_of_its_team(client_of_viewer: Client, team: Team) -> None:
    run = stored(make_team("other"), snapshot("running"))

    assert client_of_viewer.get(f"/runs/{run.pk}/live/", headers=HTMX).status_code == 404
