"""Clients that carry a bearer token, one for each scope; whatever they are answered must be declared."""

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import pytest
from django.test import Client
from django.urls import Resolver404, resolve

from reports.api import api
from reports.models import Membership, Team
from reports.services.tokens import create_token
from tests.factories import make_member

Speaker = Callable[..., Client]


@pytest.fixture
def speaker(team: Team) -> Speaker:
    """Return a maker of clients that speak for a new member with a role through a token with a scope."""

    def made(scope: str = "write", role: str = "runner", **options: Any) -> Client:
        member = make_member(team, "admin")
        token = create_token(team=team, maker=member, scope=scope, name="test")
        Membership.objects.filter(user=member).update(role=role)  # a token keeps its scope when its maker's role falls
        return Client(headers={"Authorization": f"Bearer {token}"}, **options)

    return made


@pytest.fixture
def reader(speaker: Speaker) -> Client:
    return speaker("read", "viewer")


@pytest.fixture
def writer(speaker: Speaker) -> Client:
    return speaker("write", "runner")


@cache
def _declared() -> Mapping[str, Any]:
    paths: Mapping[str, Any] = api.get_openapi_schema()["paths"]
    return paths


def _is_declared(response: Any) -> bool:
    asked = response.wsgi_request
    try:
        route = resolve(asked.path_info).route
    except Resolver404:
        return True
    path = "/" + re.sub(r"<(?:[^<>:]+:)?([^<>]+)>", r"{\1}", route)
    operation = _declared().get(path, {}).get(asked.method.lower())
    return operation is None or response.status_code in map(int, operation["responses"])


@pytest.fixture(autouse=True)
def only_declared_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a test of the API fail where an answer has a status that the description does not name."""
    plain = Client.request

    def request(self: Client, **environ: Any) -> Any:
        response = plain(self, **environ)
        asked = response.wsgi_request
        assert _is_declared(response), f"{asked.method} {asked.path_info}: {response.status_code} is not declared"
        return response

    monkeypatch.setattr(Client, "request", request)
