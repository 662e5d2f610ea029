"""Ignore rules over the API: for a browser that is signed in, with a CSRF token where something changes."""

import json
from typing import Any

import pytest
from django.test import Client
from evalrunner.compare import DEFAULT_IGNORED

from reports.models import AuditEntry, Team
from tests.api.conftest import Speaker
from tests.factories import case, make_member, make_team, report, turn
from tests.factories import stored as store

pytestmark = pytest.mark.django_db
ADDRESS = "/api/v1/ignore-rules"


def signed_in(team: Team, role: str) -> Client:
    client = Client()
    client.force_login(make_member(team, role))
    return client


def put(client: Client, *rules: Any) -> Any:
    return client.put(ADDRESS, {"rules": list(rules)}, content_type="application/json")


def test_rules_are_read_kept_and_kept_in_the_audit_trail(team: Team) -> None:
    client = signed_in(team, "admin")
    assert client.get(ADDRESS).json() == {"rules": sorted(DEFAULT_IGNORED), "isUsual": True}

    answer = put(client, "traceId", "events[*].at", "traceId")

    assert answer.json() == {"rules": ["events[*].at", "traceId"], "isUsual": False}
    assert signed_in(team, "viewer").get(ADDRESS).json() == answer.json()
    assert AuditEntry.objects.get().action == "ignore_rules.changed"
    assert put(client, *DEFAULT_IGNORED).json()["isUsual"]


def test_every_rule_that_cannot_be_read_is_named(team: Team) -> None:
    refused = put(signed_in(team, "admin"), "fine", "events[0]", "a..b").json()

    assert (refused["status"], refused["code"]) == (422, "ignore_rules_invalid")
    assert refused["paths"] == ["rules.1", "rules.2"]
    assert refused["faults"][1]["sentence"] == "Rule 3, “a..b”, character 3: a member name is missing."
    team.refresh_from_db()
    assert team.ignored is None


@pytest.mark.parametrize(
    "rules", [["x" * 201], ["a\0"], ["a\ud83d"], [1], "a", [""]], ids=["long", "nul", "half", "number", "text", "empty"]
)
def test_what_is_no_list_of_rules_is_refused(team: Team, rules: Any) -> None:
    body = json.dumps({"rules": rules})

    answer = signed_in(team, "admin").put(ADDRESS, body, content_type="application/json")

    assert answer.status_code == 422


def test_a_preview_says_what_rules_hide_and_keeps_nothing(team: Team) -> None:
    observation = {"response": {"message": "Hi", "meta": {"traceId": "t1", "\ud83d": "half"}}}
    store(team, report(cases=[case(turns=[turn(observation=observation)])]))
    store(make_team(), report(cases=[case(turns=[turn(observation={"secret": 1})])]))
    client = signed_in(team, "admin")
    body = {"rules": ["response.**.traceId", '"\\ud83d"', "secret"]}

    found = client.post(f"{ADDRESS}/preview", body, content_type="application/json").json()

    shown = [(each["rule"], each["number"], each["examples"][0]["path"]) for each in found["hidden"]]
    assert shown == [
        ('"\\ud83d"', 1, 'response.meta["\\ud83d"]'),
        ("response.**.traceId", 1, "response.meta.traceId"),
    ]
    assert found["absent"] == ["secret"]
    assert client.get(found["hidden"][0]["examples"][0]["href"]).status_code == 200
    team.refresh_from_db()
    assert team.ignored is None
    assert client.post(f"{ADDRESS}/preview", {"rules": ["a["]}, content_type="application/json").status_code == 422


def test_only_an_admin_changes_them(team: Team) -> None:
    assert put(signed_in(team, "triager"), "a").status_code == 403
    assert put(Client(), "a").status_code == 401


def test_a_token_neither_reads_nor_changes_them(speaker: Speaker) -> None:
    client = speaker("triage", "admin")

    assert client.get(ADDRESS).status_code == 401
    assert put(client, "a").status_code == 401


def test_a_change_needs_the_csrf_token(team: Team) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(make_member(team, "admin"))

    assert put(client, "a").json()["code"] == "csrf_failed"
