"""Home."""

import re
from typing import Any

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from reports.models import Execution, Run, Team
from tests import factories
from tests.factories import report, stored


def run_of(
    team: Team, letters: str = "P", *, target: str = "desk", fingerprint: str = "v1", day: int = 1, **members: Any
) -> Run:
    times = {"startedAt": f"2026-03-{day:02}T09:00:00Z", "finishedAt": f"2026-03-{day:02}T09:01:00Z"}
    return stored(team, report(letters, target={"id": target, "fingerprint": fingerprint}, **times | members))


def show(client: Client, address: str = "/") -> str:
    response = client.get(address)
    assert response.status_code == 200
    return response.content.decode()


def test_a_new_team_is_shown_three_first_steps(client_of_runner: Client) -> None:
    page = show(client_of_runner)

    for address in ("/runs/import/", "/runs/new/", "/help/connect/"):
        assert f'href="{address}"' in page


def test_a_viewer_of_a_new_team_is_told_who_can_begin(client_of_viewer: Client) -> None:
    page = show(client_of_viewer)

    assert "A member with the role runner" in page
    assert "/runs/import/" not in page


def test_a_card_shows_the_newest_version_against_the_one_before(client_of_viewer: Client, team: Team) -> None:
    old = run_of(team, "PPPP", fingerprint="v1", day=1)
    new = run_of(team, "PPFS", fingerprint="v2", day=2)

    page = show(client_of_viewer)

    assert "66.7%" in page
    assert "2 of 3 decided, 1 undecided" in page
    assert "33.3 points below" in page
    assert f"/compare/?baseline=version%3A{old.version_id}&amp;candidate=version%3A{new.version_id}" in page
    assert "1 target; the newest versions against their baselines: 1 inconclusive." in page


def test_the_line_of_versions_names_each_point(client_of_viewer: Client, team: Team) -> None:
    run_of(team, "PF", fingerprint="v1", day=1)
    run_of(team, "PP", fingerprint="v2", day=2)

    page = show(client_of_viewer)

    assert re.findall(r'<a href="[^"]+" aria-label="([^"]+)"><g ', page) == [
        "v1: 50%, 1 of 2 decided, 1 Mar 2026",
        "v2: 100%, 2 of 2 decided, 2 Mar 2026, something fixed against its baseline (inconclusive)",
    ]


def test_a_version_that_decided_nothing_is_not_a_fall(client_of_viewer: Client, team: Team) -> None:
    run_of(team, "PP", fingerprint="v1", day=1)
    run_of(team, "SS", fingerprint="v2", day=2)

    page = show(client_of_viewer)

    assert "none decided, 2 undecided" in page
    assert "no rate to compare with" in page
    assert "1 target; the newest versions against their baselines: 1 inconclusive." in page


def test_a_version_without_a_completed_run_says_so(client_of_viewer: Client, team: Team) -> None:
    run_of(team, "EEC", status="cancelled")

    page = show(client_of_viewer)

    assert ">no completed run<" in page and "passed, " not in page
    assert "2 need attention" in page


def test_what_this_site_runs_stands_on_top(client_of_viewer: Client, team: Team) -> None:
    run = run_of(team, "PFN", status="running")
    Execution.objects.create(run=run, target_name="tutorial", request={})
    Run.objects.filter(pk=run.pk).update(ordered_at=timezone.now())

    page = show(client_of_viewer)

    assert "Going on" in page
    assert "2 of 3 cases done, 1 passed" in page


def test_an_imported_report_that_says_running_is_not_going_on(client_of_viewer: Client, team: Team) -> None:
    run_of(team, "PN", status="running")

    assert "Going on" not in show(client_of_viewer)


def test_cards_are_paged_by_their_newest_run(client_of_viewer: Client, team: Team) -> None:
    for number in range(35):
        run_of(team, target=f"target-{number:02}", day=1 + number % 28)

    first = show(client_of_viewer)
    following = re.search(r'href="([^"]+)" rel="next"', first)
    assert following is not None
    rest = show(client_of_viewer, following[1].replace("&amp;", "&"))

    names = [re.findall(r"<h3><a[^>]*><bdi>([^<]+)", page) for page in (first, rest)]
    assert [len(page) for page in names] == [30, 5]
    assert len(set(names[0] + names[1])) == 35


def test_another_teams_targets_are_not_shown(client_of_runner: Client, team: Team) -> None:
    run_of(factories.make_team(), target="foreign.agent")

    assert "foreign" not in show(client_of_runner)


def count_queries(client: Client) -> int:
    with CaptureQueriesContext(connection) as queries:
        show(client)
    return len(queries)


def test_home_costs_the_same_queries_for_one_target_and_for_twenty(client_of_viewer: Client, team: Team) -> None:
    run_of(team)
    few = count_queries(client_of_viewer)

    for number in range(20):
        run_of(team, target=f"target-{number}", day=2)

    assert count_queries(client_of_viewer) == few


def test_hostile_names_stay_text(client_of_viewer: Client, team: Team) -> None:
    run_of(team, target="<script>alert(1)</script>", fingerprint="\u202e<b>\0\ud83d")
    run_of(team, target="<script>alert(1)</script>", fingerprint="v2", day=2)

    page = show(client_of_viewer)

    assert "<script>alert" not in page
    assert "\u202e" not in page
    assert "<b>" not in page
