"""What every test of the site may use: one team with a member of each role, and signed-in clients."""

import pytest
from django.test import Client

from reports.models import Team, User
from tests import factories


@pytest.fixture
def team(db: None) -> Team:
    return factories.make_team()


@pytest.fixture
def runner(team: Team) -> User:
    """A member who may import, start and cancel."""
    return factories.make_member(team, "runner")


@pytest.fixture
def viewer(team: Team) -> User:
    return factories.make_member(team, "viewer")


@pytest.fixture
def client_of_runner(runner: User) -> Client:
    client = Client()
    client.force_login(runner)
    return client


@pytest.fixture
def client_of_viewer(viewer: User) -> Client:
    client = Client()
    client.force_login(viewer)
    return client
