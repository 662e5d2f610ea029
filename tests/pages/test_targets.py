"""Targets and their versions."""

import json
import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from reports.models import Run, Target, Team
from tests import factories
from tests.factories import report, stored, suite


def run_of(
    team: Team, letters: str = "P", *, target: str = "desk", fingerprint: str = "v1", day: int = 1, **members: Any
) -> Run:
    times = {"startedAt": f"2026-03-{day:02}T09:00:00Z", "finishedAt": f"2026-03-{day:02}T09:01:00Z"}
    return stored(team, report(letters, target={"id": target, "fingerprint": fingerprint}, **times | members))


def show(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200
    return response.content.decode()


def address_of(run: Run) -> str:
    return f"/targets/{Target.objects.get(versions=run.version_id).pk}/"


def test_the_list_shows_each_target_with_its_newest_version(client_of_viewer: Client, team: Team) -> None:
    run_of(team, "FF", fingerprint="v1", day=1)
    run_of(team, "PF", fingerprint="v2", day=2)
    run_of(team, target="shop")

    page = show(client_of_viewer, "/targets/")

    assert "2 targets, last run first." in page
    assert "1 of 2 decided" in page
    assert page.index(">desk<") < page.index(">shop<")


def test_the_page_answers_with_the_newest_version(client_of_viewer: Client, team: Team) -> None:
    run = run_of(team, "PPPP", fingerprint="v1", day=1)
    run_of(team, "PFSS", fingerprint="v2", day=2)

    page = show(client_of_viewer, address_of(run))

    assert "2 versions ran desk; the newest passed 1 of 2 decided, 2 undecided, 50.0 points below v1." in page
    assert "From 100% (v1) to 50% (v2) over 2 versions; lowest 50% (v2)." in page


def test_versions_are_compared_with_the_decided_one_before(client_of_viewer: Client, team: Team) -> None:
    first = run_of(team, "P", fingerprint="v1", day=1)
    run_of(team, "S", fingerprint="v2", day=2)
    last = run_of(team, "F", fingerprint="v3", day=3)

    page = show(client_of_viewer, address_of(first))

    assert f"baseline=version%3A{first.version_id}&amp;candidate=version%3A{last.version_id}" in page


def test_rates_of_two_suite_revisions_are_not_subtracted(client_of_viewer: Client, team: Team) -> None:
    run_of(team, "PF", fingerprint="v1", day=1)
    run = run_of(team, "PPP", fingerprint="v2", day=2, suite=suite("greet", "leave"))

    page = show(client_of_viewer, address_of(run))

    assert "another suite revision than" in page
    assert "points above" not in page


def test_the_page_says_what_the_shapes_of_the_trend_mean(client_of_viewer: Client, team: Team) -> None:
    run = run_of(team, "PF", fingerprint="v1", day=1)
    run_of(team, "PP", fingerprint="v2", day=2)

    page = client_of_viewer.get(address_of(run)).context["page"]
    (line,) = client_of_viewer.get(page.trend_href).json()["data"]

    assert [key.words for key in page.trend_keys if key.tone in ("up", "down")] == [
        "something broke against its baseline",
        "something fixed",
    ]
    assert line["marker"]["symbol"] == ["circle", "triangle-up"]


def test_each_version_can_become_the_baseline(client_of_viewer: Client, team: Team) -> None:
    run = run_of(team)

    page = show(client_of_viewer, address_of(run))

    assert f'<input type="hidden" name="side" value="version:{run.version_id}">' in page
    assert re.search(r'name="csrfmiddlewaretoken" value="\w{64}"><input type="hidden" name="side"', page)


def test_a_version_without_a_completed_run_is_offered_as_no_side(client_of_viewer: Client, team: Team) -> None:
    run = run_of(team, "PC", status="cancelled")

    page = show(client_of_viewer, address_of(run))

    assert "no completed run" in page and "Use as baseline" not in page


def test_suites_of_a_target_are_shown_one_at_a_time(client_of_viewer: Client, team: Team) -> None:
    old = run_of(team, "PF", day=1)
    new = run_of(team, "PPPP", suite=suite(suite_id="other"), day=2)

    newest = show(client_of_viewer, address_of(new))
    chosen = show(client_of_viewer, f"{address_of(old)}?suite={old.revision.suite_id}")

    assert "4 of 4 decided" in newest
    assert "1 of 2 decided" in chosen


def test_the_trend_is_a_figure_of_the_decided_versions(client_of_viewer: Client, team: Team) -> None:
    run = run_of(team, "PF", fingerprint="v1", day=1)
    run_of(team, "S", fingerprint="undecided", day=2)
    run_of(team, "PP", fingerprint="<b>v3</b>", day=3)

    response = client_of_viewer.get(f"{address_of(run)}trend.json")

    (line,) = json.loads(response.content)["data"]
    assert line["type"] == "scatter"
    assert line["y"] == [50.0, 100.0]
    assert line["hovertext"][1] == (
        "&lt;b&gt;v3&lt;/b&gt;<br>100%, 2 of 2 decided<br>95% interval 34.2% to 100%"
        "<br>neither broke nor fixed anything against its baseline (inconclusive)<br>3 Mar 2026"
    )
    assert (line["error_y"]["array"], line["error_y"]["arrayminus"]) == ([40.55, 0.0], [40.55, 65.76])


def test_one_version_has_no_trend(client_of_viewer: Client, team: Team) -> None:
    run = run_of(team)

    assert "trend.json" not in show(client_of_viewer, address_of(run))


def test_versions_are_paged(client_of_viewer: Client, team: Team) -> None:
    runs = [run_of(team, fingerprint=f"v{number:02}", day=1 + number % 28) for number in range(60)]

    first = show(client_of_viewer, address_of(runs[0]))
    following = re.search(r'href="([^"]+)" rel="next"', first)
    assert following is not None
    rest = show(client_of_viewer, following[1].replace("&amp;", "&"))

    names = [re.findall(r'<th scope="row"><a[^>]*><bdi>(v\d\d)', page) for page in (first, rest)]
    assert [len(page) for page in names] == [50, 10]
    assert len(set(names[0] + names[1])) == 60


@pytest.mark.parametrize("ending", ["", "trend.json", "?suite=1"])
def test_another_teams_target_does_not_exist(client_of_viewer: Client, ending: str) -> None:
    run = run_of(factories.make_team())

    assert client_of_viewer.get(f"{address_of(run)}{ending}").status_code == 404
    assert "No targets yet" in show(client_of_viewer, "/targets/")


@pytest.mark.parametrize("query", ["suite=x", "before=nonsense", "before=2026-03-01~1", "suite=²"])
def test_what_cannot_be_read_asks_for_nothing(client_of_viewer: Client, team: Team, query: str) -> None:
    run = run_of(team)

    show(client_of_viewer, f"{address_of(run)}?{query}")


def count_queries(client: Client, address: str) -> int:
    with CaptureQueriesContext(connection) as queries:
        show(client, address)
    return len(queries)


def test_pages_cost_the_same_queries_for_one_version_and_for_forty(client_of_viewer: Client, team: Team) -> None:
    run = run_of(team)
    run_of(team, fingerprint="v2", day=2)
    addresses = (address_of(run), "/targets/")
    few = [count_queries(client_of_viewer, address) for address in addresses]

    for number in range(39):
        run_of(team, fingerprint=f"v{number}", target=f"target-{number % 2}", day=2)
        run_of(team, fingerprint=f"v{number}", day=2)

    assert [count_queries(client_of_viewer, address) for address in addresses] == few


def test_hostile_names_stay_text(client_of_viewer: Client, team: Team) -> None:
    run = run_of(team, target="<script>alert(1)</script>\u202e", fingerprint="<img src=x>\0\ud83d")

    page = show(client_of_viewer, address_of(run))

    assert "<script>alert" not in page
    assert "<img" not in page
    assert "\u202e" not in page
