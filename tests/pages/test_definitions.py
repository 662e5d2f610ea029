"""Accepting changed definitions: rows count again, who and why are kept, and it can be withdrawn."""

import json
from html import unescape
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from reports.models import AcceptedDefinition, AuditEntry, Run, RunChange, Team, User
from reports.pages.compare_frame import Address
from reports.pages.definitions import definitions_href
from reports.selectors.compare_filters import RowFilters
from reports.services.definitions import accept_definitions
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


FORMATS = ("json", "markdown", "html", "text")


def test_every_rendering_says_who_accepted_a_definition_when_and_why(client_of_triager: Client, pair: Pair) -> None:
    accept(client_of_triager, pair, reason="Only the | `wording`")
    row = AcceptedDefinition.objects.get()
    assert row.by is not None

    files = {kind: document(client_of_triager, pair, kind) for kind in FORMATS}

    assert json.loads(files["json"])["accepted"] == [
        {
            "scenarioId": "a",
            "rule": "triager",
            "by": row.by.username,
            "at": row.at.isoformat(timespec="seconds"),
            "reason": "Only the | `wording`",
        }
    ]
    day = row.at.date().isoformat()
    assert f"- `a`: accepted by `{row.by.username}` on `{day}`: `` Only the | `wording` ``" in files["markdown"]
    assert f"  a: accepted by {row.by.username} on {day}: Only the | `wording`" in files["text"].splitlines()
    assert row.by.username in files["html"]
    assert "Only the | `wording`" in files["html"]
    assert all("Changed definitions that were accepted and count (1)" in files[kind] for kind in FORMATS[1:])
    gate = client_of_triager.get("/api/v1/gate", sides(pair)).json()
    assert [each["reason"] for each in gate["accepted"]] == ["Only the | `wording`"]


def test_what_the_policy_accepts_is_told_everywhere_and_cannot_be_withdrawn(
    client_of_triager: Client, team: Team, pair: Pair
) -> None:
    Team.objects.filter(pk=team.pk).update(policy='[accept]\ndefinitions = ["a", "b", "elsewhere"]')

    files = {kind: document(client_of_triager, pair, kind) for kind in FORMATS}
    shown = client_of_triager.get("/compare/", sides(pair))
    listed = open_page(client_of_triager, pair)

    assert [(each["scenarioId"], each["rule"]) for each in json.loads(files["json"])["accepted"]] == [("a", "policy")]
    assert "- `a`: accepted by the policy\n" in files["markdown"]
    assert "  a: accepted by the policy" in files["text"].splitlines()
    assert "accepted by the policy" in files["html"]
    assert "1 changed definition was accepted; they count." in text_of(shown)
    assert [(line.scenario_id, line.pk) for line in listed.context["page"].accepted] == [("a", 0)]
    assert "The policy" in text_of(listed)
    assert "Withdraw this" not in text_of(listed)


def document(client: Client, pair: Pair, kind: str) -> str:
    answer = client.get("/api/v1/compare/document", sides(pair) | {"format": kind})
    assert answer.status_code == 200
    return unescape(answer.content.decode())


def test_each_changed_scenario_says_what_changed_and_leads_to_its_rows(client_of_triager: Client, pair: Pair) -> None:
    shown = open_page(client_of_triager, pair)

    (line,) = shown.context["page"].changed
    assert "1 member changed: steps[ask].input.text" in text_of(shown)
    assert "Something else" in text_of(shown)
    rows = client_of_triager.get(line.rows_href).context["page"]
    assert [[each.scenario_id for each in group.lines] for group in rows.groups] == [["a"]]
    assert [(chip.name, chip.value) for chip in rows.chips if chip.remove_href][-1] == ("Scenario", "a")
    anchor = line.href.partition("#")[2]
    suite_page = client_of_triager.get(line.href).context["page"]
    assert [each.scenario.id for each in suite_page.scenarios if each.anchor == anchor] == ["a"]


def test_many_changed_scenarios_come_page_by_page_at_the_same_cost(client_of_triager: Client, team: Team) -> None:
    names = {f"s{number:03}": "P" for number in range(230)}

    def defined(text: str) -> dict[str, Any]:
        scenarios = [scenario(name) for name in names]
        for each in scenarios:
            each["steps"][0]["input"] = {"text": text}
        return suite() | {"scenarios": scenarios}

    first = store(team, outcomes("v1", **names) | {"suite": defined("One")})
    second = store(team, outcomes("v2", **names) | {"suite": defined("Two")})
    seen, counts = [], []
    address = definitions_href(Address(f"run:{first.pk}", f"run:{second.pk}", 0, RowFilters()))
    client_of_triager.get(address)  # what a process reads once
    while address:
        with CaptureQueriesContext(connection) as queries:
            page = client_of_triager.get(address).context["page"]
        counts.append(len(queries))
        seen += [line.scenario_id for line in page.changed]
        address = page.pager.next_href

    assert seen == list(names)
    assert len(set(counts)) == 1


def test_another_reason_and_a_withdrawal_are_kept_with_what_was_said(client_of_triager: Client, pair: Pair) -> None:
    api = accept(client_of_triager, pair, reason="Only the wording")
    row = AcceptedDefinition.objects.get()
    pks = (pair[0].revision_id, pair[1].revision_id)
    user = row.by
    assert user is not None
    keys = [row.scenario_key]
    assert accept_definitions(team=row.team, user=user, revisions=pks, scenario_keys=keys, reason="Checked") == 0
    client_of_triager.post(api["Location"], {"withdraw": str(row.pk), "reason": "Not so"})

    assert list(AuditEntry.objects.order_by("pk").values_list("details", flat=True)) == [
        {"revisions": sorted(pks), "reason": "Only the wording"},
        {"before": {"reason": "Only the wording"}, "after": {"reason": "Checked"}},
        {"before": {"by": user.username, "reason": "Checked"}, "revisions": sorted(pks), "reason": "Not so"},
    ]


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
