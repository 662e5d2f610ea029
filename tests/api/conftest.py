"""Clients that carry a bearer token, one for each scope."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from reports.models import Team
from reports.services.tokens import create_token
from tests.factories import make_member

Speaker = Callable[..., Client]


@pytest.fixture
def speaker(team: Team) -> Speaker:
    """Return a maker of clients that speak for a new member with a role through a token with a scope."""

    def made(scope: str = "write", role: str = "runner", **options: Any) -> Client:
        token = create_token(team=team, maker=make_member(team, role), scope=scope, name="test")
        return Client(headers={"Authorization": f"Bearer {token}"}, **options)

    return made


@pytest.fixture
def reader(speaker: Speaker) -> Client:
    return speaker("read", "viewer")


@pytest.fixture
def writer(speaker: Speaker) -> Client:
    return speaker("write", "runner")
