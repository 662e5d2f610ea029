"""The page of one case."""

import json
import re
from html import unescape
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from reports.models import Run, Team
from tests.factories import case, report, scenario, stored, suite, turn

HOSTILE = "<script>alert(1)</script> <img src=x onerror=alert(1)> javascript:alert(1) \u202eevil\u202c \x00 \ud83d"


def show(client: Client, run: Run, position: int = 0, query: str = "") -> str:
    response = client.get(f"/runs/{run.pk}/cases/{position}/{query}")
    assert response.status_code == 200
    return response.content.decode()


def test_the_conversation_reads_as_a_dialogue_with_what_failed_in_words(client_of_viewer: Client, team: Team) -> None:
    run = stored(team, report("F"))

    page = show(client_of_viewer, run)

    assert "Hello" in page and "Good morning." in page
    assert "Failed at turn 1 of 1" in page
    assert "response.status equals" in page and "got &quot;refused&quot;" in page


def test_without_speech_the_json_stands_in_its_place(client_of_viewer: Client, team: Team) -> None:
    made = turn(input={"rows": [1, 2]}, observation={"score": 3, "none": None})
    run = stored(team, report(cases=[case(turns=[made])]))

    page = show(client_of_viewer, run)

    assert "speech__text" not in page
    assert 'class="json__number" data-json-value>3<' in page and 'class="json__null" data-json-value>null<' in page


@pytest.mark.parametrize(
    "made",
    [
        case("skipped"),
        case("blocked"),
        case("error", turns=[], errorCode="LOGIN_REFUSED"),
        case("error"),
        case("passed", turns=[turn() | {"assertions": [{"id": "judged", "passed": True}]}]),
        case("pending"),
        case("cancelled", turns=[turn("cancelled", assertions=[], errorCode="EVALUATION_CANCELLED")]),
    ],
    ids=["skipped", "blocked", "no turns", "no observation", "no actual", "pending", "cancelled"],
)
def test_whatever_is_missing_the_page_opens(client_of_viewer: Client, team: Team, made: dict[str, Any]) -> None:
    run = stored(team, report(cases=[made]))

    assert show(client_of_viewer, run)
    assert client_of_viewer.get(f"/runs/{run.pk}/").status_code == 200


def test_five_empty_values_have_five_displays(client_of_viewer: Client, team: Team) -> None:
    def failing(index: int, actual: dict[str, Any]) -> dict[str, Any]:
        return {"id": f"check-{index}", "passed": False, "actual": actual, "expected": 1}

    actuals: list[dict[str, Any]] = [
        {"present": True, "value": 0},
        {"present": True, "value": False},
        {"present": True, "value": ""},
        {"present": True, "value": []},
        {"present": False},
    ]
    results = [failing(index, actual) for index, actual in enumerate(actuals)]
    run = stored(team, report(cases=[case("failed", turns=[turn("failed", assertions=results)])]))

    said = [each.says for each in client_of_viewer.get(f"/runs/{run.pk}/cases/0/").context["page"].turns[0].criteria]

    assert said == ["got 0", "got false", 'got ""', "got []", "it is absent"]


def test_hostile_text_is_text_everywhere(client_of_viewer: Client, team: Team) -> None:
    made = case(
        "failed",
        scenario_id="hostile",
        name=HOSTILE,
        turns=[
            turn(
                "failed",
                input={"text": HOSTILE, "selection": {HOSTILE: HOSTILE}},
                observation={"response": {"message": HOSTILE, "status": HOSTILE}, HOSTILE: [HOSTILE]},
                assertions=[
                    {
                        "id": HOSTILE,
                        "label": HOSTILE,
                        "passed": False,
                        "actual": {"present": True, "value": HOSTILE},
                        "expected": HOSTILE,
                        "evidence": {HOSTILE: HOSTILE},
                    }
                ],
            )
        ],
    )
    asked = suite("hostile") | {"name": HOSTILE, "scenarios": [scenario("hostile", name=HOSTILE, tags=[HOSTILE])]}
    run = stored(team, report(cases=[made], suite=asked, target={"id": HOSTILE, "fingerprint": HOSTILE}))

    pages = [
        show(client_of_viewer, run),
        client_of_viewer.get(f"/runs/{run.pk}/").content.decode(),
        client_of_viewer.get(f"/runs/{run.pk}/cases/0/raw/?part=0.observation").content.decode(),
        client_of_viewer.get(f"/runs/{run.pk}/timings/").content.decode(),
    ]

    for page in pages:
        assert "<script>alert" not in page and "<img src=x" not in page
        assert 'href="javascript:' not in page
        shown = re.sub(r'value="[^"]*"', "", page)  # a form gives a tag back as it is stored; nobody sees it
        assert "\u202e" not in shown and "\x00" not in shown
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in pages[0]
    assert r"\ud83d" in pages[0]


def test_a_500_turn_conversation_opens_in_windows_at_its_first_failure(client_of_viewer: Client, team: Team) -> None:
    turns = [turn("failed" if index == 300 else "passed", step_id=f"s{index}") for index in range(500)]
    run = stored(team, report(cases=[case("failed", turns=turns)]))

    page = client_of_viewer.get(f"/runs/{run.pk}/cases/0/").context["page"]

    assert [page.turns[0].number, page.turns[-1].number] == [301, 325]
    assert page.failure_href == "#turn-301"
    assert len(page.outline) == 25
    assert page.earlier_href.endswith("turn=300#turn-300") and page.later_href.endswith("turn=326#turn-326")
    last = client_of_viewer.get(f"/runs/{run.pk}/cases/0/?turn=99999").context["page"]
    assert last.turns[-1].number == 500
    assert [entry.number for entry in last.outline] == [301, *range(476, 501)]


def test_a_two_megabyte_observation_stays_out_of_the_page(client_of_viewer: Client, team: Team) -> None:
    large = turn(observation={"response": {"message": "x" * 2_000_000}, "rows": list(range(5_000))})
    run = stored(team, report(cases=[case(turns=[large])]))

    page = show(client_of_viewer, run)
    raw = client_of_viewer.get(f"/runs/{run.pk}/cases/0/raw/?part=0.observation").content.decode()
    whole = client_of_viewer.get(f"/runs/{run.pk}/cases/0/raw/?part=0.observation&pointer=/response/message&as=text")

    assert len(page) < 60_000 and "2,000,000 characters" in page
    assert len(raw) < 100_000 and "4,900 more" in raw
    assert json.loads(whole.content) == "x" * 2_000_000


@pytest.mark.parametrize(
    "query", ["part=9.input", "part=x", "part=0.nothing", "part=0.input&pointer=/none", "part=", "part=-1.input"]
)
def test_a_part_that_is_not_there_is_not_found(client_of_viewer: Client, team: Team, query: str) -> None:
    run = stored(team, report())

    assert client_of_viewer.get(f"/runs/{run.pk}/cases/0/raw/?{query}").status_code == 404


def test_next_and_previous_walk_the_failures_and_the_filter(client_of_viewer: Client, team: Team) -> None:
    run = stored(team, report("FPFSF"))

    page = client_of_viewer.get(f"/runs/{run.pk}/cases/2/?status=failures").context["page"]
    plain = client_of_viewer.get(f"/runs/{run.pk}/cases/2/").context["page"]

    assert page.next_href == f"/runs/{run.pk}/cases/4/?status=failures"
    assert page.previous_failure_href == f"/runs/{run.pk}/cases/0/"
    assert plain.next_href == f"/runs/{run.pk}/cases/3/"


def test_repeated_step_ids_and_case_ids_are_told_apart_by_place(client_of_viewer: Client, team: Team) -> None:
    twice = [case(id="same", turns=[turn(), turn("failed")], status="failed"), case(id="same")]
    run = stored(team, report(cases=twice))

    first = client_of_viewer.get(f"/runs/{run.pk}/cases/0/").context["page"]
    second = client_of_viewer.get(f"/runs/{run.pk}/cases/1/").context["page"]

    assert [len(first.turns), len(second.turns)] == [2, 1]


def test_a_case_costs_the_same_queries_for_one_turn_and_for_thirty(client_of_viewer: Client, team: Team) -> None:
    few = stored(team, report(cases=[case()]))
    many = stored(team, report(cases=[case(turns=[turn() for _ in range(30)]) for _ in range(20)]))

    def cost(run: Run) -> int:
        with CaptureQueriesContext(connection) as queries:
            show(client_of_viewer, run)
        return len(queries)

    assert cost(many) == cost(few) <= 17


def test_a_case_that_does_not_exist_is_not_found(client_of_viewer: Client, team: Team) -> None:
    run = stored(team, report())

    assert client_of_viewer.get(f"/runs/{run.pk}/cases/1/").status_code == 404
    assert client_of_viewer.get(f"/runs/{run.pk}/cases/99999999999999999999/").status_code == 404


# --------------------------------------------------------------------------------------------- links to paths, criteria


def links_of(html: str) -> list[str]:
    """Return the addresses of the members of the JSON that is shown."""
    return [unescape(each) for each in re.findall(r'data-link href="([^"]+)"', html)]


def test_a_link_opens_the_json_of_a_turn_at_its_path(client_of_viewer: Client, team: Team) -> None:
    price = turn(step_id="s", observation={"response": {"message": "Hi", "facts": [{"price": 1}, {"price": 2}]}})
    run = stored(team, report(cases=[case(turns=[turn(), price])]))

    page = show(client_of_viewer, run, query="?turn=2&path=response.facts[1].price")

    assert page.count('id="turn-2:response.facts[1].price" class="is-linked"') == 1
    assert '<details class="fold" data-raw open><summary>Observation</summary>' in page


def test_every_member_of_the_json_links_to_its_own_place(client_of_viewer: Client, team: Team) -> None:
    odd = {"two words": [{'a"b': 1}], "": 2, "über": {"x.y": None}, "sl/a~sh": 3, "0": {"\x00\ud83d\u202e": 4}, "e": []}
    run = stored(team, report(cases=[case(turns=[turn(observation=odd)])]))
    raw = client_of_viewer.get(f"/runs/{run.pk}/cases/0/raw/?part=0.observation").content.decode()

    links = links_of(raw)

    assert len(links) == 10
    for link in links:
        address, _, anchor = link.partition("#")
        shown = client_of_viewer.get(address).content.decode()
        assert shown.count(f'id="{anchor}" class="is-linked"') == 1, link


def test_a_member_far_behind_in_a_huge_observation_is_shown(client_of_viewer: Client, team: Team) -> None:
    large = turn(observation={"response": {"message": "x" * 2_000_000}, "rows": [{"n": n} for n in range(5_000)]})
    run = stored(team, report(cases=[case(turns=[turn()] * 40 + [large])]))

    page = show(client_of_viewer, run, query="?turn=41&path=rows[4321].n")

    assert 'id="turn-41:rows[4321].n"' in page
    assert len(page) < 400_000


@pytest.mark.parametrize(
    ("query", "anchor"),
    [
        ("turn=1&part=input&path=text", "turn-1.input:text"),
        ("turn=1&part=assertions&path=[0].id", "turn-1.assertions:[0].id"),
        ("part=case&path=status", "case:status"),
        ("part=scenario&path=steps[0].id", "scenario:steps[0].id"),
        ("turn=1&path=", "turn-1:"),
        ("path=response", "turn-1:response"),
    ],
)
def test_every_part_of_a_case_opens_at_a_path(client_of_viewer: Client, team: Team, query: str, anchor: str) -> None:
    run = stored(team, report("F"))

    page = show(client_of_viewer, run, query=f"?{query}")

    assert page.count(f'id="{anchor}"') == 1


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("turn=1&path=response.nothing", "There is no “response.nothing” in the observation of turn 1."),
        ("turn=9&path=response", "There is no “response” in the observation of turn 9."),
        ("turn=1&part=checkpoint&path=a[0]", "There is no “a[0]” in the checkpoint of turn 1."),
        ("turn=1&path=a[", "“path” in the address was not understood and is left out."),
        ("turn=1&path=a.*", "“path” in the address was not understood and is left out."),
        ("turn=1&part=secret&path=a", "“part” in the address was not understood and is left out."),
        (f"turn=1&path={'a' * 2_001}", "“path” in the address was not understood and is left out."),
    ],
)
def test_what_cannot_be_opened_is_said(client_of_viewer: Client, team: Team, query: str, words: str) -> None:
    run = stored(team, report("F"))

    assert words in show(client_of_viewer, run, query=f"?{query}")


def test_an_asked_path_costs_no_more_queries(client_of_viewer: Client, team: Team) -> None:
    run = stored(team, report(cases=[case(turns=[turn()] * 3)]))
    counts = []
    for query in ("?turn=3", "?turn=3&path=response.message", "?part=case&path=status"):
        show(client_of_viewer, run, query=query)
        with CaptureQueriesContext(connection) as queries:
            show(client_of_viewer, run, query=query)
        counts.append(len(queries))

    assert len(set(counts)) == 1


def test_every_criterion_has_one_anchor(client_of_viewer: Client, team: Team) -> None:
    child = {"id": "same", "passed": False}
    results = [
        {"id": "holds", "passed": True},
        {"id": "all/of it", "passed": False, "children": [child, child]},
        {"id": "holds", "passed": True},
    ]
    made = case("failed", turns=[turn("failed", assertions=results)], assertions=[{"id": "whole", "passed": True}])
    run = stored(team, report(cases=[made]))

    page = show(client_of_viewer, run)

    anchors = re.findall(r'<li class="expression[^"]*" id="([^"]+)"', page)
    assert sorted(anchors) == [
        "criteria/whole",
        "turn-1/all%2Fof%20it",
        "turn-1/all%2Fof%20it/same",
        "turn-1/all%2Fof%20it/same~2",
        "turn-1/holds",
        "turn-1/holds~2",
    ]
    assert all(f'href="#{anchor}"' in page for anchor in anchors)
