"""The side by side: which repetitions stand there, where the conversations part, what is the same and what is not."""

import html
import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from reports.models import Run, ScenarioVariant, Team
from reports.selectors import compare_case
from tests.factories import LETTERS, case, outcomes, report, scenario, suite, turn
from tests.factories import stored as store

pytestmark = pytest.mark.django_db

Turns = list[dict[str, Any]]


def said(text: str, *, step_id: str, status: str = "passed", **members: Any) -> dict[str, Any]:
    return turn(status, step_id=step_id, observation={"response": {"message": text}} | members)


def one_case(fingerprint: str, turns: Turns, status: str = "passed", **members: Any) -> dict[str, Any]:
    made = case(status, turns=turns, **members)
    return report(cases=[made], target={"id": "desk.agent", "fingerprint": fingerprint}, suite=suite("greet"))


def show(client: Client, before: Run, after: Run, **members: str) -> Any:
    key = ScenarioVariant.objects.get(scenario_id=members.pop("scenario", "greet"), team=before.team).key
    sides = {"baseline": f"run:{before.pk}", "candidate": f"run:{after.pk}"}
    return client.get("/compare/case/", sides | {"variant": key} | members)


def compared(client: Client, team: Team, left: Turns, right: Turns, *statuses: str) -> Any:
    before = store(team, one_case("v1", left, statuses[0] if statuses else "passed"))
    after = store(team, one_case("v2", right, statuses[1] if statuses else "passed"))
    return show(client, before, after)


def text_of(response: Any) -> str:
    body = re.sub(r"(?s)<svg.*?</svg>|<[^>]+>", " ", response.content.decode().partition("<main")[2])
    return re.sub(r"\s+", " ", html.unescape(body))


def steps(*texts: str) -> Turns:
    return [said(text, step_id=f"s{number}") for number, text in enumerate(texts, start=1)]


def test_the_page_opens_where_the_conversations_part(client_of_viewer: Client, team: Team) -> None:
    response = compared(client_of_viewer, team, steps("a", "b", "c", "d"), steps("a", "b", "x", "y"))

    page = response.context["page"]
    assert page.sentence == "The conversations part at turn 3 (s3): observation."
    assert [entry.mark for entry in page.outline] == ["equal", "equal", "changed", "changed"]
    assert [entry.is_first for entry in page.outline] == [False, False, True, False]
    assert response.content.decode().count('id="divergence"') == 1


def test_what_comes_after_the_first_difference_may_follow_from_it(client_of_viewer: Client, team: Team) -> None:
    page = compared(client_of_viewer, team, steps("a", "b"), steps("x", "y")).context["page"]

    assert [block.pair.follows for block in page.blocks] == [False, True]


def test_equal_stretches_are_folded_to_one_line(client_of_viewer: Client, team: Team) -> None:
    response = compared(client_of_viewer, team, steps("a", "b", "c", "d"), steps("a", "b", "c", "z"))

    stretch, pair = response.context["page"].blocks
    assert stretch.stretch.words == "3 equal turns"
    assert pair.pair.is_first


def test_identical_conversations_are_folded_and_said_to_be(client_of_viewer: Client, team: Team) -> None:
    response = compared(client_of_viewer, team, steps("a", "b"), steps("a", "b"))

    page = response.context["page"]
    assert 'class="page__answer" id="divergence"' in response.content.decode()
    assert page.is_identical
    assert page.sentence == "The two conversations are identical, and so is how they were judged."
    assert [block.stretch.words for block in page.blocks] == ["2 equal turns"]
    assert not any(entry.is_current for entry in page.outline)


def test_a_verdict_that_changed_alone_is_said_to_have(client_of_viewer: Client, team: Team) -> None:
    same = said("a", step_id="s1")
    judged = same | {"status": "failed", "assertions": [same["assertions"][0] | {"passed": False}]}

    page = compared(client_of_viewer, team, [same], [judged], "passed", "failed").context["page"]

    assert page.sentence == "Nothing in the conversation changed, but the verdict did, first at turn 1 (s1)."


def test_a_difference_at_the_end_is_the_first_one(client_of_viewer: Client, team: Team) -> None:
    result = {"id": "grounded", "passed": True}
    before = store(team, one_case("v1", steps("a"), assertions=[result]))
    after = store(team, one_case("v2", steps("a"), "failed", assertions=[result | {"passed": False}]))

    response = show(client_of_viewer, before, after)

    page = response.context["page"]
    assert page.is_first_at_end
    assert [pair.change for pair in page.criteria] == ["flipped"]
    assert 'id="divergence"' in response.content.decode()


def test_words_that_differ_are_marked_on_their_side(client_of_viewer: Client, team: Team) -> None:
    body = compared(
        client_of_viewer, team, steps("The flight leaves at nine."), steps("The train leaves at nine.")
    ).content.decode()

    assert "<del>flight</del>" in body
    assert "<ins>train</ins>" in body


def test_json_differs_path_by_path_and_ignored_members_do_not_count(client_of_viewer: Client, team: Team) -> None:
    left = [said("a", step_id="s1", facts=[{"id": 1, "ok": True}], threadId="one", usage={"inputTokens": 3})]
    right = [said("a", step_id="s1", facts=[{"id": 1, "ok": False}], threadId="two", usage={"inputTokens": 4})]

    pair = compared(client_of_viewer, team, left, right).context["page"].blocks[0].pair

    assert [(line.path, line.kind, line.left, line.right) for line in pair.observation.lines] == [
        ("facts[0].ok", "changed", "true", "false")
    ]


def test_moved_items_are_recognised(client_of_viewer: Client, team: Team) -> None:
    left = [said("a", step_id="s1", order=["x", "y", "z"])]
    right = [said("a", step_id="s1", order=["z", "x", "y"])]

    (line,) = compared(client_of_viewer, team, left, right).context["page"].blocks[0].pair.observation.lines

    assert (line.path, line.kind, line.left, line.right) == ("order[2]", "moved", '"z"', "at [0]")


def test_flipped_criteria_come_first_and_a_failed_child_of_a_passing_any_is_no_defect(
    client_of_viewer: Client, team: Team
) -> None:
    either = {"id": "either", "passed": True, "children": [{"id": "p", "passed": False}, {"id": "q", "passed": True}]}
    steady, flips = {"id": "steady", "passed": True}, {"id": "flips", "passed": True}
    left = turn(assertions=[steady, either, flips])
    right = turn("failed", assertions=[steady, either, flips | {"passed": False}])

    pair = compared(client_of_viewer, team, [left], [right], "passed", "failed").context["page"].blocks[0].pair

    assert [(each.shown.id, each.change) for each in pair.criteria] == [("flips", "flipped")]
    both = next(each for each in pair.same_criteria if each.shown.id == "either")
    assert [child.right.is_defect for child in both.children] == [False, False]


def test_a_criterion_on_one_side_only_is_listed(client_of_viewer: Client, team: Team) -> None:
    left, right = turn(assertions=[]), turn(assertions=[{"id": "new", "passed": True}])

    pair = compared(client_of_viewer, team, [left], [right]).context["page"].blocks[0].pair

    assert [(each.change, each.left) for each in pair.criteria] == [("only-right", None)]


def test_turns_without_a_partner_are_marked(client_of_viewer: Client, team: Team) -> None:
    left, right = steps("a", "b"), [*steps("a"), said("n", step_id="new"), said("b", step_id="s2")]

    page = compared(client_of_viewer, team, left, right).context["page"]

    assert [entry.mark for entry in page.outline] == ["equal", "only-right", "equal"]


def test_a_typical_pass_stands_against_a_typical_failure(client_of_viewer: Client, team: Team) -> None:
    before, after = store(team, outcomes("v1", greet="FPP")), store(team, outcomes("v2", greet="PFF"))

    page = show(client_of_viewer, before, after).context["page"]

    assert (page.left.case.rank, page.right.case.rank) == (2, 2)
    assert (page.left.case.status, page.right.case.status) == ("passed", "failed")


def test_any_repetition_can_be_put_against_any_other(client_of_viewer: Client, team: Team) -> None:
    before, after = store(team, outcomes("v1", greet="FPP")), store(team, outcomes("v2", greet="PFF"))

    page = show(client_of_viewer, before, after, b="1", c="3").context["page"]

    assert (page.left.case.rank, page.right.case.rank) == (1, 3)
    links = [link.href for link in page.right.repetitions]
    assert parse_qs(urlsplit(links[0]).query)["b"] == ["1"]
    assert client_of_viewer.get(links[0]).context["page"].right.case.rank == 1


def test_an_unknown_repetition_asks_for_nothing(client_of_viewer: Client, team: Team) -> None:
    run = store(team, outcomes(greet="P"))

    assert show(client_of_viewer, run, run, b="77").context["page"].left.case.rank == 1


def test_a_scenario_of_one_side_only_is_shown_on_its_side(client_of_viewer: Client, team: Team) -> None:
    before, after = store(team, outcomes("v1", greet="P")), store(team, outcomes("v2", greet="P", extra="F"))

    response = show(client_of_viewer, before, after, scenario="extra")

    page = response.context["page"]
    assert page.sentence == "Only the candidate has this scenario variant."
    assert (page.left.case, page.right.case.status) == (None, "failed")
    assert page.outline[0].mark == "only-right"


def test_cases_without_turns_are_shown(client_of_viewer: Client, team: Team) -> None:
    before, after = store(team, outcomes("v1", greet="S")), store(team, outcomes("v2", greet="N"))

    assert "Neither side has a turn: skipped → pending." in text_of(show(client_of_viewer, before, after))


def test_next_and_previous_walk_the_rows_of_the_filter(client_of_viewer: Client, team: Team) -> None:
    before = store(team, outcomes("v1", a="P", b="P", c="P", d="F"))
    after = store(team, outcomes("v2", a="F", b="F", c="F", d="P"))

    page = show(client_of_viewer, before, after, scenario="b", **{"class": "regressions"}).context["page"]

    assert page.place == "2 of 3"
    assert client_of_viewer.get(page.next_href).context["page"].scenario_id == "c"
    assert client_of_viewer.get(page.previous_href).context["page"].scenario_id == "a"
    assert client_of_viewer.get(page.next_href).context["page"].next_href == ""


def test_a_long_conversation_is_shown_in_a_window_around_its_difference(client_of_viewer: Client, team: Team) -> None:
    left = steps(*(f"text {number}" for number in range(500)))
    right = steps(*(f"text {number}" if number < 300 else "other" for number in range(500)))

    response = compared(client_of_viewer, team, left, right)

    page = response.context["page"]
    pairs = [block.pair for block in page.blocks if block.pair]
    assert (len(page.outline), len(pairs), pairs[0].anchor) == (500, 12, "turn-301")
    assert len(response.content) < 600_000
    last = client_of_viewer.get(page.outline[499].href.partition("#")[0]).context["page"]
    assert last.blocks[-1].pair.anchor == "turn-500"


def test_the_rail_of_a_long_conversation_folds_its_equal_stretches(client_of_viewer: Client, team: Team) -> None:
    left = steps(*(f"text {number}" for number in range(100)))
    right = steps(*(f"text {number}" if number not in (3, 60) else "other" for number in range(100)))

    response = compared(client_of_viewer, team, left, right)

    rail = response.context["page"].rail
    assert [part.words or part.entries[0].number for part in rail] == [
        *"1234",
        "5–60: 56 equal turns",
        "61",
        "62–100: 39 equal turns",
    ]
    assert [entry.number for part in rail for entry in part.entries if entry.is_current] == ["4"]
    assert response.content.decode().count('aria-current="true" title="changed"') == 1


def test_the_rail_of_a_usual_conversation_shows_every_turn(client_of_viewer: Client, team: Team) -> None:
    both = steps(*(f"text {number}" for number in range(40)))

    rail = compared(client_of_viewer, team, both, both).context["page"].rail

    assert [part.words for part in rail] == [""] * 40


def test_a_huge_observation_stays_bounded(client_of_viewer: Client, team: Team) -> None:
    left = [said("word " * 400_000, step_id="s1", items=list(range(20_000)))]
    right = [said("word " * 399_000 + "end", step_id="s1", items=list(range(1, 20_001)))]

    response = compared(client_of_viewer, team, left, right)

    assert response.status_code == 200
    assert len(response.content) < 300_000


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a", "No difference before turn 3 (s3); what follows is too large to be looked at here."),
        ("x", "The conversations part at turn 1 (s1): observation."),
    ],
)
def test_what_is_too_large_is_marked_as_not_looked_at(
    client_of_viewer: Client, team: Team, monkeypatch: pytest.MonkeyPatch, text: str, words: str
) -> None:
    monkeypatch.setattr(compare_case, "MOST_BYTES", 500)
    monkeypatch.setattr(compare_case, "MOST_EQUAL_BYTES", 600)

    page = compared(client_of_viewer, team, steps("a", "b", "c"), steps(text, "b", "c")).context["page"]

    assert page.sentence == words
    assert page.outline[-1].mark == "unread"


def test_texts_from_outside_never_become_markup(client_of_viewer: Client, team: Team) -> None:
    evil = "<img src=x onerror=alert(1)>\u202e\x00\ud83d"
    left = [said(evil, step_id=evil, value=evil)]
    right = [said(f"{evil} more", step_id=evil, value=f"{evil}!")]

    body = compared(client_of_viewer, team, left, right).content.decode()

    assert "<img src=x" not in body
    assert "U+202E" in body


def test_what_does_not_exist_is_not_found(client_of_viewer: Client, team: Team) -> None:
    run, theirs = store(team, outcomes(greet="P")), store(Team.objects.create(name="Others"), outcomes(greet="P"))

    assert show(client_of_viewer, run, theirs).status_code == 404
    assert client_of_viewer.get("/compare/case/").status_code == 404
    sides = {"baseline": str(run.pk), "candidate": str(run.pk)}
    assert client_of_viewer.get("/compare/case/", sides | {"variant": "0" * 32}).status_code == 404
    assert client_of_viewer.get("/compare/case/", sides | {"variant": "x"}).status_code == 404


def test_criteria_say_what_was_asked_on_each_side(client_of_viewer: Client, team: Team) -> None:
    asked = scenario("greet")
    before = store(team, one_case("v1", [turn()]) | {"suite": suite() | {"scenarios": [asked]}})
    after = store(team, one_case("v2", [turn("failed")], "failed") | {"suite": suite() | {"scenarios": [asked]}})

    words = text_of(show(client_of_viewer, before, after))

    assert 'response.status equals "completed"' in words
    assert 'got "refused"' in words


def test_the_page_costs_the_same_queries_for_10_and_for_400_variants(client_of_viewer: Client, team: Team) -> None:
    counts = []
    for number, size in enumerate((10, 400)):
        names = {f"n{number}s{place}": "PPF" for place in range(size)}
        first = f"n{number}s0"
        before = store(team, outcomes(f"v{number}", target_id=f"t{number}", **names))
        after = store(team, outcomes(f"w{number}", target_id=f"t{number}", **(names | {first: "PFP"})))
        show(client_of_viewer, before, after, scenario=first)
        with CaptureQueriesContext(connection) as queries:
            assert show(client_of_viewer, before, after, scenario=first).status_code == 200
        counts.append(len(queries))

    assert counts[0] == counts[1]


@pytest.mark.parametrize("letters", ["PPP", "EEE", "CPS"])
def test_every_pair_of_statuses_has_a_page(client_of_viewer: Client, team: Team, letters: str) -> None:
    run = store(team, outcomes("v1", greet="".join(LETTERS)))
    other = store(team, outcomes("v2", greet=letters))

    for rank in range(1, len(LETTERS) + 1):
        assert show(client_of_viewer, run, other, b=str(rank)).status_code == 200


# ------------------------------------------------------------------------------------------------- links to a JSON path


def line_of(response: Any, path: str) -> Any:
    """Return the line of a path among the lines of all pairs, asked ones included."""
    pairs = [block.pair for block in response.context["page"].blocks if block.pair and block.pair.observation]
    lines = [line for pair in pairs for line in (*pair.observation.lines, pair.observation.asked) if line]
    (found,) = [line for line in lines if line.path == path]
    return found


def opened(client: Client, team: Team, left: Any, right: Any, **members: str) -> Any:
    before, after = store(team, one_case("v1", left)), store(team, one_case("v2", right))
    return show(client, before, after, **members)


def test_every_path_that_differs_has_an_anchor_and_links_to_it(client_of_viewer: Client, team: Team) -> None:
    left = [said("a", step_id="s1", facts=[{"id": 1, "x y": 1}])]
    right = [said("b", step_id="s1", facts=[{"id": 1, "x y": 2}], more=1)]

    body = opened(client_of_viewer, team, left, right).content.decode()

    for anchor in ("turn-1:facts[0][%22x%20y%22]", "turn-1:more", "turn-1:response.message"):
        assert body.count(f'id="{anchor}"') == 1
        assert f'href="#{anchor}"' in body


def test_what_only_the_baseline_has_is_named_by_its_own_turn(client_of_viewer: Client, team: Team) -> None:
    left = [said("n", step_id="s0"), said("a", step_id="s1", facts=[{"id": 1}, {"id": 2, "v": 1}], gone=1)]
    right = [said("a", step_id="s1", facts=[{"id": 2, "v": 2}])]

    response = opened(client_of_viewer, team, left, right)

    assert line_of(response, "gone").anchor == "turn-left-2:gone"
    assert line_of(response, "facts[0]").anchor == "turn-left-2:facts[0]"
    changed = line_of(response, "facts[0].v")
    assert (changed.anchor, changed.baseline_path) == ("turn-1:facts[0].v", "facts[1].v")


def test_a_path_inside_moved_items_is_that_of_each_side(client_of_viewer: Client, team: Team) -> None:
    left = [said("a", step_id="s1", facts=[{"id": 1}, {"id": 2, "in": {"old": [1]}}])]
    right = [said("a", step_id="s1", facts=[{"id": 2, "in": {"new": [1]}}])]

    response = opened(client_of_viewer, team, left, right)

    assert line_of(response, "facts[1].in.old").anchor == "turn-left-1:facts[1].in.old"
    assert line_of(response, "facts[0].in.new").anchor == "turn-1:facts[0].in.new"


@pytest.mark.parametrize(
    ("path", "kind", "values"),
    [
        ("response.message", "changed", ('"a"', '"b"')),
        ("same[0].x", "same", ("1", "1")),
        ("traceId", "left out", ('"p"', '"q"')),
        ("new.inner", "within", ("", "5")),
        ("response", "within", ('{"message": "a"}', '{"message": "b"}')),
        ("nothing.here[3]", "absent", ("", "")),
    ],
)
def test_an_asked_path_is_shown_whatever_became_of_it(
    client_of_viewer: Client, team: Team, path: str, kind: str, values: tuple[str, str]
) -> None:
    left = [said("a", step_id="s1", same=[{"x": 1}], traceId="p")]
    right = [said("b", step_id="s1", same=[{"x": 1}], traceId="q", new={"inner": 5})]

    response = opened(client_of_viewer, team, left, right, turn="1", path=path)

    line = line_of(response, path)
    assert (line.kind, line.left, line.right, line.is_asked) == (kind, *values, True)
    assert response.content.decode().count(f'id="turn-1:{path}"') == 1


def test_an_asked_path_of_an_equal_turn_unfolds_it(client_of_viewer: Client, team: Team) -> None:
    both = steps(*(f"text {number}" for number in range(500)))

    response = opened(client_of_viewer, team, both, both, turn="444", path="response.message")

    (pair,) = [block.pair for block in response.context["page"].blocks if block.pair]
    assert (pair.anchor, pair.observation.words) == ("turn-444", "nothing differs")
    assert 'id="turn-444:response.message"' in response.content.decode()


def test_an_asked_path_of_a_turn_on_one_side_is_shown(client_of_viewer: Client, team: Team) -> None:
    left, right = [*steps("a"), said("n", step_id="gone", value=7)], steps("a")

    response = opened(client_of_viewer, team, left, right, turn="left-2", path="value")

    line = line_of(response, "value")
    assert (line.left, line.right, line.anchor) == ("7", "", "turn-left-2:value")


def test_a_turn_that_only_the_baseline_has_is_reached_from_afar(client_of_viewer: Client, team: Team) -> None:
    left = [*steps(*"abcdefghijklmnopqrst"), said("n", step_id="gone")]
    right = steps(*"ABCDEFGHIJKLMNOPQRST")

    page = opened(client_of_viewer, team, left, right).context["page"]

    address, _, anchor = page.outline[20].href.partition("#")
    assert anchor == "turn-left-21"
    assert f'id="{anchor}"' in client_of_viewer.get(address).content.decode()


def test_a_pair_carries_the_address_that_shows_it_again(client_of_viewer: Client, team: Team) -> None:
    response = opened(client_of_viewer, team, steps("a", "b"), steps("a", "x"))

    (pair,) = [block.pair for block in response.context["page"].blocks if block.pair]
    asked = parse_qs(urlsplit(pair.base).query)
    assert (asked["b"], asked["c"], asked["turn"]) == (["1"], ["1"], ["2"])
    again = client_of_viewer.get(f"{pair.base}&path=response.message").content.decode()
    assert again.count('id="turn-2:response.message"') == 1


@pytest.mark.parametrize(
    ("members", "status", "words"),
    [
        ({"turn": "77"}, 200, "There is no turn 77 here."),
        ({"turn": "left-9"}, 200, "There is no turn left-9 here."),
        ({"b": "9"}, 200, "There is no repetition 9 of the baseline here; a typical one is shown."),
        ({"b": "1", "c": "2"}, 200, "There is no repetition 2 of the candidate here; a typical one is shown."),
        ({"turn": "x"}, 400, "“turn” in the address was not understood"),
        ({"turn": "1", "path": "a["}, 400, "“path” in the address was not understood"),
    ],
)
def test_what_cannot_be_opened_is_said(
    client_of_viewer: Client, team: Team, members: dict[str, str], status: int, words: str
) -> None:
    response = opened(client_of_viewer, team, steps("a"), steps("b"), **members)

    assert response.status_code == status
    assert words in text_of(response)


def test_an_asked_path_costs_no_more_queries(client_of_viewer: Client, team: Team) -> None:
    before, after = store(team, one_case("v1", steps(*"abcd"))), store(team, one_case("v2", steps(*"abcx")))
    counts = []
    for members in ({}, {"turn": "4"}, {"turn": "4", "path": "response.message"}):
        show(client_of_viewer, before, after, **members)
        with CaptureQueriesContext(connection) as queries:
            show(client_of_viewer, before, after, **members)
        counts.append(len(queries))

    assert len(set(counts)) == 1


def test_criteria_have_anchors_by_their_ids(client_of_viewer: Client, team: Team) -> None:
    inner = {"id": "one", "passed": True}
    held = {"id": "both", "passed": True, "children": [inner, {"id": "two", "passed": True}]}
    fails = held | {"passed": False, "children": [inner, {"id": "two", "passed": False}]}
    left, right = turn(assertions=[held]), turn("failed", assertions=[fails])

    body = opened(client_of_viewer, team, [left], [right]).content.decode()

    for anchor in ("turn-1/both", "turn-1/both/one", "turn-1/both/two"):
        assert body.count(f'id="{anchor}"') == 1
        assert f'href="#{anchor}"' in body
