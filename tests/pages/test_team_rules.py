"""Ignore rules and the policy of a team: shown to all, changed by an admin, previewed, and used."""

import pytest
from django.test import Client

from reports.models import AuditEntry, Run, Team
from tests import factories
from tests.factories import case, outcomes, report, suite, turn
from tests.factories import stored as store
from tests.pages.test_compare import text_of

pytestmark = pytest.mark.django_db
RULES, POLICY = "/settings/ignore-rules/", "/settings/policy/"


@pytest.fixture
def client_of_admin(team: Team) -> Client:
    client = Client()
    client.force_login(factories.make_member(team, "admin"))
    return client


def talk(team: Team, fingerprint: str, **members: str) -> Run:
    observation = {"response": {"message": "Same", "meta": members}}
    cases = [case("passed", scenario_id="talk", turns=[turn(observation=observation)])]
    made = report(cases=cases, target={"id": "desk", "fingerprint": fingerprint}, suite=suite("talk"))
    return store(team, made)


def differs(client: Client, before: Run, after: Run) -> bool:
    sides = {"baseline": f"run:{before.pk}", "candidate": f"run:{after.pk}", "class": "all"}
    row = client.get("/compare/", sides).context["page"].groups[0].lines[0]
    return not client.get(row.href).context["page"].is_identical


def test_a_team_chooses_what_the_side_by_side_leaves_out(client_of_admin: Client, team: Team) -> None:
    before, after = talk(team, "v1", nonce="1", traceId="a"), talk(team, "v2", nonce="2", traceId="b")
    assert differs(client_of_admin, before, after)

    client_of_admin.post(RULES, {"names": "nonce\r\n traceId \r\n\r\n"})

    team.refresh_from_db()
    assert team.ignored == ["nonce", "traceId"]
    assert not differs(client_of_admin, before, after)
    client_of_admin.post(RULES, {"names": "nonce"})
    assert differs(client_of_admin, before, after)


def test_a_preview_shows_what_rules_hide_and_keeps_nothing(client_of_admin: Client, team: Team) -> None:
    talk(team, "v1", nonce="<b>")

    shown = client_of_admin.post(RULES, {"names": "nonce\nnothing", "preview": "1"})

    page = shown.context["page"]
    assert [(line.name, line.number, line.path) for line in page.preview] == [
        ("nonce", 1, "observation.response.meta.nonce")
    ]
    assert page.absent == "nothing"
    assert "&quot;&lt;b&gt;&quot;" in shown.content.decode()
    team.refresh_from_db()
    assert team.ignored is None


def test_every_change_is_kept_with_who(client_of_admin: Client, team: Team) -> None:
    client_of_admin.post(RULES, {"names": client_of_admin.get(RULES).context["page"].names})
    assert not AuditEntry.objects.exists()

    client_of_admin.post(RULES, {"names": "nonce"})
    client_of_admin.post(POLICY, {"policy": "margin = 0.1"})
    client_of_admin.post(POLICY, {"policy": "margin = 0.1"})

    assert list(AuditEntry.objects.order_by("pk").values_list("action", flat=True)) == [
        "ignore_rules.changed",
        "policy.changed",
    ]
    assert AuditEntry.objects.order_by("pk")[0].details["added"] == ["nonce"]


def test_the_policy_judges_the_page(client_of_admin: Client, team: Team) -> None:
    letters = {"first": "PP"} | {f"s{number:02}": "PP" for number in range(19)}
    pair = store(team, outcomes("v1", **letters)), store(team, outcomes("v2", **(letters | {"first": "FF"})))
    sides = {"baseline": f"run:{pair[0].pk}", "candidate": f"run:{pair[1].pk}"}
    assert client_of_admin.get("/compare/", sides).context["page"].verdict.key == "inconclusive"

    client_of_admin.post(POLICY, {"policy": '[critical]\nscenarios = ["first"]'})

    page = client_of_admin.get("/compare/", sides).context["page"]
    assert (page.verdict.key, page.groups[0].lines[0].marks) == ("regressed", ("critical",))


@pytest.mark.parametrize("text", ["margin = 2", "what", "[critical]\nscenario = []"])
def test_a_policy_that_cannot_be_used_is_refused_and_stays_typed(
    client_of_admin: Client, team: Team, text: str
) -> None:
    answer = client_of_admin.post(POLICY, {"policy": text})

    assert answer.status_code == 400
    assert "The policy cannot be used" in text_of(answer)
    assert answer.context["page"].text == text
    team.refresh_from_db()
    assert team.policy == ""


def test_names_have_a_limit(client_of_admin: Client) -> None:
    assert client_of_admin.post(RULES, {"names": "x" * 201}).status_code == 400
    assert client_of_admin.post(RULES, {"names": "\n".join(map(str, range(1_001)))}).status_code == 400


@pytest.mark.parametrize("address", [RULES, POLICY])
def test_others_read_them_only(client_of_runner: Client, address: str) -> None:
    assert client_of_runner.get(address).status_code == 200
    assert client_of_runner.post(address, {"names": "x", "policy": ""}).status_code == 403


def test_the_preview_never_looks_at_another_team(client_of_admin: Client) -> None:
    talk(factories.make_team(), "v1", nonce="secret")

    shown = client_of_admin.post(RULES, {"names": "nonce", "preview": "1"})

    assert "secret" not in shown.content.decode()
    assert shown.context["page"].preview == ()
