"""The grid of a target, and the strip of versions on a case's page."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from reports.domain.history import WORDS
from reports.models import Run, Team
from reports.services.baselines import set_baseline
from tests import factories
from tests.factories import LETTERS, case, report, scenario, stored, suite


def version(team: Team, number: int, scenarios: dict[str, str], **members: Any) -> Run:
    """Store one version: scenario ids with one letter per repetition."""
    cases = [
        case(LETTERS[letter], scenario_id=name, repetition=repetition)
        for name, letters in scenarios.items()
        for repetition, letter in enumerate(letters)
    ]
    target = {"id": "desk.agent", "fingerprint": f"v{number}"}
    made = {"suite": suite("a", "b", "c"), "startedAt": f"2026-03-{number:02}T09:00:00.000Z"} | members
    return stored(team, report(cases=cases, target=target, **made))


def address(run: Run, query: str = "") -> str:
    return f"/targets/{run.version.target_id}/grid/{query}"


def said(page: Any) -> str:
    return "".join(phrase.text for phrase in page.sentence)


def test_rows_say_since_when_they_fail_and_what_broke_last_comes_first(client_of_viewer: Client, team: Team) -> None:
    version(team, 1, {"a": "PP", "b": "PP", "c": "PP"})
    version(team, 2, {"a": "PP", "b": "PF", "c": "PP"})
    run = version(team, 3, {"a": "FF", "b": "FF", "c": "PP"})

    page = client_of_viewer.get(address(run)).context["page"]

    assert [(row.scenario_id, row.failing_since.name, row.last_good.name, row.flips) for row in page.rows] == [
        ("a", "v3", "v2", 1),
        ("b", "v2", "v1", 1),
    ]
    assert [cell.share for cell in page.rows[1].cells] == ["", "1/2", ""]
    assert said(page) == (
        "Of 3 scenario variants over 3 versions, 2 fail, 1 of them since the newest version; 0 flipped more than once."
    )


def test_a_new_scenario_that_fails_does_so_since_the_newest_version(client_of_viewer: Client, team: Team) -> None:
    version(team, 1, {"a": "P"})
    run = version(team, 2, {"a": "P", "b": "F"})

    page = client_of_viewer.get(address(run)).context["page"]

    assert [(row.scenario_id, row.failing_since.name, row.last_good) for row in page.rows] == [("b", "v2", None)]
    assert "1 fails, 1 of them since the newest version" in said(page)


def test_every_number_of_the_sentence_leads_to_the_rows_that_it_counts(client_of_viewer: Client, team: Team) -> None:
    version(team, 1, {"a": "P", "b": "F", "c": "P"})
    version(team, 2, {"a": "P", "b": "P", "c": "F"})
    run = version(team, 3, {"a": "F", "b": "F", "c": "F"})
    page = client_of_viewer.get(address(run, "?all=1&sort=name&q=nothing")).context["page"]

    links = [phrase for phrase in page.sentence if phrase.href]

    assert [phrase.text for phrase in links] == [
        "3 fail",
        "2 of them since the newest version",
        "1 flipped more than once",
    ]
    found = [client_of_viewer.get(address(run, phrase.href)).context["page"].rows for phrase in links]
    assert [[row.scenario_id for row in rows] for rows in found] == [["a", "b", "c"], ["a", "b"], ["b"]]


def test_the_page_defines_its_words(client_of_viewer: Client, team: Team) -> None:
    run = version(team, 1, {"a": "P"})

    body = client_of_viewer.get(address(run)).content.decode()

    assert all(f"<dt>{word}</dt><dd>{meaning}.</dd>" in body for word, meaning in WORDS)


def test_all_rows_are_one_click_away_and_orders_stand_in_the_address(client_of_viewer: Client, team: Team) -> None:
    version(team, 1, {"a": "P", "b": "P", "c": "F"})
    run = version(team, 2, {"a": "P", "b": "F", "c": "P"})

    everything = client_of_viewer.get(address(run, "?all=1&sort=name")).context["page"]
    changed = client_of_viewer.get(address(run, "?sort=flips")).context["page"]
    sought = client_of_viewer.get(address(run, "?all=1&q=Scenario+c")).context["page"]

    assert [row.scenario_id for row in everything.rows] == ["a", "b", "c"]
    assert [row.scenario_id for row in changed.rows] == ["b", "c"]
    assert [row.scenario_id for row in sought.rows] == ["c"]


def test_nul_is_looked_for_like_any_other_character(client_of_viewer: Client, team: Team) -> None:
    run = version(team, 1, {"a": "P", "b": "P"})

    page = client_of_viewer.get(address(run, "?all=1&q=%00")).context["page"]

    assert page.rows == ()


def test_a_cell_leads_to_its_failing_case_and_counts_all_repetitions(client_of_viewer: Client, team: Team) -> None:
    version(team, 1, {"a": "PPP"})
    run = version(team, 2, {"a": "PFP"})

    (row,) = client_of_viewer.get(address(run)).context["page"].rows

    assert row.cells[1].href == f"/runs/{run.pk}/cases/1/"
    assert row.cells[1].text == "v2: 2 of 3 decided"


def test_runs_of_one_version_pool_and_undecided_and_absent_cells_differ(client_of_viewer: Client, team: Team) -> None:
    version(team, 1, {"a": "P", "b": "P"})
    version(team, 2, {"a": "P", "b": "S"})
    run = version(team, 2, {"a": "F"})

    rows = {row.scenario_id: row for row in client_of_viewer.get(address(run, "?all=1")).context["page"].rows}

    assert rows["a"].cells[1].share == "1/2"
    assert rows["b"].cells[1].sign.key == "skipped"
    assert rows["b"].failing_since is None


def test_a_scenario_that_asks_something_else_is_marked(client_of_viewer: Client, team: Team) -> None:
    version(team, 1, {"a": "P"}, suite=suite("a"))
    changed = scenario("a", name="Renamed only")
    version(team, 2, {"a": "P"}, suite=suite("a") | {"scenarios": [changed]})
    other = changed | {"steps": [{"id": "ask", "input": {"text": "Another question"}}]}
    run = version(team, 3, {"a": "P"}, suite=suite("a") | {"scenarios": [other]})

    (row,) = client_of_viewer.get(address(run, "?all=1")).context["page"].rows

    assert [cell.is_redefined for cell in row.cells] == [False, False, True]


def test_two_columns_open_their_comparison(client_of_viewer: Client, team: Team) -> None:
    first = version(team, 1, {"a": "P"})
    run = version(team, 2, {"a": "F"})

    page = client_of_viewer.get(address(run)).context["page"]
    opened = client_of_viewer.get("/compare/", {"baseline": page.heads[0].side, "candidate": page.heads[1].side})

    assert [head.side for head in page.heads] == [f"version:{first.version_id}", f"version:{run.version_id}"]
    assert [(head.is_baseline, head.is_candidate) for head in page.heads] == [(True, False), (False, True)]
    assert opened.status_code == 200


def test_the_grid_costs_the_same_queries_for_two_and_for_twelve_versions(client_of_viewer: Client, team: Team) -> None:
    def cost(number: int) -> int:
        with CaptureQueriesContext(connection) as queries:
            assert len(client_of_viewer.get(address(run)).context["page"].heads) == number
        return len(queries)

    for number in (1, 2):
        run = version(team, number, {"a": "PF"[number % 2]})
    few = cost(2)
    for number in range(3, 13):
        run = version(team, number, {"a": "PF"[number % 2]})

    assert cost(12) == few <= 13


def test_more_rows_than_a_page_holds_come_page_by_page(client_of_viewer: Client, team: Team) -> None:
    names = [f"s{index:03}" for index in range(90)]
    version(team, 1, dict.fromkeys(names, "P"), suite=suite(*names))
    run = version(team, 2, dict.fromkeys(names, "F"), suite=suite(*names))

    seen: list[str] = []
    query = "?sort=name"
    while query:
        page = client_of_viewer.get(address(run, query)).context["page"]
        seen += [row.scenario_id for row in page.rows]
        query = page.pager.next_href

    assert seen == names


@pytest.mark.parametrize(
    "query", ["?versions=7", "?sort=nothing", "?only=nothing", "?start=-4", "?suite=x", "?start=99999"]
)
def test_a_strange_address_breaks_nothing(client_of_viewer: Client, team: Team, query: str) -> None:
    run = version(team, 1, {"a": "P"})

    assert client_of_viewer.get(address(run, query)).status_code == 200


def test_another_teams_grid_does_not_exist(client_of_viewer: Client) -> None:
    run = version(factories.make_team(), 1, {"a": "P"})

    assert client_of_viewer.get(address(run)).status_code == 404


def test_a_case_shows_how_its_variant_fared_over_versions(client_of_viewer: Client, team: Team) -> None:
    version(team, 1, {"a": "P", "b": "F"})
    version(team, 2, {"a": "F", "b": "F"})
    run = version(team, 3, {"a": "F", "b": "P"})

    page = client_of_viewer.get(f"/runs/{run.pk}/cases/0/").context["page"]

    assert [cell.sign.key for cell in page.strip] == ["passed", "failed", "failed"]
    assert page.strip_words == "failing since v2, last good v1, 1 flip"


@pytest.mark.django_db(transaction=True)
def test_the_head_of_a_version_names_the_baselines_that_point_to_it(client_of_viewer: Client, team: Team) -> None:
    first = version(team, 1, {"a": "P"})
    run = version(team, 2, {"a": "F"})
    triager = factories.make_member(team, "triager")
    set_baseline(team=team, user=triager, run_pk=first.pk, name="production", is_default=True)

    response = client_of_viewer.get(address(run))

    assert [head.baselines for head in response.context["page"].heads] == [("production",), ()]
    assert 'title="baseline"' in response.content.decode()
