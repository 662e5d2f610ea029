"""Who may call the API."""

import json

import pytest
from django.test import Client
from django.utils import timezone

from reports.models import ApiToken, Membership, Run, Team
from tests.api.conftest import Speaker
from tests.factories import make_member, report

IMPORT = "/api/v1/runs/import"


def body() -> str:
    return json.dumps(report("P"))


def test_nobody_is_answered_401_as_a_problem() -> None:
    response = Client().get("/api/v1/runs")

    assert response.status_code == 401
    assert response["WWW-Authenticate"].startswith("Bearer")
    assert response.json()["code"] == "not_signed_in"


@pytest.mark.django_db
@pytest.mark.parametrize("header", ["Bearer wrong", "Bearer ", "Basic abc", "Bearer \ud83d"])
def test_wrong_tokens_are_answered_401(header: str) -> None:
    response = Client(headers={"Authorization": header}).get("/api/v1/runs")

    assert response.status_code == 401


@pytest.mark.parametrize(
    ("scope", "role", "may_read", "may_write"),
    [
        ("read", "viewer", 200, 403),
        ("read", "admin", 200, 403),
        ("write", "runner", 200, 201),
        ("write", "viewer", 200, 403),
        ("triage", "triager", 200, 201),
    ],
)
def test_a_token_may_what_both_its_scope_and_its_maker_may(
    speaker: Speaker, scope: str, role: str, may_read: int, may_write: int
) -> None:
    client = speaker(scope, role)

    assert client.get("/api/v1/runs").status_code == may_read
    assert client.post(IMPORT, body(), content_type="application/json").status_code == may_write
    assert Run.objects.count() == (may_write == 201)


def test_a_token_ends_with_its_makers_membership(writer: Client) -> None:
    Membership.objects.all().delete()

    assert writer.get("/api/v1/runs").status_code == 401


def test_a_revoked_token_is_unknown(writer: Client, team: Team) -> None:
    ApiToken.objects.update(revoked_at=timezone.now())

    assert writer.get("/api/v1/runs").status_code == 401


def test_the_use_of_a_token_is_noted(writer: Client) -> None:
    writer.get("/api/v1/runs")

    assert ApiToken.objects.get().last_used_at is not None


def test_a_signed_in_browser_reads_without_and_writes_only_with_a_csrf_token(team: Team) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(make_member(team, "runner"))

    assert client.get("/api/v1/runs").status_code == 200
    refused = client.post(IMPORT, body(), content_type="application/json")
    assert (refused.status_code, refused.json()["code"]) == (403, "csrf_failed")

    client.get("/runs/import/")
    token = client.cookies["csrftoken"].value
    taken = client.post(IMPORT, body(), content_type="application/json", headers={"X-CSRFToken": token})
    assert taken.status_code == 201


def test_a_signed_in_viewer_may_not_import(client_of_viewer: Client) -> None:
    response = client_of_viewer.post(IMPORT, body(), content_type="application/json")

    assert (response.status_code, response.json()["code"]) == (403, "role_too_small")
