"""Reading runs, cases and reports over the API."""

import json
import uuid
from typing import Any

import pytest
from django.test import Client

from reports.models import Run, Team
from tests import factories
from tests.api.conftest import Speaker
from tests.factories import case, report, stored


def get(client: Client, path: str, code: int = 200, /, **query: Any) -> Any:
    response = client.get(f"/api/v1{path}", query)
    assert response.status_code == code, response.content
    return response.json()


def all_pages(client: Client, path: str, **query: Any) -> list[Any]:
    page = get(client, path, **query)
    items: list[Any] = page["items"]
    while page["nextCursor"] is not None:
        page = get(client, path, **query, cursor=page["nextCursor"])
        items += page["items"]
    return items


def test_a_run_is_given_with_every_count_also_those_of_zero(reader: Client, team: Team) -> None:
    run = stored(team, report("PPFFFSSSSS"))

    body = get(reader, f"/runs/{run.pk}")

    assert body["counts"] == {
        "total": 10,
        "pending": 0,
        "running": 0,
        "passed": 2,
        "failed": 3,
        "error": 0,
        "cancelled": 0,
        "skipped": 5,
        "blocked": 0,
    }
    assert body["passRate"] == {"passed": 2, "decided": 5, "undecided": 5, "rate": 0.4}
    assert body["target"] == {"id": "desk.agent", "fingerprint": "v1", "label": ""}
    assert (body["startedAt"], body["resumedFrom"]) == ("2026-03-02T09:05:00.000Z", None)


def test_runs_come_newest_first_and_page_by_page_each_once(reader: Client, team: Team) -> None:
    moments = [f"2026-03-{day:02d}T09:05:00Z" for day in (1, 5, 5, 5, 3, 9, 2)]
    for moment in moments:
        stored(team, report("P", startedAt=moment))

    rows = all_pages(reader, "/runs", limit=2)

    assert [row["startedAt"] for row in rows] == sorted(moments, reverse=True)
    assert len({row["id"] for row in rows}) == len(moments)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"target": "a"}, {"a1", "a2"}),
        ({"target": ["a", "b"]}, {"a1", "a2", "b1"}),
        ({"version": "2"}, {"a2"}),
        ({"suite": "desk"}, {"a1", "a2", "b1"}),
        ({"suite": "des"}, set()),
        ({"status": "limited"}, {"b1"}),
        ({"outcome": "passed"}, {"a1"}),
        ({"outcome": "not-passed"}, {"a2"}),
        ({"origin": "api"}, set()),
        ({"since": "2026-03-03"}, {"a2", "b1"}),
        ({"until": "2026-03-03"}, {"a1", "a2"}),
        ({"q": "target:a status:completed 2"}, {"a2"}),
        ({"target": "a\x00"}, set()),
    ],
)
def test_filters_narrow_the_list(reader: Client, team: Team, query: dict[str, Any], found: set[str]) -> None:
    for name, letters, target, fingerprint, day, status in (
        ("a1", "P", "a", "1", 1, "completed"),
        ("a2", "F", "a", "2", 3, "completed"),
        ("b1", "PN", "b", "1", 5, "limited"),
    ):
        aim = {"id": target, "fingerprint": fingerprint}
        stored(team, report(letters, runId=name, target=aim, startedAt=f"2026-03-{day:02d}T00:00:00Z", status=status))

    assert {row["runId"] for row in get(reader, "/runs", **query)["items"]} == found


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ({"stauts": "running"}, "query.stauts"),
        ({"limit": 0}, "query.limit"),
        ({"limit": 201}, "query.limit"),
        ({"limit": "many"}, "query.limit"),
        ({"status": "done"}, "query.status.0"),
        ({"since": "yesterday"}, "query.since"),
        ({"cursor": "nonsense"}, "query.cursor"),
        ({"q": "status:done"}, "query.q"),
        ({"target": ["x"] * 50}, "query"),
    ],
)
def test_parameters_that_do_not_fit_are_named(reader: Client, query: dict[str, Any], path: str) -> None:
    assert path in get(reader, "/runs", 422, **query)["paths"]


def test_cases_come_in_order_page_by_page(reader: Client, team: Team) -> None:
    run = stored(team, report("PFESNBC"))

    rows = all_pages(reader, f"/runs/{run.pk}/cases", limit=3)

    assert [row["position"] for row in rows] == list(range(7))
    assert [row["status"] for row in rows] == [
        "passed",
        "failed",
        "error",
        "skipped",
        "pending",
        "blocked",
        "cancelled",
    ]
    assert rows[1]["failing"] and rows[1]["signature"]
    assert (rows[0]["failing"], rows[0]["errorCode"], rows[0]["turns"]) == (None, None, 1)


@pytest.mark.parametrize(
    ("query", "positions"),
    [
        ({"status": "failed"}, [1]),
        ({"status": ["failed", "error"]}, [1, 2]),
        ({"scenario": "a_b"}, [0]),
        ({"text": "a_b"}, [0]),
        ({"text": "50%"}, [3]),
        ({"text": "a"}, [0, 1, 2, 3]),
        ({"scenario": "a"}, []),
    ],
)
def test_cases_are_filtered_literally(reader: Client, team: Team, query: dict[str, Any], positions: list[int]) -> None:
    made = [
        case("passed", scenario_id="a_b"),
        case("failed", scenario_id="axb"),
        case("error", scenario_id="a%b"),
        case("passed", scenario_id="50%a"),
    ]
    run = stored(team, report(cases=made, suite=factories.suite()))

    assert [row["position"] for row in get(reader, f"/runs/{run.pk}/cases", **query)["items"]] == positions


def test_a_case_is_given_whole(reader: Client, team: Team) -> None:
    value = report("PF")
    run = stored(team, value)

    body = get(reader, f"/runs/{run.pk}/cases/1")

    assert body["case"] == value["cases"][1]
    assert body["url"].endswith(f"/runs/{run.pk}/cases/1/")
    assert get(reader, f"/runs/{run.pk}/cases/2", 404)["code"] == "not_found"


def test_the_report_is_streamed(reader: Client, team: Team) -> None:
    value = report("PF")
    run = stored(team, value)

    response = reader.get(f"/api/v1/runs/{run.pk}/report")

    assert json.loads(response.getvalue()) == value
    assert response["Content-Type"] == "application/json"


def test_a_run_without_a_report_is_answered_409_with_the_reason(reader: Client, team: Team) -> None:
    run = stored(team, report("P"))
    Run.objects.update(status="queued", head=b"")

    problem = get(reader, f"/runs/{run.pk}/report", 409)

    assert (problem["code"], "queued" in problem["detail"]) == ("no_report", True)


@pytest.mark.parametrize("path", ["", "/cases", "/cases/0", "/report"])
def test_another_teams_run_is_answered_like_none(reader: Client, team: Team, path: str) -> None:
    foreign = stored(factories.make_team(), report("P"))

    problem = get(reader, f"/runs/{foreign.pk}{path}", 404)

    assert problem == get(reader, f"/runs/{uuid.uuid4()}{path}", 404)
    assert get(reader, "/runs")["items"] == []


def test_an_unknown_address_is_a_problem_too(reader: Client) -> None:
    assert get(reader, "/nothing", 404)["code"] == "not_found"
    assert get(reader, "/runs/not-a-uuid", 422)["paths"] == ["path.run"]


def test_lists_cost_the_same_queries_for_few_and_many(
    speaker: Speaker, team: Team, django_assert_num_queries: Any
) -> None:
    client = speaker("read", "viewer")
    run = stored(team, report("P"))
    get(client, "/runs")

    with django_assert_num_queries(3):
        get(client, "/runs")
    for _ in range(5):
        stored(team, report("PF"))
    with django_assert_num_queries(3):
        get(client, "/runs")
    with django_assert_num_queries(4):
        get(client, f"/runs/{run.pk}/cases")
