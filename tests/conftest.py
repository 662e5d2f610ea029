"""What every test of the site may use: one team with a member of each role, and signed-in clients."""

from collections.abc import Sequence

import pytest
from django.db import connections
from django.db.backends.postgresql.operations import DatabaseOperations as PostgresOperations
from django.test import Client

from reports.models import Team, User
from tests import factories


def _emptied(
    self: PostgresOperations,
    style: object,
    tables: Sequence[str],
    *,
    reset_sequences: bool = False,
    allow_cascade: bool = False,
) -> list[str]:
    """Empty tables by DELETE: their constraints are deferred, and TRUNCATE waits for the disk at each of fifty."""
    return [f"DELETE FROM {self.quote_name(table)};" for table in tables]


PostgresOperations.sql_flush = _emptied  # type: ignore[method-assign,assignment]


@pytest.fixture(scope="session")
def django_db_modify_db_settings(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Let SQLite use a file: other threads and processes (workers, live servers) share a real database then."""
    default = connections["default"]
    if default.vendor == "sqlite":
        default.settings_dict["TEST"]["NAME"] = str(tmp_path_factory.mktemp("database") / "test.sqlite3")


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
