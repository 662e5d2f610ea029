"""The comparison page: the sentence, the matrix, the rows, and filters that live in the address."""

import html
import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from reports.models import Execution, Run, Team
from tests.factories import case, outcomes, report, scenario, suite
from tests.factories import stored as store

pytestmark = pytest.mark.django_db

Pair = tuple[Run, Run]


@pytest.fixture
def pair(team: Team) -> Pair:
    before = outcomes("v1", breaks="PPP", wobbles="PPP", vanishes="PPP", heals="FFF", stays="PPP", leaves="P")
    after = outcomes("v2", breaks="FFF", wobbles="PPF", vanishes="CCC", heals="PPP", stays="PPP", comes="F")
    return store(team, before), store(team, after)


def get(client: Client, pair: Pair, **members: str) -> Any:
    return client.get("/compare/", {"baseline": f"run:{pair[0].pk}", "candidate": f"run:{pair[1].pk}"} | members)


def text_of(response: Any) -> str:
    """Return the visible words of a page, blanks folded."""
    body = re.sub(r"(?s)<svg.*?</svg>|<[^>]+>", " ", response.content.decode().partition("<main")[2])
    return re.sub(r"\s+", " ", html.unescape(body))


def scenarios(response: Any) -> list[str]:
    return [line.scenario_id for group in response.context["page"].groups for line in group.lines]


def test_the_sentence_answers_first(client_of_viewer: Client, pair: Pair) -> None:
    response = get(client_of_viewer, pair)

    assert response.status_code == 200
    assert (
        "1 scenario variant broke , 1 was lost , 1 became unstable ; 1 was fixed ; 1 was added , 1 was removed ;"
        in text_of(response)
    )
    verdict = response.context["page"].verdict
    assert (verdict.word, verdict.tone) == ("Inconclusive", "blocked")
    assert [reason.verdict for reason in verdict.reasons] == ["inconclusive"] * 3
    assert verdict.interval is not None
    assert verdict.interval.margin < verdict.interval.zero
    assert "Pass rate 81.2% (13 of 16 decided) → 61.5% (8 of 13 decided, 3 undecided)" in text_of(response)


def test_rows_stand_in_the_order_in_which_they_matter(client_of_viewer: Client, pair: Pair) -> None:
    assert scenarios(get(client_of_viewer, pair)) == ["breaks", "vanishes", "wobbles", "heals", "comes", "leaves"]


def test_every_number_of_the_matrix_leads_to_what_it_counts(client_of_viewer: Client, pair: Pair) -> None:
    page = get(client_of_viewer, pair).context["page"]
    cells = {cell.text: cell.href for row in page.matrix.rows for cell in row.cells if cell.count}

    href = cells["4 cases: passed before, failed now"]

    assert scenarios(client_of_viewer.get(href)) == ["breaks", "wobbles"]


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({"class": "regressions"}, ["breaks", "wobbles"]),
        ({"class": "improvements"}, ["heals"]),
        ({"class": "steady"}, ["stays"]),
        ({"class": "unstable_and_worse"}, ["wobbles"]),
        ({"from": "passed", "to": "cancelled"}, ["vanishes"]),
        ({"to": "missing"}, ["leaves"]),
        ({"from": "missing"}, ["comes"]),
        ({"q": "AY"}, ["stays"]),
        ({"q": "Scenario wob"}, ["wobbles"]),
        ({"q": "nothing like it"}, []),
    ],
)
def test_filters_live_in_the_address(
    client_of_viewer: Client, pair: Pair, members: dict[str, str], expected: list[str]
) -> None:
    assert scenarios(get(client_of_viewer, pair, **members)) == expected


def test_a_search_takes_wildcards_literally(client_of_viewer: Client, team: Team) -> None:
    cases = [case(scenario_id=name) for name in ("a_b", "axb", "50%", "50x", "c\\d")]
    run = store(team, report(cases=cases, suite=suite("a")))

    for name in ("a_b", "50%", "c\\d"):
        assert scenarios(get(client_of_viewer, (run, run), q=name)) == [name]


def test_nul_is_looked_for_like_any_other_character(client_of_viewer: Client, team: Team) -> None:
    odd = scenario("a", name="nul \0", tags=["t\0"])
    run = store(
        team,
        report(
            cases=[case(scenario_id="a"), case(scenario_id="b")], suite=suite() | {"scenarios": [odd, scenario("b")]}
        ),
    )

    found = {
        query: scenarios(get(client_of_viewer, (run, run), **{query: text}))
        for query, text in (("q", "\0"), ("tag", "t\0"))
    }

    assert found == {"q": ["a"], "tag": ["a"]}


def test_a_tag_narrows_the_rows(client_of_viewer: Client, team: Team) -> None:
    made = suite() | {"scenarios": [scenario("a", tags=["slow"]), scenario("b", tags=["slow", "x"]), scenario("c")]}
    before = store(team, outcomes("v1", a="P", b="P", c="P") | {"suite": made})
    after = store(team, outcomes("v2", a="F", b="F", c="F") | {"suite": made})

    assert scenarios(get(client_of_viewer, (before, after), tag="slow")) == ["a", "b"]


def test_a_failure_signature_narrows_the_rows(client_of_viewer: Client, pair: Pair) -> None:
    page = get(client_of_viewer, pair).context["page"]

    (cluster,) = page.clusters

    assert (cluster.change, cluster.counts) == ("grown", "1 → 3")
    assert scenarios(client_of_viewer.get(cluster.href)) == ["breaks", "wobbles", "heals", "comes"]


def test_every_scenario_variant_appears_once_over_all_pages(client_of_viewer: Client, team: Team) -> None:
    names = [f"s{number:03}" for number in range(130)]
    before = store(team, outcomes("v1", **dict.fromkeys(names, "P")))
    after = store(team, outcomes("v2", **dict.fromkeys(names, "F")))

    seen: list[str] = []
    response = get(client_of_viewer, (before, after))
    while True:
        seen += scenarios(response)
        href = response.context["page"].pager.next_href
        if not href:
            break
        response = client_of_viewer.get(href)

    assert seen == names


def test_what_differs_beside_the_version_is_said(client_of_viewer: Client, team: Team) -> None:
    before = store(team, outcomes("v1", target_id="one", a="PP"))
    after = store(team, outcomes("v2", target_id="two", a="P") | {"status": "limited", "suite": suite("a", "b")})

    words = text_of(get(client_of_viewer, (before, after)))

    assert "Different targets: one → two." in words
    assert "Different suite revisions" in words
    assert "Different repetitions: 2 → 1" in words
    assert "Not every run is completed: completed → limited." in words


def test_a_redefined_scenario_stands_apart(client_of_viewer: Client, team: Team) -> None:
    other = scenario("a")
    other["steps"][0]["input"] = {"text": "Something else"}
    before = store(team, outcomes("v1", a="P"))
    after = store(team, outcomes("v2", a="F") | {"suite": suite() | {"scenarios": [other]}})

    response = get(client_of_viewer, (before, after))

    assert "1 scenario variant redefined" in text_of(response)
    assert [group.title for group in response.context["page"].groups] == ["redefined (measured otherwise than before)"]


def test_fewer_decided_cases_are_marked_whatever_the_class(client_of_viewer: Client, team: Team) -> None:
    before, after = store(team, outcomes("v1", a="PPP")), store(team, outcomes("v2", a="PSS"))

    assert "2 fewer decided" in text_of(get(client_of_viewer, (before, after), **{"class": "all"}))


def test_a_slower_row_says_so_in_words(client_of_viewer: Client, team: Team) -> None:
    slow = outcomes("v2", a="F")
    slow["cases"][0]["turns"][0]["durationMs"] = 180
    before, after = store(team, outcomes("v1", a="P")), store(team, slow)

    assert "+50% slower" in text_of(get(client_of_viewer, (before, after)))


def test_a_run_against_itself_has_nothing_to_show_but_folds(client_of_viewer: Client, pair: Pair) -> None:
    response = get(client_of_viewer, (pair[0], pair[0]))

    assert scenarios(response) == []
    assert "Nothing changed" in text_of(response)
    assert [(fold.title, fold.count) for fold in response.context["page"].folded] == [("failing", 1), ("steady", 5)]


def test_swapping_leads_to_the_mirrored_comparison(client_of_viewer: Client, pair: Pair) -> None:
    href = get(client_of_viewer, pair, **{"from": "passed", "to": "failed"}).context["page"].swap_href

    swapped = client_of_viewer.get(href)

    assert scenarios(swapped) == ["breaks", "wobbles"]
    assert [group.title for group in swapped.context["page"].groups] == ["fixed", "stabilised"]


def test_a_place_that_is_not_in_the_list_and_a_suite_of_other_runs_are_told(
    client_of_viewer: Client, pair: Pair
) -> None:
    lost = get(client_of_viewer, pair, after="0" * 32)
    other = get(client_of_viewer, pair, suite="987654")

    assert "The row after which to go on is not in this list; it begins anew." in text_of(lost)
    assert other.status_code == 400
    assert "The baseline is a run of another suite than the one asked for." in text_of(other)


def test_menus_offer_versions_and_runs_of_the_same_target_and_suite(client_of_viewer: Client, pair: Pair) -> None:
    token = get(client_of_viewer, pair).context["page"].baseline

    assert {choice.text for choice in token.versions} == {"v1", "v2"}
    assert len(token.runs) == 2
    assert all(client_of_viewer.get(choice.href).status_code == 200 for choice in (*token.versions, *token.runs))


def test_the_document_of_the_comparison_is_one_link_away(client_of_viewer: Client, pair: Pair) -> None:
    exports = get(client_of_viewer, pair, **{"class": "broken"}).context["page"].exports

    answers = {export.text: client_of_viewer.get(export.href) for export in exports}

    assert [row["scenarioId"] for row in answers["JSON"].json()["rows"]] == ["breaks"]
    assert set(answers) == {"JSON", "CSV", "Markdown", "HTML, one file"}
    assert all("breaks" in answer.content.decode() for answer in answers.values())
    assert {answer.status_code for answer in answers.values()} == {200}


def test_what_got_worse_can_be_run_again_where_it_was_executed(
    client_of_viewer: Client, client_of_runner: Client, pair: Pair
) -> None:
    Execution.objects.create(run=pair[1], target_name="tutorial.catalogue", request={"repetitions": 3})

    rerun = get(client_of_runner, pair).context["page"].actions[0]

    assert rerun.text == "Rerun 3 scenarios that got worse"
    chosen = "scenarios=breaks&scenarios=vanishes&scenarios=wobbles"
    assert rerun.href == f"/runs/new/?rerun={pair[1].pk}&only=broken&{chosen}"
    assert get(client_of_viewer, pair).context["page"].actions == ()


def test_without_a_pair_the_page_says_what_to_do(client_of_viewer: Client, pair: Pair) -> None:
    response = client_of_viewer.get("/compare/")

    assert response.status_code == 200
    assert "Choose two to compare" in text_of(response)
    (suggestion,) = response.context["page"].suggestions
    assert client_of_viewer.get(suggestion.href).status_code == 200


@pytest.mark.parametrize(("role", "missing"), [("baseline", "candidate"), ("candidate", "baseline")])
def test_one_side_alone_is_offered_what_could_stand_beside_it(
    client_of_viewer: Client, pair: Pair, role: str, missing: str
) -> None:
    response = client_of_viewer.get("/compare/", {role: str(pair[0].pk)})

    assert f"The {missing} is missing" in text_of(response)
    choice = response.context["page"].completions[-1]
    assert f"{missing}=run%3A{pair[1].pk}" in choice.href
    assert client_of_viewer.get(choice.href).status_code == 200


def test_one_side_alone_that_does_not_exist_is_said(client_of_viewer: Client, pair: Pair) -> None:
    response = client_of_viewer.get("/compare/", {"candidate": "version:999999"})

    assert response.status_code == 404
    assert "The candidate is a version that has no runs." in text_of(response)


@pytest.mark.parametrize(
    ("members", "status"),
    [({"baseline": "version:99"}, 404), ({"candidate": "what"}, 404), ({"class": "odd"}, 400), ({"after": "x"}, 400)],
)
def test_an_address_that_makes_no_sense_is_answered_clearly(
    client_of_viewer: Client, pair: Pair, members: dict[str, str], status: int
) -> None:
    response = get(client_of_viewer, pair, **members)

    assert response.status_code == status
    assert "not understood" in text_of(response) or "baseline" in text_of(response) or "candidate" in text_of(response)


def test_a_run_of_another_team_does_not_exist(client_of_viewer: Client, pair: Pair) -> None:
    theirs = store(Team.objects.create(name="Others"), outcomes(a="P"))

    assert get(client_of_viewer, (pair[0], theirs)).status_code == 404


def test_hostile_texts_are_shown_and_never_become_markup(client_of_viewer: Client, team: Team) -> None:
    name = "<img src=x onerror=alert(1)>\u202e\x00\ud83d"
    made = report(
        cases=[case("failed", scenario_id=name, variants={name: name}, name=name)],
        target={"id": name, "fingerprint": name},
        suite=suite("a"),
    )
    run = store(team, made)
    passing = report(cases=[case(scenario_id=name, variants={name: name})], target=made["target"], suite=suite("a"))
    other = store(team, passing)

    page = get(client_of_viewer, (other, run)).content.decode()

    assert "<img src=x" not in page
    assert "U+202E" in page
    assert "\\ud83d" in page


def test_the_page_costs_the_same_queries_for_10_and_for_400_rows(client_of_viewer: Client, team: Team) -> None:
    counts = []
    for number, size in enumerate((10, 400)):
        names = {f"s{place}": "PPF" for place in range(size)}
        before = store(team, outcomes(f"v{number}", target_id=f"t{number}", **names))
        after = store(team, outcomes(f"w{number}", target_id=f"t{number}", **(names | {"s0": "PFP", "s1": "FFF"})))
        get(client_of_viewer, (before, after))
        with CaptureQueriesContext(connection) as queries:
            get(client_of_viewer, (before, after))
        counts.append(len(queries))

    assert counts[0] == counts[1]
    assert counts[1] <= 10  # with session, reader and frame


def test_the_first_look_costs_three_queries_more(client_of_viewer: Client, pair: Pair) -> None:
    with CaptureQueriesContext(connection) as queries:
        get(client_of_viewer, pair)

    assert len(queries) <= 13


def test_a_page_of_rows_weighs_the_same_whatever_their_repetitions(client_of_viewer: Client, team: Team) -> None:
    weights = []
    for number, repetitions in enumerate((12, 60)):
        letters = {f"s{place:03d}": "P" * repetitions for place in range(60)}
        before = store(team, outcomes(f"v{number}", target_id=f"t{number}", **letters))
        after = store(team, outcomes(f"w{number}", target_id=f"t{number}", **dict.fromkeys(letters, "F" * repetitions)))
        response = get(client_of_viewer, (before, after))
        weights.append(len(response.content))

    assert "… 0 of 60" in text_of(response)
    assert max(weights) < 1.05 * min(weights)
    assert max(weights) < 380_000
