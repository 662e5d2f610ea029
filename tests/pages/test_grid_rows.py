"""The rows of the grid: folded under their scenarios, each fact a link, and what is said beyond the last row."""

from typing import Any

import pytest
from django.test import Client

from reports.models import Run, Team
from tests.factories import LETTERS, case, report, stored, suite
from tests.pages.test_grid import address, version

pytestmark = pytest.mark.django_db


def version_of_variants(team: Team, number: int, **letters: str) -> Run:
    """Store one version of the scenarios "ask" (a letter for each of its variants) and "leave" (without variants)."""
    cases = [
        case(LETTERS[letter], scenario_id=name, variants={"ask": f"w{place}"} if name == "ask" else {})
        for name, statuses in letters.items()
        for place, letter in enumerate(statuses)
    ]
    target = {"id": "desk.agent", "fingerprint": f"v{number}"}
    started = f"2026-03-{number:02}T09:00:00.000Z"
    return stored(team, report(cases=cases, target=target, suite=suite("ask", "leave"), startedAt=started))


def page_of(client: Client, run: Run, query: str = "") -> Any:
    return client.get(address(run, query)).context["page"]


def test_variants_are_folded_under_their_scenario_where_what_broke_last_stands(
    client_of_viewer: Client, team: Team
) -> None:
    version_of_variants(team, 1, ask="PPPP", leave="P")
    version_of_variants(team, 2, ask="PFPP", leave="F")
    run = version_of_variants(team, 3, ask="FFPP", leave="F")

    ask, leave = page_of(client_of_viewer, run).groups

    assert (ask.words, [row.variants for row in ask.rows]) == ("2 of 4 variants", ["ask: w0", "ask: w1"])
    assert [cell.share for cell in ask.whole.cells] == ["", "1/2", ""]
    assert (ask.whole.failing_since.name, ask.whole.failing, ask.whole.last_good.name) == ("v3", "2 of 2 fail", "v1")
    assert ask.whole.flips == 2
    assert leave.whole is None


def test_scenarios_stand_where_their_first_variant_would(client_of_viewer: Client, team: Team) -> None:
    version_of_variants(team, 1, ask="PP", leave="P")
    version_of_variants(team, 2, ask="FP", leave="P")
    run = version_of_variants(team, 3, ask="FF", leave="F")

    by_break = page_of(client_of_viewer, run)
    by_name = page_of(client_of_viewer, run, "?all=1&sort=name")

    assert [(row.scenario_id, row.variants) for row in by_break.rows] == [
        ("ask", "ask: w1"),
        ("ask", "ask: w0"),
        ("leave", ""),
    ]
    assert [row.variants for row in by_name.rows] == ["ask: w0", "ask: w1", ""]


def test_the_facts_of_a_row_lead_to_what_they_name(client_of_viewer: Client, team: Team) -> None:
    good = version(team, 1, {"a": "PP"})
    bad = version(team, 2, {"a": "PF"})

    (row,) = page_of(client_of_viewer, bad).rows
    broke = client_of_viewer.get(row.failing_since.href.partition("#")[0])

    assert row.failing_since.text == "v1 and v2 side by side"
    assert (broke.status_code, broke.context["page"].scenario_id) == (200, "a")
    assert row.last_good.href == f"/runs/{good.pk}/cases/0/"
    assert row.flips_href == f"/runs/{bad.pk}/cases/1/#versions"
    assert 'id="versions"' in client_of_viewer.get(row.flips_href).content.decode()


def test_what_never_passed_leads_to_its_first_failure(client_of_viewer: Client, team: Team) -> None:
    first = version(team, 1, {"a": "F"})
    run = version(team, 2, {"a": "F"})

    (row,) = page_of(client_of_viewer, run).rows

    assert (row.failing_since.href, row.last_good, row.flips_href) == (f"/runs/{first.pk}/cases/0/", None, "")


def test_rows_unfold_by_address(client_of_viewer: Client, team: Team) -> None:
    version_of_variants(team, 1, ask="PP")
    run = version_of_variants(team, 2, ask="FF")

    folded = client_of_viewer.get(address(run))
    (unfold,) = folded.context["page"].folds
    unfolded = client_of_viewer.get(address(run, unfold.href))

    assert '<details class="grid__fold">' in folded.content.decode()
    assert '<details class="grid__fold" open>' in unfolded.content.decode()
    assert [link.text for link in unfolded.context["page"].folds] == ["Fold all"]


def test_beyond_the_last_row_the_page_says_so_and_leads_back(client_of_viewer: Client, team: Team) -> None:
    version(team, 1, {"a": "P", "b": "P"})
    run = version(team, 2, {"a": "F", "b": "F"})

    empty = page_of(client_of_viewer, run, "?start=99999&sort=name").empty

    assert (empty.title, empty.text) == ("There is no row 100,000", "2 scenario variants fit.")
    assert len(page_of(client_of_viewer, run, empty.actions[0].href).rows) == 2


def test_where_nothing_changed_all_rows_are_one_click_away(client_of_viewer: Client, team: Team) -> None:
    version(team, 1, {"a": "P"})
    run = version(team, 2, {"a": "P"})

    empty = page_of(client_of_viewer, run).empty

    assert empty.title == "Nothing changed over these versions"
    assert len(page_of(client_of_viewer, run, empty.actions[0].href).rows) == 1


def test_a_scenario_with_more_variants_than_a_page_goes_on_with_its_own_row(
    client_of_viewer: Client, team: Team
) -> None:
    version_of_variants(team, 1, ask="P" * 70)
    run = version_of_variants(team, 2, ask="F" * 70)

    first = page_of(client_of_viewer, run)
    second = page_of(client_of_viewer, run, first.pager.next_href)

    assert [group.words for page in (first, second) for group in page.groups] == [
        "70 variants, 60 here",
        "70 variants, 10 here",
    ]
    assert second.groups[0].whole.cells[1].text == "v2: 0 of 70 decided"
    assert second.pager.text == "61 to 70 of 70 scenario variants of 1 scenario"
