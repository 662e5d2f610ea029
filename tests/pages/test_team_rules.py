"""Ignore rules and the policy of a team: shown to all, changed by an admin, previewed, and used."""

import pytest
from django.test import Client

from reports.models import AuditEntry, Run, Team
from reports.selectors import ignore_preview
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

    client_of_admin.post(RULES, {"rules": "nonce\r\n traceId \r\n\r\n"})

    team.refresh_from_db()
    assert team.ignored == ["nonce", "traceId"]
    assert not differs(client_of_admin, before, after)
    client_of_admin.post(RULES, {"rules": "nonce"})
    assert differs(client_of_admin, before, after)


def test_a_path_holds_at_its_place_alone(client_of_admin: Client, team: Team) -> None:
    before, after = talk(team, "v1", nonce="1"), talk(team, "v2", nonce="2")

    client_of_admin.post(RULES, {"rules": "meta.nonce\n$.nonce"})
    assert differs(client_of_admin, before, after)

    client_of_admin.post(RULES, {"rules": "response.*.nonce"})
    assert not differs(client_of_admin, before, after)


def test_a_rule_that_cannot_be_read_is_refused_with_its_place_and_stays_typed(
    client_of_admin: Client, team: Team
) -> None:
    for more in ({}, {"preview": "1"}):
        answer = client_of_admin.post(RULES, {"rules": "fine\nevents[0]\ntrace*"} | more)

        assert answer.status_code == 400
        assert answer.context["page"].faults == (
            "Rule 2, “events[0]”, character 9: a rule ends with a member; an item cannot be left out of its list.",
            'Rule 3, “trace*”, character 6: “*” is no part of a plain name; write the name as ["…"].',
        )
        assert answer.context["page"].rules == "fine\nevents[0]\ntrace*"
    team.refresh_from_db()
    assert team.ignored is None


def test_the_first_five_faults_are_told_and_the_others_counted(client_of_admin: Client) -> None:
    answer = client_of_admin.post(RULES, {"rules": "\n".join(f"a[{place}]" for place in range(7))})

    assert len(answer.context["page"].faults) == 6
    assert answer.context["page"].faults[-1] == "And 2 more."


def test_a_form_without_rules_changes_nothing(client_of_admin: Client, team: Team) -> None:
    assert client_of_admin.post(RULES, {}).status_code == 400
    team.refresh_from_db()
    assert team.ignored is None


def test_a_preview_shows_different_values_and_opens_their_place(client_of_admin: Client, team: Team) -> None:
    for number in range(5):
        talk(team, f"v{number}", nonce=str(min(number, 1)))

    page = client_of_admin.post(RULES, {"rules": "response.meta.nonce", "preview": "1"}).context["page"]

    (line,) = page.preview
    assert line.number == 5
    assert {each.value for each in line.examples} == {'"0"', '"1"'}
    shown = client_of_admin.get(line.examples[0].href)
    assert shown.status_code == 200
    assert line.examples[0].href.endswith("?turn=1&path=response.meta.nonce#turn-1:response.meta.nonce")


def test_a_preview_shows_what_rules_hide_and_keeps_nothing(client_of_admin: Client, team: Team) -> None:
    talk(team, "v1", nonce="<b>")

    shown = client_of_admin.post(RULES, {"rules": "nonce\nnothing", "preview": "1"})

    page = shown.context["page"]
    (line,) = page.preview
    assert (line.rule, line.number) == ("nonce", 1)
    assert [(each.part, each.path) for each in line.examples] == [("observation", "response.meta.nonce")]
    assert page.absent == "nothing"
    assert "&quot;&lt;b&gt;&quot;" in shown.content.decode()
    team.refresh_from_db()
    assert team.ignored is None


def test_every_change_is_kept_with_who(client_of_admin: Client, team: Team) -> None:
    client_of_admin.post(RULES, {"rules": client_of_admin.get(RULES).context["page"].rules})
    assert not AuditEntry.objects.exists()

    client_of_admin.post(RULES, {"rules": "nonce"})
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


def test_critical_names_that_no_suite_has_are_warned_of_when_a_policy_is_kept(
    client_of_admin: Client, team: Team
) -> None:
    tagged = suite("first", scenarios=[factories.scenario("first", tags=["smoke", "nul \0"])])
    store(team, report(cases=[case(scenario_id="first")], suite=tagged))
    store(factories.make_team(), outcomes("v1", elsewhere="P"))
    policy = '[critical]\nscenarios = ["first", "frist", "elsewhere"]\ntags = ["smoke", "nul \\u0000", "smok"]'

    answer = client_of_admin.post(POLICY, {"policy": policy}, follow=True)

    assert answer.context["page"].warnings == (
        "No suite here has the critical scenarios “elsewhere”, “frist”: a comparison is inconclusive while neither "
        "side has a case of each.",
        "No suite here has the critical tag “smok”: a comparison is inconclusive while neither side has a case of it.",
    )
    assert "“frist”" in text_of(answer)


@pytest.mark.parametrize(
    "text",
    ["margin = 2", "what", "[critical]\nscenario = []", f"max_errors = {'9' * 5_000}", "a = " + "[" * 50_000],
    ids=["range", "no TOML", "name", "long number", "deep"],
)
def test_a_policy_that_cannot_be_used_is_refused_and_stays_typed(
    client_of_admin: Client, team: Team, text: str
) -> None:
    answer = client_of_admin.post(POLICY, {"policy": text})

    assert answer.status_code == 400
    assert "The policy cannot be used" in text_of(answer)
    assert answer.context["page"].text == text
    team.refresh_from_db()
    assert team.policy == ""


def test_rules_have_a_limit(client_of_admin: Client) -> None:
    assert client_of_admin.post(RULES, {"rules": "x" * 201}).status_code == 400
    assert client_of_admin.post(RULES, {"rules": "\n".join(map(str, range(1_001)))}).status_code == 400


@pytest.mark.parametrize("address", [RULES, POLICY])
def test_others_read_them_only(client_of_runner: Client, address: str) -> None:
    assert client_of_runner.get(address).status_code == 200
    assert client_of_runner.post(address, {"rules": "x", "policy": ""}).status_code == 403


def test_the_preview_never_looks_at_another_team(client_of_admin: Client) -> None:
    talk(factories.make_team(), "v1", nonce="secret")

    shown = client_of_admin.post(RULES, {"rules": "nonce", "preview": "1"})

    assert "secret" not in shown.content.decode()
    assert shown.context["page"].preview == ()


def test_the_preview_counts_the_turns_that_it_looked_at(
    client_of_admin: Client, team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(6):
        talk(team, f"v{number}", nonce="1")
    monkeypatch.setattr(ignore_preview, "NODES_READ", 30)

    page = client_of_admin.post(RULES, {"rules": "nonce", "preview": "1"}).context["page"]

    assert page.preview_words == "2 members of 3 turns of the newest runs"  # of six; the third in part
