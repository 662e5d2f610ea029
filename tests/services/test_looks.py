"""A comparison of versions remembers its first look: repetitions that join later are said on the page."""

from typing import Any

import pytest
from django.test import Client

from reports.models import ComparisonLook, Run, Team
from tests import factories
from tests.factories import outcomes
from tests.factories import stored as store

pytestmark = pytest.mark.django_db
Pair = tuple[Run, Run]


@pytest.fixture
def pair(team: Team) -> Pair:
    before = outcomes("v1", a="P") | {"startedAt": "2026-03-01T09:00:00Z"}
    return store(team, before), store(team, outcomes("v2", a="P"))


def look(client: Client, pair: Pair, kind: str = "version") -> str:
    sides = [f"version:{run.version_id}" if kind == "version" else f"run:{run.pk}" for run in pair]
    page: Any = client.get("/compare/", {"baseline": sides[0], "candidate": sides[1]}).context["page"]
    return str(page.looked)


def test_repetitions_that_come_after_a_look_are_said(client_of_viewer: Client, team: Team, pair: Pair) -> None:
    assert [look(client_of_viewer, pair) for _ in range(2)] == ["", ""]

    store(team, outcomes("v2", a="F") | {"startedAt": "2026-03-03T09:00:00Z"})

    assert "Repetitions were added after this comparison was first looked at" in look(client_of_viewer, pair)


def test_what_came_before_the_first_look_is_not(client_of_viewer: Client, team: Team, pair: Pair) -> None:
    store(team, outcomes("v2", a="F"))

    assert look(client_of_viewer, pair) == ""


def test_two_runs_are_not_remembered(client_of_viewer: Client, pair: Pair) -> None:
    assert look(client_of_viewer, pair, "run") == ""
    assert not ComparisonLook.objects.exists()


def test_each_team_looks_for_itself(client_of_viewer: Client, team: Team, pair: Pair) -> None:
    look(client_of_viewer, pair)
    others = factories.make_team()
    theirs = store(others, outcomes("v1", a="P")), store(others, outcomes("v2", a="P"))
    stranger = Client()
    stranger.force_login(factories.make_member(others))

    assert look(stranger, theirs) == ""
    assert ComparisonLook.objects.count() == 2
