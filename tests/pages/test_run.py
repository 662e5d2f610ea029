"""The page of one run."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from reports.models import Case, Run, Team
from tests import factories
from tests.factories import case, report, scenario, stored, suite, turn


def show(client: Client, run: Run, query: str = "") -> str:
    response = client.get(f"/runs/{run.pk}/{query}")
    assert response.status_code == 200
    return response.content.decode()


def count_queries(client: Client, run: Run, query: str = "") -> int:
    with CaptureQueriesContext(
        connection,
    ) as queries:
        show(client, run, query)
    return len(queries)


def test_the_answer_counts_decided_and_undecided_apart(client_of_viewer: Client, team: Team) -> None:
    run = stored(team, report("PPFFFSSSSS"))

    page = show(client_of_viewer, run)

    assert "2 of 5 decided cases passed (40%); 5 undecided" in page
    assert "20%" not in page


def test_a_failed_suite_assertion_stands_in_the_answer(client_of_viewer: Client, team: Team) -> None:
    result = {"id": "no-errors", "passed": False, "actual": {"present": True, "value": 3}, "expected": 0}
    run = stored(team, report("PP", assertions=[result]))

    page = show(client_of_viewer, run)

    assert "Did not pass" in page
    assert "1 of 1 suite assertions did not hold" in page
    assert page.count('id="suite/') == page.count('href="#suite/') == 1
    assert "got 3" in page


@pytest.mark.parametrize(
    ("origin", "words"),
    [("upload", "uploaded"), ("api", "sent through the API"), ("command", "imported on the command line")],
)
def test_an_imported_run_says_how_it_came_and_never_that_it_runs(
    origin: str, words: str, client_of_viewer: Client, team: Team
) -> None:
    unfinished = report("PRN", status="running")
    del unfinished["finishedAt"]
    run = stored(team, unfinished, origin=origin)

    page = show(client_of_viewer, run)

    assert f">{words}<" in page
    assert "Unfinished: 1 of 1 decided cases passed (100%); 2 undecided." in page


def test_a_case_whose_worker_vanished_does_not_run(client_of_viewer: Client, team: Team) -> None:
    unfinished = report("PRN", status="running")
    del unfinished["finishedAt"]
    run = stored(team, unfinished)
    Run.objects.filter(pk=run.pk).update(status="interrupted")

    page = show(client_of_viewer, run)

    assert page.count("was running when its worker vanished") == 1
    assert "Make baseline" in page and "Use as baseline" in page


def test_failures_are_grouped_by_signature_with_their_first_example(client_of_viewer: Client, team: Team) -> None:
    run = stored(team, report("PFFE"))

    page = show(client_of_viewer, run)

    assert "3 cases, 2 signatures" in page
    assert "answered" in page and "EVALUATION_TRANSPORT_FAILED" in page
    assert f"/runs/{run.pk}/cases/1/?status=failures&amp;signature=" in page


def test_a_case_that_failed_on_its_way_and_ended_blocked_is_no_failure(client_of_viewer: Client, team: Team) -> None:
    on_its_way = turn("failed", step_id="other")
    cases = [case("failed"), case("passed", scenario_id="b"), case("blocked", scenario_id="c", turns=[on_its_way])]
    run = stored(team, report(cases=cases))
    also_so = case("blocked", scenario_id="d", turns=[turn("failed")])
    alike = stored(team, report(cases=[case("failed"), also_so]))

    page, page_alike = show(client_of_viewer, run), show(client_of_viewer, alike)

    assert Case.objects.filter(generation__current_run=run, signature__isnull=False).count() == 2
    assert "1 case, 1 signature" in page and "step other" not in page
    assert "1 case, 1 signature" in page_alike
    key = Case.objects.get(generation__current_run=alike, position=0).signature.key  # type: ignore[union-attr]
    assert f"?status=failures&amp;signature={key}#cases" in page_alike
    assert ">1 case<" in show(client_of_viewer, alike, f"?status=failures&signature={key}")


def test_only_blocked_cases_leave_no_failures(client_of_viewer: Client, team: Team) -> None:
    run = stored(team, report(cases=[case("passed"), case("blocked", scenario_id="c", turns=[turn("failed")])]))

    assert "Nothing failed." in show(client_of_viewer, run)


def test_a_group_of_failures_is_called_by_what_its_cases_share(client_of_viewer: Client, team: Team) -> None:
    cases = [
        case("failed", scenario_id=name, turns=[turn("failed", assertions=[result])])
        for name in ("first", "second")
        for result in [{"id": "price", "passed": False, "actual": {"present": True, "value": f"of {name}"}}]
    ]
    run = stored(team, report(cases=cases))

    whole = client_of_viewer.get(f"/runs/{run.pk}/").context["page"]
    (group,) = whole.clusters
    narrowed = client_of_viewer.get(group.href).context["page"]

    assert (group.what, group.cases) == ("price", 2)
    assert (group.first_scenario, group.detail) == ("first", 'ask: price: got "of first"')
    assert narrowed.narrowed_to == ("failing like “ask: price”",)


def test_a_signature_narrows_the_cases_to_its_own(client_of_viewer: Client, team: Team) -> None:
    run = stored(team, report("PFFE"))
    key = Case.objects.get(generation=run.generation_id, position=1).signature.key  # type: ignore[union-attr]

    page = show(client_of_viewer, run, f"?signature={key}")

    assert "2 cases" in page and "failing like “ask: answered" in page


@pytest.mark.parametrize(
    ("query", "positions"),
    [
        ("status=failures", [1, 2]),
        ("status=undecided", [3]),
        ("status=passed", [0]),
        ("q=greet", [0, 1, 2, 3]),
        ("q=%25", []),
        ("q=gr_et", []),
        ("order=duration", [0, 1, 2, 3]),
    ],
)
def test_filters_stand_in_the_address(client_of_viewer: Client, team: Team, query: str, positions: list[int]) -> None:
    run = stored(team, report("PFES"))

    page = show(client_of_viewer, run, f"?{query}")

    assert [place for place in range(4) if f'data-link="/runs/{run.pk}/cases/{place}/' in page] == positions


@pytest.mark.parametrize(
    ("query", "positions"), [("q=%00", [0]), ("q=NUL+%00", [0]), ("q=%00%00", []), ("tag=t%00", [1]), ("tag=%00", [])]
)
def test_nul_is_looked_for_like_any_other_character(
    client_of_viewer: Client, team: Team, query: str, positions: list[int]
) -> None:
    scenarios = [scenario("a"), scenario("b", tags=["t\0"]), scenario("c")]
    cases = [case(scenario_id="a", name="nul \0"), case(scenario_id="b"), case(scenario_id="c")]
    run = stored(team, report(cases=cases, suite=suite() | {"scenarios": scenarios}))

    page = show(client_of_viewer, run, f"?{query}")

    assert [place for place in range(3) if f'data-link="/runs/{run.pk}/cases/{place}/' in page] == positions
    assert "was not understood" not in page


def test_a_tag_narrows_to_the_scenarios_that_carry_it(client_of_viewer: Client, team: Team) -> None:
    tagged = scenario("b", tags=["smoke"])
    made = report(
        cases=[case(scenario_id="a"), case(scenario_id="b")], suite=suite() | {"scenarios": [scenario("a"), tagged]}
    )
    run = stored(team, made)

    page = show(client_of_viewer, run, "?tag=smoke")

    assert f'data-link="/runs/{run.pk}/cases/1/' in page
    assert f'data-link="/runs/{run.pk}/cases/0/' not in page


def test_an_unknown_filter_is_named_and_nothing_breaks(client_of_viewer: Client, team: Team) -> None:
    run = stored(team, report())

    response = client_of_viewer.get(f"/runs/{run.pk}/?status=nonsense")

    assert response.status_code == 400
    assert "“status” in the address was not understood" in response.content.decode()


@pytest.mark.parametrize("order", ["place", "scenario", "status", "turns", "duration"])
def test_every_order_shows_every_case_once_over_its_pages(client_of_viewer: Client, team: Team, order: str) -> None:
    mixed = [case("passed" if index % 3 else "error", repetition=index) for index in range(118)]
    made = [*mixed, case("skipped", repetition=118), case("error", repetition=119, turns=[], errorCode="LOGIN_REFUSED")]
    run = stored(team, report(cases=made))

    seen: list[int] = []
    address = f"/runs/{run.pk}/?order={order}"
    while address:
        page = client_of_viewer.get(address).context["page"]
        seen += [line.row.position for line in page.cases]
        address = page.pager.next_href.partition("#")[0]

    assert sorted(seen) == list(range(120))


def test_repetitions_stand_beside_each_other(client_of_viewer: Client, team: Team) -> None:
    run = stored(team, report("PFP"))

    page = client_of_viewer.get(f"/runs/{run.pk}/").context["page"]

    assert page.cases[0].pips.text == "2 of 3 decided"
    assert [pip.sign.key for pip in page.cases[0].pips.marks] == ["passed", "failed", "passed"]


def test_a_run_costs_the_same_queries_for_two_cases_and_for_eighty(client_of_viewer: Client, team: Team) -> None:
    few = stored(team, report("PF"))
    many = stored(team, report("PF" * 40))
    show(client_of_viewer, few)

    assert count_queries(client_of_viewer, many) == count_queries(client_of_viewer, few) <= 17


def test_another_teams_run_does_not_exist(client_of_viewer: Client) -> None:
    run = stored(factories.make_team(), report())

    assert client_of_viewer.get(f"/runs/{run.pk}/").status_code == 404
    assert client_of_viewer.get(f"/runs/{run.pk}/timings/").status_code == 404
    assert client_of_viewer.get(f"/runs/{run.pk}/cases/0/").status_code == 404
    assert client_of_viewer.get(f"/runs/{run.pk}/cases/0/raw/").status_code == 404


def test_the_previous_version_is_one_click_away(client_of_viewer: Client, team: Team) -> None:
    before = stored(team, report(startedAt="2026-03-01T00:00:00.000Z"))
    run = stored(team, report(target={"id": "desk.agent", "fingerprint": "v2"}))

    page = show(client_of_viewer, run)

    assert f"baseline={before.pk}" in page or f"baseline=run%3A{before.pk}" in page


def test_lineage_is_shown_both_ways(client_of_viewer: Client, team: Team) -> None:
    first = stored(team, report("PN", status="cancelled"))
    later = stored(team, report("PP", resumedFrom=first.run_id))

    assert f"/runs/{first.pk}/" in show(client_of_viewer, later)
    assert f"/runs/{later.pk}/" in show(client_of_viewer, first)


def test_timings_name_the_slowest(client_of_viewer: Client, team: Team) -> None:
    slow = case(scenario_id="slow", turns=[turn(durationMs=9_000), turn(step_id="then", durationMs=40)])
    run = stored(team, report(cases=[case(scenario_id="quick"), slow, case("skipped", scenario_id="none")]))

    page = client_of_viewer.get(f"/runs/{run.pk}/timings/").context["page"]

    assert page.measured == 2
    assert [(each.what, each.duration_ms) for each in page.slowest_cases] == [("slow", 9_040.0), ("quick", 120.0)]
    assert page.slowest_turns[0].duration_ms == 9_000
    assert sum(each.count for each in page.classes) == 2


@pytest.mark.parametrize(
    "times",
    [
        {"startedAt": "9999-12-31T23:59:59.999Z", "finishedAt": "9999-12-31T23:59:59.999Z"},
        {"startedAt": "0001-01-01T00:00:00Z", "finishedAt": "0001-01-01T00:00:01Z"},
        {"startedAt": "2026-03-02T09:05:00.000Z", "finishedAt": "2026-03-02T09:04:00.000Z"},
        {"startedAt": "yesterday", "finishedAt": "<b>later</b>"},
        {"startedAt": "0001-01-01T00:00:00+14:00", "finishedAt": "9999-12-31T23:59:59-14:00"},
    ],
)
def test_strange_times_break_no_page(client_of_viewer: Client, team: Team, times: dict[str, Any]) -> None:
    run = stored(team, report(**times))

    page = show(client_of_viewer, run)

    assert "<b>later</b>" not in page
    assert "-1" not in client_of_viewer.get(f"/runs/{run.pk}/").context["page"].facts[5].text
