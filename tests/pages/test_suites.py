"""Suites: revisions, definitions, what changed."""

import json
import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from reports.models import Run, Suite, Team
from tests import factories
from tests.factories import case, report, scenario, stored, suite


def run_of(team: Team, *scenarios: dict[str, Any], **members: Any) -> Run:
    defined = suite(**members) | {"scenarios": list(scenarios) or [scenario("greet")]}
    first = defined["scenarios"][0]["id"]
    return stored(team, report(cases=[case("passed", scenario_id=first)], suite=defined))


def show(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200
    return response.content.decode()


def address_of(run: Run) -> str:
    return f"/suites/{Suite.objects.get(revisions=run.revision_id).pk}/"


def test_the_list_shows_suites_with_their_numbers(client_of_viewer: Client, team: Team) -> None:
    run_of(team, scenario("greet"))
    run_of(team, scenario("greet"), scenario("leave"))

    page = show(client_of_viewer, "/suites/")

    numbers = re.findall(r'<td class="number[^>]*>(?:<a[^>]*>)?([\d,]+)', page)
    assert numbers == ["2", "2", "2"]


def test_an_empty_list_says_what_to_do(client_of_runner: Client) -> None:
    assert "A suite comes with the first report" in show(client_of_runner, "/suites/")


def test_a_scenario_is_shown_with_its_steps_and_what_they_ask(client_of_viewer: Client, team: Team) -> None:
    run = run_of(team, scenario("greet", tags=["smoke"], writePolicy="external", description="Says hello."))

    page = show(client_of_viewer, address_of(run))

    for text in (
        "greet",
        "smoke",
        "external writes",
        "Says hello.",
        "Hello greet",
        "response.status equals &quot;completed&quot;",
    ):
        assert text in page


def test_what_changed_since_the_revision_before_is_named(client_of_viewer: Client, team: Team) -> None:
    changed = scenario("changed")
    changed["steps"][0]["assertions"][0]["value"] = "done"
    run_of(team, scenario("gone"), scenario("changed"), scenario("renamed"), scenario("same"))
    run = run_of(team, changed, scenario("renamed", name="Another name"), scenario("same"), scenario("new"))

    page = show(client_of_viewer, address_of(run))

    assert "1 added, 1 removed, 1 redefined, 1 reworded; 1 the same." in page
    assert "steps[ask].assertions[answered].value" in page
    assert "<del><bdi>&quot;completed&quot;</bdi></del><ins><bdi>&quot;done&quot;</bdi></ins>" in page


def test_any_two_revisions_can_be_put_against_each_other(client_of_viewer: Client, team: Team) -> None:
    first = run_of(team, scenario("a"))
    run_of(team, scenario("a"), scenario("b"))
    last = run_of(team, scenario("a"), scenario("b"), scenario("c"))

    page = show(client_of_viewer, f"{address_of(last)}?revision={first.revision_id}&against={last.revision_id}")

    assert "2 removed; 1 the same." in page


def test_more_than_fifty_scenarios_are_paged(client_of_viewer: Client, team: Team) -> None:
    run = run_of(team, *(scenario(f"scenario-{number:03}") for number in range(120)))

    first = show(client_of_viewer, address_of(run))
    following = re.search(r'href="([^"]+)" rel="next"', first)
    assert following is not None
    second = show(client_of_viewer, following[1].replace("&amp;", "&"))

    assert "1–50 of 120" in first
    assert [len(re.findall(r'id="scenario-\d+"', page)) for page in (first, second)] == [50, 50]
    assert "<details" in first
    assert " open>" not in first


def test_the_definition_is_served_as_json(client_of_viewer: Client, team: Team) -> None:
    run = run_of(team, scenario("greet", name="lone \ud83d"))

    response = client_of_viewer.get(f"{address_of(run)}revisions/{run.revision_id}.json")

    assert response["Content-Type"] == "application/json"
    assert json.loads(response.content)["scenarios"][0]["name"] == "lone \ud83d"


def test_another_teams_suite_does_not_exist(client_of_viewer: Client, team: Team) -> None:
    foreign, own = run_of(factories.make_team()), run_of(team, suite_id="mine")

    assert client_of_viewer.get(address_of(foreign)).status_code == 404
    assert client_of_viewer.get(f"{address_of(foreign)}revisions/{foreign.revision_id}.json").status_code == 404
    assert client_of_viewer.get(f"{address_of(own)}revisions/{foreign.revision_id}.json").status_code == 404
    assert client_of_viewer.get(f"{address_of(own)}?revision={foreign.revision_id}").status_code == 404


@pytest.mark.parametrize("query", ["start=9999", "start=x", "against=7777777", "start=" + "9" * 30])
def test_what_cannot_be_read_asks_for_nothing(client_of_viewer: Client, team: Team, query: str) -> None:
    run = run_of(team)

    show(client_of_viewer, f"{address_of(run)}?{query}")


def count_queries(client: Client, address: str) -> int:
    with CaptureQueriesContext(connection) as queries:
        show(client, address)
    return len(queries)


def test_the_list_costs_the_same_queries_for_one_suite_and_for_forty(client_of_viewer: Client, team: Team) -> None:
    run_of(team)
    few = count_queries(client_of_viewer, "/suites/")

    for number in range(39):
        run_of(team, suite_id=f"suite-{number}")

    assert count_queries(client_of_viewer, "/suites/") == few


def test_hostile_definitions_stay_text(client_of_viewer: Client, team: Team) -> None:
    hostile = "<script>alert(1)</script>\u202e\0\ud83d"
    made = scenario("greet", name=hostile, description=hostile, tags=[hostile], metadata={hostile: hostile})
    made["steps"][0]["input"] = {"text": hostile}
    run = run_of(team, made, metadata={"note": hostile})

    page = show(client_of_viewer, address_of(run))

    assert "<script>alert" not in page
    assert "\u202e" not in page
    assert page.count("\\ud83d") > 5
