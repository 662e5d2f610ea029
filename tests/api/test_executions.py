"""Starting and cancelling runs over the API."""

import json
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from reports.models import Execution, Run, RunEvent, Team, User
from reports.services.tokens import create_token
from tests import factories

pytestmark = pytest.mark.django_db

RUNS = "/api/v1/runs"
TUTORIAL = {"target": "tutorial.catalogue", "fingerprint": "wrong-selection"}


@pytest.fixture
def bearer(runner: User, team: Team) -> dict[str, str]:
    return {"Authorization": f"Bearer {create_token(team=team, maker=runner, name='ci', scope='write')}"}


def start(client: Client, bearer: dict[str, str], body: dict[str, Any], **headers: str) -> Any:
    return client.post(RUNS, json.dumps(body), content_type="application/json", headers=bearer | headers)


def test_a_started_run_is_queued_and_answered_with_its_addresses(client: Client, bearer: dict[str, str]) -> None:
    answer = start(client, bearer, TUTORIAL | {"repetitions": 2, "scenarios": ["choose-product"]})

    run = Run.objects.get()
    assert answer.status_code == 201
    assert answer.json()["id"] == str(run.pk) and answer.json()["status"] == "queued"
    assert (run.origin, run.version.fingerprint, run.execution.request["planned_cases"]) == (
        "api",
        "wrong-selection",
        4,
    )


def test_a_run_can_be_asked_for_in_shards(client: Client, bearer: dict[str, str]) -> None:
    answer = start(client, bearer, TUTORIAL | {"shards": 4, "concurrency": 2})

    assert answer.status_code == 201
    request = client.get(f"{RUNS}/{answer.json()['id']}/execution", headers=bearer).json()["request"]
    assert (request["shards"], request["concurrency"]) == (4, 2)


def test_a_repeated_request_with_its_key_is_one_run(client: Client, bearer: dict[str, str]) -> None:
    first = start(client, bearer, TUTORIAL, **{"Idempotency-Key": "build-7"})
    again = start(client, bearer, TUTORIAL, **{"Idempotency-Key": "build-7"})
    other = start(client, bearer, TUTORIAL | {"repetitions": 3}, **{"Idempotency-Key": "build-7"})

    assert (first.status_code, again.status_code, other.status_code) == (201, 200, 409)
    assert first.json()["id"] == again.json()["id"]
    assert other.json()["code"] == "idempotency_key_reused"
    assert Execution.objects.count() == 1


def test_a_key_belongs_to_who_asks(client: Client, bearer: dict[str, str], runner: User, team: Team) -> None:
    other = factories.make_member(team, "runner")
    theirs = {"Authorization": f"Bearer {create_token(team=team, maker=other, name='x', scope='write')}"}
    second = {"Authorization": f"Bearer {create_token(team=team, maker=runner, name='y', scope='write')}"}
    key = {"Idempotency-Key": "build-7"}

    first = start(client, bearer, TUTORIAL, **key)
    of_other = start(client, theirs, TUTORIAL | {"repetitions": 3}, **key)
    of_same_maker = start(client, second, TUTORIAL, **key)

    assert (first.status_code, of_other.status_code, of_same_maker.status_code) == (201, 201, 200)
    assert of_same_maker.json()["id"] == first.json()["id"] != of_other.json()["id"]


def test_the_description_says_to_whom_a_key_belongs(client_of_viewer: Client) -> None:
    described = client_of_viewer.get("/api/v1/openapi.json").json()["paths"]["/api/v1/runs"]["post"]

    assert "A key belongs to who asks" in described["description"]


@pytest.mark.parametrize(
    ("members", "code", "path"),
    [
        ({"repetitions": 0}, "EVALUATION_OPTIONS_INVALID", "repetitions"),
        ({"timeoutMs": 3_600_001}, "EVALUATION_OPTIONS_INVALID", "timeoutMs"),
        ({"shards": 65}, "EVALUATION_OPTIONS_INVALID", "shards"),
        ({"maxCases": 3}, "EVALUATION_CASE_LIMIT", "maxCases"),
        ({"scenarios": ["nowhere"]}, "EVALUATION_SCENARIO_NOT_FOUND", "scenarios"),
        ({"scenarios": []}, "EVALUATION_SELECTION_EMPTY", "scenarios"),
        ({"target": "elsewhere"}, "TARGET_UNKNOWN", "target"),
        ({"fingerprint": "third"}, "TARGET_UNUSABLE", "fingerprint"),
        ({"suite": "revision:99"}, "EVALUATION_SUITE_INVALID", "suite"),
        ({"suite": {"id": "x"}}, "EVALUATION_SUITE_INVALID", "suite.schemaVersion"),
        ({"surprise": 1}, "parameters_invalid", "body.surprise"),
        ({"repetitions": "2"}, "parameters_invalid", "body.repetitions"),
    ],
)
def test_what_cannot_run_is_refused_with_code_and_paths(
    client: Client, bearer: dict[str, str], members: dict[str, Any], code: str, path: str
) -> None:
    answer = start(client, bearer, TUTORIAL | members)

    assert answer.status_code == 422
    assert answer.json()["code"] == code
    assert path in answer.json()["paths"]
    assert not Run.objects.exists()


@pytest.mark.parametrize(
    ("members", "code", "paths"),
    [
        ({"maxCases": 0}, "EVALUATION_OPTIONS_INVALID", ["maxCases"]),
        ({"maxCases": 100_001}, "EVALUATION_OPTIONS_INVALID", ["maxCases"]),
        ({"repetitions": 101}, "EVALUATION_OPTIONS_INVALID", ["repetitions"]),
        ({"repetitions": 0, "maxCases": 0}, "EVALUATION_OPTIONS_INVALID", ["repetitions", "maxCases"]),
        ({"maxFailures": 0}, "EVALUATION_OPTIONS_INVALID", ["maxFailures"]),
        ({"tags": []}, "EVALUATION_SELECTION_EMPTY", ["tags"]),
        ({"tags": ["nowhere"]}, "EVALUATION_SELECTION_EMPTY", ["tags"]),
        ({"scenarios": [], "tags": ["catalogue"]}, "EVALUATION_SELECTION_EMPTY", ["scenarios"]),
        ({"scenarios": ["availability"], "tags": []}, "EVALUATION_SELECTION_EMPTY", ["tags"]),
        ({"scenarios": ["availability"], "tags": ["nowhere"]}, "EVALUATION_SELECTION_EMPTY", ["scenarios"]),
        ({"scenarioFile": "{}"}, "EVALUATION_SUITE_INVALID", ["scenarioFile"]),
        ({"scenarioFile": "\ud83d"}, "parameters_invalid", ["body.scenarioFile"]),
        ({"harness": {"profile": "fast"}}, "EVALUATION_OPTIONS_INVALID", ["harness"]),
        ({"tags": ["x" * 501]}, "parameters_invalid", ["body.tags.0"]),
        ({"tags": [7]}, "parameters_invalid", ["body.tags.0"]),
        ({"suite": 7}, "parameters_invalid", ["body.suite.constrained-str", "body.suite.dict[str,any]"]),
    ],
)
def test_a_refusal_names_what_is_at_fault_and_nothing_else(
    client: Client, bearer: dict[str, str], members: dict[str, Any], code: str, paths: list[str]
) -> None:
    answer = start(client, bearer, TUTORIAL | members)

    assert (answer.status_code, answer.json()["code"]) == (422, code)
    assert answer.json()["paths"] == paths


def test_a_key_that_is_too_long_is_named(client: Client, bearer: dict[str, str]) -> None:
    longest = start(client, bearer, TUTORIAL, **{"Idempotency-Key": "k" * 200})
    beyond = start(client, bearer, TUTORIAL, **{"Idempotency-Key": "k" * 201})

    assert (longest.status_code, beyond.status_code) == (201, 422)
    assert beyond.json()["paths"] == ["header.Idempotency-Key"]


def test_a_tag_that_no_utf_8_can_hold_can_be_asked_for(client: Client, bearer: dict[str, str], team: Team) -> None:
    """JSON can hold half of a surrogate pair, suites may, and so may what chooses from them."""
    odd = "half \ud83d"
    scenarios = [factories.scenario("odd", tags=[odd]), factories.scenario("plain")]
    body = TUTORIAL | {"suite": factories.suite(scenarios=scenarios), "tags": [odd]}

    answer = start(client, bearer, body, **{"Idempotency-Key": "odd"})
    again = start(client, bearer, body, **{"Idempotency-Key": "odd"})

    assert (answer.status_code, again.status_code) == (201, 200)
    execution = client.get(f"{RUNS}/{answer.json()['id']}/execution", headers=bearer).json()
    assert (execution["plannedCases"], execution["request"]["tags"]) == (1, [odd])


def test_a_definition_can_stand_in_the_request(client: Client, bearer: dict[str, str], team: Team) -> None:
    answer = start(client, bearer, TUTORIAL | {"suite": factories.suite("one", "two")})

    assert answer.status_code == 201
    assert Run.objects.get().revision.suite.suite_id == "desk"


def test_a_token_never_authorises_external_writes(client: Client, bearer: dict[str, str]) -> None:
    answer = start(client, bearer, TUTORIAL | {"allowExternalWrites": True})

    assert (answer.status_code, answer.json()["code"]) == (403, "admin_needed")


def test_a_viewer_may_not_start_runs(client_of_viewer: Client) -> None:
    assert start(client_of_viewer, {}, TUTORIAL).status_code == 403


def test_a_waiting_run_is_cancelled_at_once_and_only_once(client: Client, bearer: dict[str, str]) -> None:
    address = f"{RUNS}/{start(client, bearer, TUTORIAL).json()['id']}/cancel"

    first = client.post(address, headers=bearer)
    again = client.post(address, headers=bearer)

    assert (first.status_code, first.json()) == (202, {"outcome": "cancelled"})
    assert (again.status_code, again.json()["code"]) == (409, "not_cancellable")


def test_a_run_of_another_team_is_not_there(client: Client, bearer: dict[str, str]) -> None:
    pk = start(client, bearer, TUTORIAL).json()["id"]
    team = factories.make_team()
    stranger = create_token(team=team, maker=factories.make_member(team, "runner"), name="x", scope="write")

    answer = client.post(f"{RUNS}/{pk}/cancel", headers={"Authorization": f"Bearer {stranger}"})

    assert answer.status_code == 404


def test_the_execution_says_what_was_asked_and_what_became_of_it(
    client: Client, bearer: dict[str, str], team: Team
) -> None:
    pk = start(client, bearer, TUTORIAL | {"repetitions": 2, "tags": ["catalogue"]}).json()["id"]
    Execution.objects.filter(pk=pk).update(error_code="EVALUATOR_NOT_FOUND", error_paths=["own.check"])
    RunEvent.objects.create(run_id=pk, sequence=1, type="run.started", at=timezone.now())

    body = client.get(f"{RUNS}/{pk}/execution?limit=10", headers=bearer).json()

    assert (body["target"], body["plannedCases"], body["request"]["tags"]) == ("tutorial.catalogue", 8, ["catalogue"])
    assert (body["errorCode"], body["errorPaths"], body["lastEvent"]) == ("EVALUATOR_NOT_FOUND", ["own.check"], 1)
    assert [event["type"] for event in body["events"]] == ["run.started"]


def test_an_imported_run_has_no_execution(client: Client, bearer: dict[str, str], team: Team) -> None:
    run = factories.stored(team, factories.report("P"))

    assert client.get(f"{RUNS}/{run.pk}/execution", headers=bearer).status_code == 404
