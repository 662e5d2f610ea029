"""The list of runs: filters, paging, cost, and picking two."""

import gzip
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from reports.models import Run, Team
from tests import factories
from tests.factories import report, stored

NAMES = ["a_b", "axb", "50%", "50x", "c\\d", 'say "hi" now', "ümlaut", "\ud83d", "nul\0", "<b>"]


def show(client: Client, query: str = "", *, status: int = 200) -> str:
    response = client.get("/runs/", {"q": query} if query else {})
    assert response.status_code == status
    return response.content.decode()


def listed(page: str) -> list[str]:
    """The ids of the runs on a page, in their order."""
    return re.findall(r'name="run" value="([0-9a-f-]{36})"', page)


def run_of(
    team: Team, *, target: str = "desk.agent", fingerprint: str = "v1", letters: str = "PF", **members: Any
) -> Run:
    return stored(team, report(letters, target={"id": target, "fingerprint": fingerprint}, **members))


def test_a_row_shows_the_run_with_its_counts_and_links(client_of_viewer: Client, team: Team) -> None:
    run = run_of(team, letters="PPFFFSSSSS")

    page = show(client_of_viewer, "")

    assert f'href="/runs/{run.pk}/"' in page
    assert "40%" in page
    assert "2 of 5 decided, 5 undecided" in page
    counts = re.findall(r'</svg>(\d+)<span class="visually-hidden"> (\w+)', page)
    assert counts == [("2", "passed"), ("3", "failed"), ("5", "skipped")]
    assert "not passed" in page


def test_an_empty_list_says_what_to_do(client_of_runner: Client, client_of_viewer: Client) -> None:
    assert "Import a report" in show(client_of_runner)
    assert 'href="/runs/import/"' not in show(client_of_viewer)


def test_the_newest_run_stands_first(client_of_viewer: Client, team: Team) -> None:
    old = run_of(team, startedAt="2026-03-01T00:00:00Z", finishedAt="2026-03-01T00:01:00Z")
    new = run_of(team, startedAt="2026-03-02T00:00:00Z", finishedAt="2026-03-02T00:01:00Z")

    assert listed(show(client_of_viewer)) == [str(new.pk), str(old.pk)]


@pytest.mark.parametrize(
    "name", ["a_b", "axb", "50%", "50x", "c\\d", 'say "hi" now', "ümlaut", "\ud83d", "nul\0", "<b>"]
)
def test_each_name_finds_exactly_its_own_run(client_of_viewer: Client, team: Team, name: str) -> None:
    runs = {each: run_of(team, target=each) for each in NAMES}
    menu = client_of_viewer.get("/runs/filters/target/").content.decode()

    (href,) = [
        href
        for href in re.findall(r'href="([^"]+)"', menu)
        if listed(client_of_viewer.get(href).content.decode()) == [str(runs[name].pk)]
    ]

    assert "target" in href


@pytest.mark.parametrize("text", ["a_b", "50%", "c\\d", "axb"])
def test_free_text_has_no_wildcards(client_of_viewer: Client, team: Team, text: str) -> None:
    runs = {each: run_of(team, target=f"before {each} after") for each in ("a_b", "axb", "50%", "50x", "c\\d", "cd")}

    assert listed(show(client_of_viewer, text)) == [str(runs[text].pk)]


def test_filters_narrow_together(client_of_viewer: Client, team: Team) -> None:
    wanted = run_of(team, target="shop", fingerprint="v2", letters="PP")
    run_of(team, target="shop", fingerprint="v2", letters="PF")
    run_of(team, target="shop", fingerprint="v1", letters="PP")
    run_of(team, target="desk", fingerprint="v2", letters="PP")

    page = show(client_of_viewer, "target:shop version:v2 outcome:passed suite:desk origin:upload status:completed")

    assert listed(page) == [str(wanted.pk)]


def test_several_values_of_a_name_mean_any_of_them(client_of_viewer: Client, team: Team) -> None:
    runs = [run_of(team, target=name) for name in ("a", "b", "c")]

    found = listed(show(client_of_viewer, "target:a target:b"))

    assert set(found) == {str(run.pk) for run in runs[:2]}


def test_days_are_those_of_utc_with_both_ends(client_of_viewer: Client, team: Team) -> None:
    late = run_of(team, startedAt="2026-03-02T01:30:00+02:00", finishedAt="2026-03-02T01:31:00+02:00")
    run_of(team, startedAt="2026-03-02T00:00:00Z", finishedAt="2026-03-02T00:01:00Z")

    assert listed(show(client_of_viewer, "from:2026-03-01 to:2026-03-01")) == [str(late.pk)]
    assert len(listed(show(client_of_viewer, "from:0001-01-01 to:9999-12-31"))) == 2


def test_a_run_is_found_by_its_own_id_and_by_a_part_of_the_reports(client_of_viewer: Client, team: Team) -> None:
    run, _other = run_of(team, runId="nightly-4711"), run_of(team)

    assert listed(show(client_of_viewer, str(run.pk))) == [str(run.pk)]
    assert listed(show(client_of_viewer, "LY-47")) == [str(run.pk)]


def test_what_is_not_understood_is_answered_with_its_name(client_of_viewer: Client, team: Team) -> None:
    page = show(client_of_viewer, "status:gone", status=400)

    assert "status: is one of" in page
    assert "gone" in page


def test_a_cursor_that_is_none_is_said(client_of_viewer: Client, team: Team) -> None:
    response = client_of_viewer.get("/runs/", {"after": "nonsense~x"})

    assert response.status_code == 400
    assert "could not be read" in response.content.decode()


@pytest.mark.parametrize("query", ["\0", "\x1b[31m", "target:", "'; --", "%00", "a" * 10_000, '"'])
def test_strange_queries_are_answered(client_of_viewer: Client, team: Team, query: str) -> None:
    run_of(team)

    show(client_of_viewer, query)


def pages(client: Client) -> list[list[str]]:
    """Walk the list to its end and return the runs of each page."""
    found, href = [], "/runs/"
    while href:
        page = client.get(href).content.decode()
        found.append(listed(page))
        following = re.search(r'href="([^"]+)" rel="next"', page)
        href = following[1].replace("&amp;", "&") if following else ""
    return found


def test_paging_shows_each_run_once_although_all_began_at_once(client_of_viewer: Client, team: Team) -> None:
    runs = copies(team, 120, apart=timedelta(0))

    found = pages(client_of_viewer)

    assert [len(page) for page in found] == [50, 50, 20]
    assert {pk for page in found for pk in page} == {str(run.pk) for run in runs}


def test_a_new_run_moves_nothing_on_the_next_page(client_of_viewer: Client, team: Team) -> None:
    copies(team, 60)
    page = client_of_viewer.get("/runs/").content.decode()
    following = re.search(r'href="([^"]+)" rel="next"', page)
    assert following is not None
    href = following[1].replace("&amp;", "&")
    before = listed(client_of_viewer.get(href).content.decode())

    run_of(team, startedAt="2030-01-01T00:00:00Z", finishedAt="2030-01-01T00:00:01Z")

    assert listed(client_of_viewer.get(href).content.decode()) == before


def copies(team: Team, number: int, *, apart: timedelta = timedelta(minutes=1)) -> list[Run]:
    """Store runs that share the cases of none; each looks like the first."""
    first = run_of(team)
    began = datetime(2026, 3, 2, 9, 5, tzinfo=UTC)
    rows = [
        Run(
            team=team,
            version=first.version,
            revision=first.revision,
            status="completed",
            total=2,
            passed=1,
            failed=1,
            origin="upload",
            started_at=began - apart * place,
            finished_at=began - apart * place + timedelta(minutes=1),
            ordered_at=began - apart * place,
        )
        for place in range(1, number)
    ]
    return [first, *Run.objects.bulk_create(rows)]


def count_queries(client: Client) -> int:
    with CaptureQueriesContext(connection) as queries:
        show(client)
    return len(queries)


def test_the_list_costs_the_same_queries_for_one_run_and_for_forty(client_of_viewer: Client, team: Team) -> None:
    run_of(team)
    few = count_queries(client_of_viewer)

    copies(team, 40)

    assert count_queries(client_of_viewer) == few <= 7


def test_fifty_rows_stay_small_on_the_wire(client_of_viewer: Client, team: Team) -> None:
    for number in range(50):
        target, version = ("skyline.assistant", "flight-desk.http.agent")[number % 2], number // 2
        run_of(
            team,
            target=target,
            fingerprint=f"2026.{1 + version % 12:02}.{version}-rc{number % 3}",
            letters="P" * (20 + number * 7 % 13) + "F" * (number % 5) + "E" * (number % 3) + "SB"[: number % 3],
            startedAt=f"2026-{1 + version % 12:02}-{1 + version:02}T{number % 24:02}:{number:02}:00Z",
            finishedAt=f"2026-{1 + version % 12:02}-{2 + version:02}T{number % 24:02}:17:00Z",
        )

    page = show(client_of_viewer)

    assert len(listed(page)) == 50
    assert page.count('class="change-marks"') >= 40
    assert len(gzip.compress(page.encode(), 6)) <= 10_500


def test_runs_of_another_team_are_neither_listed_nor_counted_nor_offered(client_of_viewer: Client, team: Team) -> None:
    run_of(factories.make_team(), target="foreign.agent")

    page = show(client_of_viewer)

    assert "There are no runs yet" in page
    for name in ("target", "version", "suite"):
        assert "foreign" not in client_of_viewer.get(f"/runs/filters/{name}/").content.decode()


def test_signed_out_readers_are_sent_to_sign_in(client: Client, db: None) -> None:
    response = client.get("/runs/?q=a")

    assert response.status_code == 302
    assert response["Location"] == "/sign-in/?next=/runs/%3Fq%3Da"


def test_every_target_is_offered_however_many_there_are(client_of_viewer: Client, team: Team) -> None:
    for number in range(60):
        run_of(team, target=f"target-{number}", fingerprint=f"v{number}")

    menu = client_of_viewer.get("/runs/filters/target/").content.decode()

    assert all(f">target-{number}<" in menu.replace("<bdi>", "").replace("</bdi>", "<") for number in range(60))


def test_an_unknown_filter_has_no_menu(client_of_viewer: Client, team: Team) -> None:
    assert client_of_viewer.get("/runs/filters/colour/").status_code == 404


def test_two_chosen_runs_are_compared_the_older_one_as_baseline(client_of_viewer: Client, team: Team) -> None:
    old = run_of(team, startedAt="2026-03-01T00:00:00Z", finishedAt="2026-03-01T00:01:00Z")
    new = run_of(team)

    response = client_of_viewer.get("/runs/compare/", {"run": [str(new.pk), str(old.pk)]})

    assert response["Location"] == f"/compare/?baseline={old.pk}&candidate={new.pk}"


def test_one_run_is_compared_with_the_baseline_of_the_tray(client_of_viewer: Client, team: Team) -> None:
    baseline, candidate = run_of(team), run_of(team)
    client_of_viewer.post("/settings/tray/", {"side": f"run:{baseline.pk}"})

    response = client_of_viewer.get("/runs/compare/", {"run": str(candidate.pk)})

    assert response["Location"] == f"/compare/?baseline={baseline.pk}&candidate={candidate.pk}"


@pytest.mark.parametrize("number", [0, 1, 3])
def test_any_other_number_is_answered_with_what_to_do(client_of_viewer: Client, team: Team, number: int) -> None:
    runs = [str(run_of(team).pk) for _ in range(number)]

    response = client_of_viewer.get("/runs/compare/", {"run": runs})

    assert response.status_code == 400
    assert "choose exactly two" in response.content.decode()


def test_an_imported_report_that_says_running_is_unfinished(client_of_viewer: Client, team: Team) -> None:
    stored(team, {key: value for key, value in report("PN", status="running").items() if key != "finishedAt"})

    page = show(client_of_viewer)

    assert "unfinished" in page
    assert "1 running" not in page


def test_hostile_names_stay_text(client_of_viewer: Client, team: Team) -> None:
    run_of(team, target="<script>alert(1)</script>", fingerprint='"><img src=x onerror=alert(1)>\u202e')

    page = show(client_of_viewer)

    assert "<script>alert" not in page
    assert "<img" not in page
    assert "\u202e" not in page


def test_a_row_shows_what_changed_against_its_baseline(client_of_viewer: Client, team: Team) -> None:
    old = run_of(team, fingerprint="v1", letters="PP", startedAt="2026-03-01T00:00:00Z")
    new = run_of(team, fingerprint="v2", letters="PF")

    page = show(client_of_viewer)

    assert f'href="/compare/?baseline={old.pk}&amp;candidate={new.pk}"' in page
    assert 'aria-label="Inconclusive: 1 unstable against its baseline, the newest earlier version"' in page


def test_days_counted_back_from_today_are_offered(client_of_viewer: Client, team: Team) -> None:
    run_of(team)
    week_ago = datetime.now(UTC).date() - timedelta(days=7)

    page = show(client_of_viewer)

    assert f'href="/runs/?q=from%3A{week_ago}"' in page
