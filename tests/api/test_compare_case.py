"""The side by side over the API."""

from typing import Any

import pytest
from django.test import Client

from reports.models import Run, ScenarioVariant, Team
from tests.factories import case, make_team, report, suite, turn
from tests.factories import stored as store

pytestmark = pytest.mark.django_db


def talk(team: Team, fingerprint: str, *observations: dict[str, Any], holds: bool = True) -> Run:
    judged = [{"id": "both", "passed": holds, "children": [{"id": "one", "passed": holds}]}]
    turns = [
        turn(step_id=f"s{number}", observation=observation, assertions=judged)
        for number, observation in enumerate(observations, start=1)
    ]
    made = case("passed", scenario_id="talk", turns=turns)
    return store(team, report(cases=[made], target={"id": "desk", "fingerprint": fingerprint}, suite=suite("talk")))


def beside(client: Client, before: Run, after: Run, **members: Any) -> Any:
    variant = ScenarioVariant.objects.get(team=before.team, scenario_id="talk").key
    sides = {"baseline": str(before.pk), "candidate": str(after.pk), "variant": variant}
    return client.get("/api/v1/compare/case", sides | members)


def test_it_says_where_the_conversations_part_and_opens_there(
    reader: Client, team: Team, client_of_viewer: Client
) -> None:
    before = talk(team, "v1", {"text": "a"}, {"text": "b", "gone": 1, "traceId": 1})
    after = talk(team, "v2", {"text": "a"}, {"text": "x", "traceId": 2}, holds=False)

    found = beside(reader, before, after).json()

    assert found["firstDifference"] == "turn-1"
    assert [(each["anchor"], each["mark"]) for each in found["turns"]] == [("turn-1", "flipped"), ("turn-2", "flipped")]
    second = found["pairs"][1]
    assert [(each["path"], each["kind"], each["anchor"]) for each in second["paths"]] == [
        ("text", "changed", "turn-2:text"),
        ("gone", "removed", "turn-left-2:gone"),
    ]
    assert second["mayFollow"]
    (criterion,) = second["criteria"]
    assert (criterion["anchor"], criterion["baseline"], criterion["candidate"]) == ("turn-2/both", "passed", "failed")
    assert criterion["children"][0]["anchor"] == "turn-2/both/one"
    for url in (found["url"], second["url"], found["turns"][0]["url"], found["baseline"]["url"]):
        address, _, anchor = url.removeprefix("http://testserver").partition("#")
        page = client_of_viewer.get(address)
        assert page.status_code == 200
        assert f'id="{anchor}"' in page.content.decode() or not anchor


def test_identical_conversations_are_said_to_be(reader: Client, team: Team) -> None:
    runs = talk(team, "v1", {"text": "a"}), talk(team, "v2", {"text": "a"})

    found = beside(reader, *runs).json()

    assert (found["isIdentical"], found["firstDifference"], found["pairs"]) == (True, None, [])


def test_an_asked_path_is_among_the_paths(reader: Client, team: Team) -> None:
    runs = talk(team, "v1", {"text": "a", "traceId": 1}), talk(team, "v2", {"text": "a", "traceId": 2})

    found = beside(reader, *runs, turn="1", path="traceId").json()

    (path,) = found["pairs"][0]["paths"]
    assert (path["kind"], path["baseline"], path["candidate"]) == ("left out", "1", "2")


@pytest.mark.parametrize(
    ("members", "status", "code"),
    [
        ({"path": "a"}, 422, "parameters_invalid"),
        ({"turn": "1", "path": "a["}, 422, "parameters_invalid"),
        ({"turn": "x"}, 422, "parameters_invalid"),
        ({"tun": "1"}, 422, "parameters_invalid"),
        ({"variant": "0" * 32}, 404, "not_found"),
        ({"b": "7"}, 404, "not_found"),
        ({"c": "7"}, 404, "not_found"),
        ({"turn": "77"}, 404, "not_found"),
    ],
)
def test_what_cannot_be_asked_is_refused(
    reader: Client, team: Team, members: dict[str, str], status: int, code: str
) -> None:
    before, after = talk(team, "v1", {"text": "a"}), talk(team, "v2", {"text": "b"})

    answer = beside(reader, before, after, **members)

    assert (answer.status_code, answer.json().get("code")) == (status, code)


def test_another_teams_run_does_not_exist(reader: Client, team: Team) -> None:
    ours, theirs = talk(team, "v1", {"text": "a"}), talk(make_team(), "v1", {"text": "a"})

    assert beside(reader, ours, theirs).status_code == 404
