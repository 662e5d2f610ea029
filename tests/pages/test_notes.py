"""Notes on pages: written beside a cluster or a row, counted in headlines, listed with what they match."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from reports.models import Note, Run, Team, User
from tests import factories
from tests.factories import outcomes
from tests.factories import stored as store
from tests.pages.test_compare import text_of

pytestmark = pytest.mark.django_db
Pair = tuple[Run, Run]


@pytest.fixture
def triager(team: Team) -> User:
    return factories.make_member(team, "triager")


@pytest.fixture
def client_of_triager(triager: User) -> Client:
    client = Client()
    client.force_login(triager)
    return client


@pytest.fixture
def pair(team: Team) -> Pair:
    before = outcomes("v1", a="PP", b="PP") | {"startedAt": "2026-03-01T09:00:00Z"}
    return store(team, before), store(team, outcomes("v2", a="FF", b="PF"))


def compare(client: Client, pair: Pair) -> Any:
    return client.get("/compare/", {"baseline": f"run:{pair[0].pk}", "candidate": f"run:{pair[1].pk}"})


def write(client: Client, href: str, **members: str) -> Any:
    assert client.get(href).status_code == 200
    return client.post(href, {"state": "known_issue", "text": "Ticket <12>"} | members)


def test_a_note_on_a_cluster_of_a_run_quiets_its_headline(client_of_triager: Client, pair: Pair) -> None:
    address = f"/runs/{pair[1].pk}/"
    page = client_of_triager.get(address).context["page"]
    assert page.attention == "3 of 3 failing cases need attention"

    answer = write(client_of_triager, page.clusters[0].note.href, next=f"{address}#failures")

    assert answer["Location"] == f"{address}#failures"
    after = client_of_triager.get(address)
    assert after.context["page"].attention == "none of 3 failing cases needs attention"
    assert after.context["page"].clusters[0].note.state == "known issue"


def test_bulk_action_on_a_cluster_writes_a_note_for_each_scenario_variant(
    client_of_triager: Client, pair: Pair
) -> None:
    page = client_of_triager.get(f"/runs/{pair[1].pk}/").context["page"]

    write(client_of_triager, page.clusters[0].note.href, each="on")

    assert sorted(Note.objects.values_list("variant__scenario_id", flat=True)) == ["a", "b"]


def test_a_bulk_action_names_the_notes_that_it_keeps_before_and_after(client_of_triager: Client, pair: Pair) -> None:
    write(client_of_triager, compare(client_of_triager, pair).context["page"].groups[0].lines[0].note.href)
    href = client_of_triager.get(f"/runs/{pair[1].pk}/").context["page"].clusters[0].note.href

    before = client_of_triager.get(href)
    after = client_of_triager.post(href, {"state": "flaky", "each": "on"}, follow=True)

    assert "One note for each of the 2 scenario variants that fail so in this run" in text_of(before)
    assert "1 has a note already, which stays as it is: a ." in text_of(before)
    assert "1 note written; 1 has a note already, which stays as it is: a." in text_of(after)
    assert list(Note.objects.order_by("pk").values_list("state", "text")) == [
        ("known_issue", "Ticket <12>"),
        ("flaky", ""),
    ]


def test_a_note_that_was_written_meanwhile_is_not_replaced(client_of_triager: Client, pair: Pair) -> None:
    href = compare(client_of_triager, pair).context["page"].groups[0].lines[0].note.href
    write(client_of_triager, href)

    answer = client_of_triager.post(href, {"state": "flaky", "text": "Mine"})

    assert answer.status_code == 400
    number = Note.objects.get().pk
    sentence = f"There is a note on it already, number {number}, which stays as it is. Open the note that is there"
    assert sentence in text_of(answer)
    assert Note.objects.get().text == "Ticket <12>"
    assert (
        client_of_triager.post(href, {"state": "known_issue", "text": "Ticket <12>"}).status_code == 302
    )  # a click too many


def test_the_form_says_what_the_note_covers(client_of_triager: Client, team: Team, pair: Pair) -> None:
    page = compare(client_of_triager, pair).context["page"]
    row, cluster = page.groups[0].lines[0].note.href, page.clusters[0].note.href

    assert "It covers how this scenario variant fails in the run that you come from: ask: answered" in text_of(
        client_of_triager.get(row)
    )
    assert "It covers this failure in every scenario variant" in text_of(client_of_triager.get(cluster))
    on_passing = row.replace(str(pair[1].pk), str(pair[0].pk))
    assert "Nothing of this scenario variant fails in the run that you come from: it covers no failure" in text_of(
        client_of_triager.get(on_passing)
    )


def test_a_note_on_what_fails_differently_can_be_told_to_cover_that_too(
    client_of_triager: Client, team: Team, pair: Pair
) -> None:
    write(client_of_triager, compare(client_of_triager, pair).context["page"].groups[0].lines[0].note.href)
    otherwise = store(team, outcomes("v3", a="EE", b="PP") | {"startedAt": "2026-03-09T09:00:00Z"})
    mark = compare(client_of_triager, (pair[0], otherwise)).context["page"].groups[0].lines[0].note
    assert mark.alarm == "fails differently"

    form = client_of_triager.get(mark.href, follow=True)
    assert "Cover this, too:" in text_of(form)
    client_of_triager.post(
        form.request["PATH_INFO"] + "?" + form.request["QUERY_STRING"], {"state": "flaky", "learn": "on"}
    )

    assert compare(client_of_triager, (pair[0], otherwise)).context["page"].groups[0].lines[0].note.alarm == ""
    assert len(Note.objects.get().known) == 2


def test_a_row_of_a_version_is_noted_with_the_failures_of_its_runs(
    client_of_triager: Client, team: Team, pair: Pair
) -> None:
    store(team, outcomes("v2", a="PP", b="PP") | {"startedAt": "2026-03-09T09:00:00Z"})
    sides = {"baseline": f"run:{pair[0].pk}", "candidate": f"version:{pair[1].version_id}"}
    row = client_of_triager.get("/compare/", sides).context["page"].groups[0].lines[0]

    write(client_of_triager, row.note.href)

    assert len(Note.objects.get().known) == 1


def test_a_row_of_a_comparison_is_noted_and_counted(client_of_triager: Client, pair: Pair) -> None:
    page = compare(client_of_triager, pair).context["page"]
    assert page.attention == "2 got worse or were lost, 2 need attention."
    row = page.groups[0].lines[0]

    answer = write(client_of_triager, row.note.href, state="flaky")

    assert answer["Location"].endswith(f"#{row.anchor}")
    page = client_of_triager.get(answer["Location"]).context["page"]
    assert page.attention == "2 got worse or were lost, 1 needs attention."
    assert page.groups[0].lines[0].note.state == "flaky"


def test_lists_and_home_count_what_needs_attention(client_of_triager: Client, pair: Pair) -> None:
    assert "3 need attention" in text_of(client_of_triager.get("/runs/"))
    page = client_of_triager.get(f"/runs/{pair[1].pk}/").context["page"]
    write(client_of_triager, page.clusters[0].note.href)

    assert "none needs attention" in text_of(client_of_triager.get("/runs/"))
    assert "none needs attention" in text_of(client_of_triager.get("/"))


def test_the_list_shows_what_a_note_matches_and_closes_the_chosen(client_of_triager: Client, pair: Pair) -> None:
    page = compare(client_of_triager, pair).context["page"]
    write(client_of_triager, page.groups[0].lines[0].note.href, link="https://tickets.example/12")
    listed = client_of_triager.get("/settings/notes/")
    assert "2 failing cases" in text_of(listed)
    assert "Ticket <12> https://tickets.example/12" in text_of(listed)

    answer = client_of_triager.post("/notes/close/", {"note": [str(Note.objects.get().pk), "x"]})

    assert answer["Location"] == "/settings/notes/"
    assert "There are no open notes" in text_of(client_of_triager.get("/settings/notes/"))
    assert "1 closed note" in text_of(client_of_triager.get("/settings/notes/?state=closed"))


def test_an_open_note_is_changed_in_place(client_of_triager: Client, pair: Pair) -> None:
    href = compare(client_of_triager, pair).context["page"].groups[0].lines[0].note.href
    write(client_of_triager, href)
    note = Note.objects.get()
    assert client_of_triager.get(href)["Location"].startswith(f"/notes/{note.pk}/?run={pair[1].pk}&next=")

    client_of_triager.post(f"/notes/{note.pk}/", {"state": "flaky", "owner": str(note.created_by)})

    note.refresh_from_db()
    assert (note.state, note.owner) == ("flaky", note.created_by)


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ({"state": "odd"}, "Choose a state."),
        ({"expires_on": "soon"}, "The last day is written as 2026-03-31."),
        ({"link": "javascript:alert(1)"}, "A link begins with https://"),
        ({"owner": "stranger"}, "The owner is no member of your team."),
    ],
)
def test_what_cannot_be_kept_is_said_and_stays_typed(
    client_of_triager: Client, pair: Pair, members: dict[str, str], words: str
) -> None:
    href = compare(client_of_triager, pair).context["page"].groups[0].lines[0].note.href

    answer = write(client_of_triager, href, **members)

    assert answer.status_code == 400
    assert words in text_of(answer)
    assert "Ticket &lt;12&gt;" in answer.content.decode()


def test_a_runner_reads_notes_and_writes_none(client_of_runner: Client, client_of_triager: Client, pair: Pair) -> None:
    href = compare(client_of_triager, pair).context["page"].groups[0].lines[0].note.href
    write(client_of_triager, href)
    note = Note.objects.get()

    assert compare(client_of_runner, pair).context["page"].groups[0].lines[0].note.state == "known issue"
    assert "known issue" in text_of(client_of_runner.get("/settings/notes/"))
    for address in (href, f"/notes/{note.pk}/", "/notes/close/"):
        assert client_of_runner.post(address, {"state": "flaky"}).status_code == 403


def test_another_teams_things_take_no_note(client_of_triager: Client, pair: Pair) -> None:
    others = factories.make_team()
    stranger = Client()
    stranger.force_login(factories.make_member(others, "triager"))
    href = compare(client_of_triager, pair).context["page"].groups[0].lines[0].note.href
    write(client_of_triager, href)

    assert stranger.get(href).status_code == 404
    assert stranger.get(f"/notes/{Note.objects.get().pk}/").status_code == 404


def test_the_list_costs_the_same_queries_for_one_note_and_for_forty(client_of_triager: Client, team: Team) -> None:
    counts = []
    for number in (1, 41):
        names = {f"s{each:02}": "F" for each in range(number)}
        run = store(team, outcomes("v1", **names))
        page = client_of_triager.get(f"/runs/{run.pk}/").context["page"]
        write(client_of_triager, page.clusters[0].note.href, each="on")
        with CaptureQueriesContext(connection) as queries:
            client_of_triager.get("/settings/notes/")
        counts.append(len(queries))

    assert Note.objects.count() == 41
    assert counts[0] == counts[1] <= 8
