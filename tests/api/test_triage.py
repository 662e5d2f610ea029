"""Baselines, notes and definitions over the API: a token of scope triage may what a triager may."""

from typing import Any

import pytest
from django.test import Client

from reports.models import AcceptedDefinition, Baseline, BaselineChange, Note, Run, ScenarioVariant, Signature, Team
from tests.api.conftest import Speaker
from tests.factories import make_member, make_team, outcomes, scenario, suite
from tests.factories import stored as store

pytestmark = pytest.mark.django_db


@pytest.fixture
def triager(speaker: Speaker) -> Client:
    return speaker("triage", "triager")


@pytest.fixture
def run(team: Team) -> Run:
    return store(team, outcomes("v1", a="FF", b="FP"))


def send(client: Client, address: str, body: dict[str, Any], method: str = "post") -> Any:
    return getattr(client, method)(f"/api/v1{address}", body, content_type="application/json")


def test_a_baseline_is_set_listed_used_and_cleared(triager: Client, run: Run) -> None:
    body = {"run": str(run.pk), "name": "production", "isDefault": True, "reason": "Released"}
    made = send(triager, "/baselines", body).json()

    place = {"target": run.version.target_id, "suite": run.revision.suite_id}
    (listed,) = triager.get("/api/v1/baselines", place).json()
    gate = triager.get("/api/v1/gate", {"baseline": "baseline:production", "candidate": str(run.pk)}).json()
    assert (listed["name"], listed["run"], listed["reason"]) == ("production", str(run.pk), "Released")
    assert gate["verdict"] == "pass"
    compared = triager.get("/api/v1/compare", {"baseline": "baseline:production", "candidate": str(run.pk)}).json()
    assert (compared["baseline"]["rule"]["rule"], compared["candidate"]["rule"]["rule"]) == ("named", "explicit")

    again = send(triager, "/baselines", body | {"reason": "Released again"}).json()
    assert (again["id"], again["reason"]) == (made["id"], "Released again")

    assert triager.delete(f"/api/v1/baselines/{made['id']}?reason=Withdrawn").status_code == 204
    assert not Baseline.objects.exists()
    assert BaselineChange.objects.order_by("-pk")[0].reason == "Withdrawn"


def test_an_incomplete_run_needs_force(triager: Client, team: Team) -> None:
    run = store(team, outcomes("v1", a="P") | {"status": "limited"})
    body = {"run": str(run.pk), "name": "production"}

    refused = send(triager, "/baselines", body)

    assert (refused.status_code, refused.json()["code"]) == (409, "run_incomplete")
    assert send(triager, "/baselines", body | {"force": True}).status_code == 200


def test_a_note_is_written_listed_changed_and_closed(triager: Client, team: Team, run: Run) -> None:
    variant = ScenarioVariant.objects.get(team=team, scenario_id="a")
    body = {"target": run.version.target_id, "variant": variant.key, "run": str(run.pk), "state": "flaky"}
    (pk,) = send(triager, "/notes", body).json()["notes"]

    (listed,) = triager.get("/api/v1/notes").json()["notes"]
    assert (listed["about"], listed["state"], listed["matches"]["known"]) == ("a", "flaky", 2)
    assert [each["words"] for each in listed["covers"]["failures"]] == ["ask: answered"]

    changed = send(triager, f"/notes/{pk}", {"state": "known_issue", "text": "Ticket"}, "put").json()
    assert (changed["state"], changed["text"]) == ("known_issue", "Ticket")

    assert send(triager, f"/notes/{pk}/close", {}).status_code == 204
    assert triager.get("/api/v1/notes").json()["notes"] == []
    assert len(triager.get("/api/v1/notes", {"closed": "true"}).json()["notes"]) == 1


def test_a_note_that_is_there_is_not_replaced_by_a_new_one(triager: Client, team: Team, run: Run) -> None:
    variant = ScenarioVariant.objects.get(team=team, scenario_id="a")
    body = {"target": run.version.target_id, "variant": variant.key, "run": str(run.pk), "state": "flaky"}
    (pk,) = send(triager, "/notes", body | {"text": "Mine"}).json()["notes"]

    again = send(triager, "/notes", body | {"text": "Mine"})
    other = send(triager, "/notes", body | {"text": "Another"})

    assert again.json()["notes"] == [pk]
    assert (other.status_code, other.json()["code"]) == (409, "note_exists")
    assert f"number {pk}" in other.json()["detail"]
    assert Note.objects.get().text == "Mine"


def test_texts_that_no_database_holds_come_back_as_they_were(triager: Client, team: Team, run: Run) -> None:
    variant = ScenarioVariant.objects.get(team=team, scenario_id="a")
    body = {"target": run.version.target_id, "variant": variant.key, "state": "flaky", "text": "nul \0 here"}

    assert send(triager, "/notes", body).status_code == 200

    assert triager.get("/api/v1/notes").json()["notes"][0]["text"] == "nul \0 here"


def test_a_note_is_about_one_thing(triager: Client, run: Run) -> None:
    refused = send(triager, "/notes", {"target": run.version.target_id, "state": "flaky"})

    assert (refused.status_code, refused.json()["paths"]) == (422, ["body.variant", "body.signature"])


def test_a_cluster_is_noted_at_once(triager: Client, team: Team, run: Run) -> None:
    signature = Signature.objects.get(team=team)
    body = {"target": run.version.target_id, "signature": signature.key, "run": str(run.pk), "state": "flaky"}

    assert len(send(triager, "/notes", body | {"eachVariant": True}).json()["notes"]) == 2
    again = send(triager, "/notes", body | {"eachVariant": True, "text": "Another"}).json()
    assert (again["notes"], len(again["kept"])) == ([], 2)
    assert len(send(triager, "/notes", body).json()["notes"]) == 1
    assert Note.objects.filter(signature=signature).count() == 1


@pytest.mark.parametrize("source", ["lost", "passing", "none"])
def test_a_note_that_knows_no_failure_lets_no_critical_one_pass(triager: Client, team: Team, source: str) -> None:
    runs = [
        store(team, outcomes(f"v{day}", a=letters, b="PPP") | {"startedAt": f"2026-03-0{day}T09:00:00Z"})
        for day, letters in ((1, "PPP"), (2, "SSS"), (3, "PPP"), (4, "FFF"))
    ]
    named = {"lost": {"run": str(runs[1].pk)}, "passing": {"run": str(runs[2].pk)}, "none": {}}[source]
    variant = ScenarioVariant.objects.get(team=team, scenario_id="a")
    body = {"target": runs[0].version.target_id, "variant": variant.key, "state": "known_issue"}
    pk = send(triager, "/notes", body | named).json()["notes"][0]
    sides = {"baseline": str(runs[0].pk), "policy": '[critical]\nscenarios = ["a"]'}

    def kinds(candidate: Run) -> list[str]:
        answer = send(triager, "/gate", sides | {"candidate": str(candidate.pk)}).json()
        return [each["kind"] for each in answer["reasons"] if each["kind"].startswith("critical")]

    assert kinds(runs[3]) == ["critical_broken"]
    assert kinds(runs[1]) == ([] if source == "lost" else ["critical_lost"])

    send(triager, f"/notes/{pk}", {"state": "known_issue", "run": str(runs[3].pk)}, "put")
    assert kinds(runs[3]) == []


@pytest.mark.parametrize(
    ("members", "status", "code"),
    [
        ({"expiresOn": "2020-01-01"}, 422, "last_day_over"),
        ({"version": 999_999}, 404, "not_found"),
        ({"state": "odd"}, 422, "state_unknown"),
        ({"link": "ftp://x"}, 422, "link_invalid"),
        ({"target": 999_999}, 404, "target_unknown"),
        ({"variant": "0" * 32}, 404, "variant_unknown"),
        ({"variant": None}, 422, "parameters_invalid"),
        ({"run": "00000000-0000-0000-0000-000000000000"}, 404, "not_found"),
    ],
)
def test_what_makes_no_sense_is_a_problem(
    triager: Client, team: Team, run: Run, members: dict[str, Any], status: int, code: str
) -> None:
    variant = ScenarioVariant.objects.get(team=team, scenario_id="a")
    body = {"target": run.version.target_id, "variant": variant.key, "state": "flaky"}

    answer = send(triager, "/notes", body | members)

    assert (answer.status_code, answer.json()["code"]) == (status, code)


def test_changed_definitions_are_accepted(triager: Client, team: Team, run: Run) -> None:
    other = scenario("a")
    other["steps"][0]["input"] = {"text": "Something else"}
    defined = suite() | {"scenarios": [other, scenario("b")]}
    after = store(team, outcomes("v2", a="FF", b="FP") | {"suite": defined})
    key = ScenarioVariant.objects.get(team=team, scenario_id="a").scenario_key
    body = {"baseline": str(run.pk), "candidate": str(after.pk), "scenarios": [key, "0" * 32], "reason": "Wording"}

    assert send(triager, "/definitions/accept", body).json() == {"accepted": 1}
    assert AcceptedDefinition.objects.get().reason == "Wording"


@pytest.mark.parametrize(("scope", "role"), [("write", "triager"), ("triage", "runner")])
def test_less_than_a_triager_changes_nothing(speaker: Speaker, run: Run, scope: str, role: str) -> None:
    client = speaker(scope, role)

    for address in ("/baselines", "/notes", "/definitions/accept"):
        assert send(client, address, {"run": str(run.pk), "name": "x"}).status_code == 403
    assert client.delete("/api/v1/baselines/1").status_code == 403
    assert client.get("/api/v1/notes").status_code == 200


def test_a_follow_up_is_neither_baseline_nor_given_to_the_gate(triager: Client, team: Team, run: Run) -> None:
    chosen = store(team, outcomes("v1", a="P"))
    Run.objects.filter(pk=chosen.pk).update(follow_up="failures")

    pinned = send(triager, "/baselines", {"run": str(chosen.pk), "name": "production"})
    gate = triager.get("/api/v1/gate", {"baseline": str(run.pk), "candidate": str(chosen.pk)})

    assert (pinned.status_code, pinned.json()["code"]) == (409, "run_is_follow_up")
    assert (gate.status_code, gate.json()["code"]) == (409, "follow_up")


def test_another_teams_things_do_not_exist(triager: Client, run: Run) -> None:
    others = make_team()
    theirs = store(others, outcomes("v1", a="F"))
    make_member(others, "triager")

    assert send(triager, "/baselines", {"run": str(theirs.pk), "name": "x"}).status_code == 404
    place = {"target": theirs.version.target_id, "suite": theirs.revision.suite_id}
    assert triager.get("/api/v1/baselines", place).json() == []
