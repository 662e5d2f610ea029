"""Accepting changed definitions: rows count again, who and why are kept, and it can be withdrawn."""

from typing import Any

import pytest
from django.test import Client

from reports.models import AcceptedDefinition, AuditEntry, Run, RunChange, Team, User
from tests import factories
from tests.factories import outcomes, scenario, suite
from tests.factories import stored as store
from tests.pages.test_compare import text_of

pytestmark = pytest.mark.django_db(transaction=True)
Pair = tuple[Run, Run]


@pytest.fixture
def client_of_triager(team: Team) -> Client:
    client = Client()
    client.force_login(factories.make_member(team, "triager"))
    return client


@pytest.fixture
def pair(team: Team) -> Pair:
    """Return two versions between which the scenario ``a`` is asked otherwise."""
    other = scenario("a")
    other["steps"][0]["input"] = {"text": "Something else"}
    defined = suite() | {"scenarios": [other, scenario("b")]}
    before = store(team, outcomes("v1", a="PP", b="PP") | {"startedAt": "2026-03-01T09:00:00Z"})
    return before, store(team, outcomes("v2", a="FF", b="PP") | {"suite": defined})


def sides(pair: Pair) -> dict[str, str]:
    return {"baseline": f"run:{pair[0].pk}", "candidate": f"run:{pair[1].pk}"}


def open_page(client: Client, pair: Pair) -> Any:
    page = client.get("/compare/", sides(pair)).context["page"]
    return client.get(page.definitions_href)


def accept(client: Client, pair: Pair, **members: Any) -> Any:
    response = open_page(client, pair)
    keys = [line.key for line in response.context["page"].changed]
    return client.post(
        response.request["PATH_INFO"] + "?" + response.request["QUERY_STRING"], {"scenario": keys} | members
    )


def test_an_accepted_definition_counts_like_any_other(client_of_triager: Client, pair: Pair) -> None:
    assert RunChange.objects.get(run=pair[1].pk).counts == {"steady": 1}

    answer = accept(client_of_triager, pair, reason="Only the wording")

    shown = client_of_triager.get("/compare/", sides(pair))
    assert [group.title for group in shown.context["page"].groups] == ["broken"]
    assert "1 changed definition was accepted; they count." in text_of(shown)
    assert "Only the wording" in text_of(client_of_triager.get(answer["Location"]))
    assert RunChange.objects.get(run=pair[1].pk).counts == {"broken": 1, "steady": 1}


def test_it_holds_in_either_direction_and_is_kept_once(client_of_triager: Client, pair: Pair) -> None:
    accept(client_of_triager, pair)
    accept(client_of_triager, pair)

    mirrored = client_of_triager.get("/compare/", sides((pair[1], pair[0]))).context["page"]

    assert [group.title for group in mirrored.groups] == ["fixed"]
    assert AcceptedDefinition.objects.count() == 1


def test_withdrawing_sets_it_apart_again(client_of_triager: Client, pair: Pair) -> None:
    address = accept(client_of_triager, pair)["Location"]

    client_of_triager.post(address, {"withdraw": str(AcceptedDefinition.objects.get().pk)})

    shown = client_of_triager.get("/compare/", sides(pair)).context["page"]
    assert [group.title for group in shown.groups] == ["redefined (measured otherwise than before)"]
    assert RunChange.objects.get(run=pair[1].pk).counts == {"steady": 1}
    actions = list(AuditEntry.objects.order_by("pk").values_list("action", "subject"))
    assert actions == [("definition.accepted", "a"), ("definition.withdrawn", "a")]


def test_a_runner_sees_them_and_accepts_none(client_of_runner: Client, pair: Pair) -> None:
    assert "A triager can accept" in text_of(open_page(client_of_runner, pair))
    assert accept(client_of_runner, pair).status_code == 403
    assert not AcceptedDefinition.objects.exists()


def test_a_policy_accepts_by_scenario_id(client_of_runner: Client, team: Team, pair: Pair) -> None:
    Team.objects.filter(pk=team.pk).update(policy='[accept]\ndefinitions = ["a"]')

    shown = client_of_runner.get("/compare/", sides(pair)).context["page"]

    assert [group.title for group in shown.groups] == ["broken"]


def test_another_teams_comparison_does_not_exist(pair: Pair) -> None:
    stranger = Client()
    member: User = factories.make_member(factories.make_team(), "triager")
    stranger.force_login(member)

    assert stranger.get("/compare/definitions/", sides(pair)).status_code == 404
    assert stranger.post("/compare/definitions/", sides(pair)).status_code == 404
