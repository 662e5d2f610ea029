"""Resuming and retrying over the API."""

import json
from typing import Any

import pytest
from django.test import Client

from reports.models import Execution, Run, User
from reports.services.executing import execute_run
from tests import factories
from tests.api.conftest import Speaker
from tests.execution.conftest import Ask, scenario
from tests.execution.conftest import ask as ask
from tests.execution.conftest import targets_file as targets_file

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def run(ask: Ask) -> Run:
    """An ended run with a passed, a failed and a pending case."""
    made = ask("good", scenario("bad", {"answer": "no"}), "never", max_failures=1)
    execute_run(run_pk=made.pk)
    return made


def test_what_would_happen_is_answered_before_anything_starts(reader: Client, run: Run) -> None:
    answer = reader.get(f"/api/v1/runs/{run.pk}/retry").json()

    assert (answer["fresh"], answer["kept"], answer["blocked"]) == ([1, 2], 1, {})
    assert answer["sentences"] == ["2 cases begin afresh, as new conversations.", "1 case stays as it is."]
    assert reader.get(f"/api/v1/runs/{run.pk}/resume").json()["fresh"] == [2]
    assert Execution.objects.count() == 1


@pytest.mark.parametrize("verb", ["resume", "retry"])
def test_a_run_is_continued_once_for_one_key(writer: Client, run: Run, verb: str) -> None:
    headers = {"Idempotency-Key": "again"}
    address, kind = f"/api/v1/runs/{run.pk}/{verb}", "application/json"
    answers = [writer.post(address, body, content_type=kind, headers=headers) for body in ("", "{}")]

    assert [answer.status_code for answer in answers] == [201, 200]
    assert len({answer.json()["id"] for answer in answers}) == 1
    made = Execution.objects.get(pk=answers[0].json()["id"])
    assert (made.verb, made.continues_id, made.run.origin) == (verb, run.pk, "api")
    execute_run(run_pk=made.pk)
    assert writer.get(f"/api/v1/runs/{made.pk}").json()["resumedFrom"] == Run.objects.get(pk=run.pk).run_id


def test_refusals_are_problems_with_a_code_and_a_sentence(writer: Client, ask: Ask, run: Run) -> None:
    queued = ask("later")
    imported = factories.stored(run.team, factories.report("PF"))
    going_on = factories.stored(run.team, factories.report("PFN", status="running"))

    def refused(pk: object, verb: str = "retry") -> tuple[int, str]:
        answer = writer.post(f"/api/v1/runs/{pk}/{verb}", content_type="application/json")
        assert answer.json()["detail"]
        return answer.status_code, answer.json()["code"]

    assert refused(queued.pk) == (409, "RUN_IS_UNDER_WAY")
    assert refused(imported.pk) == (409, "TARGET_UNKNOWN")
    assert refused(going_on.pk) == (409, "RUN_IS_UNDER_WAY")
    assert refused(going_on.pk, "resume") == (409, "RUN_IS_UNDER_WAY")
    assert refused(factories.stored(factories.make_team(), factories.report("F")).pk) == (404, "not_found")


def test_a_token_cannot_authorise_external_writes_and_a_reader_starts_nothing(
    writer: Client, reader: Client, run: Run
) -> None:
    body = json.dumps({"allowExternalWrites": True})
    address = f"/api/v1/runs/{run.pk}/retry"

    assert writer.post(address, body, content_type="application/json").json()["code"] == "admin_needed"
    assert reader.post(address, content_type="application/json").status_code == 403
    assert Execution.objects.count() == 1


def test_an_admin_in_a_browser_authorises_external_writes_anew(ask: Ask, speaker: Speaker) -> None:
    run = ask(scenario("writes") | {"writePolicy": "external"})
    execute_run(run_pk=run.pk)
    admin: User = factories.make_member(run.team, "admin")
    browser = Client()
    browser.force_login(admin)
    members: dict[str, Any] = {"content_type": "application/json"}

    answer = browser.post(f"/api/v1/runs/{run.pk}/retry", '{"allowExternalWrites": true}', **members)

    assert answer.status_code == 201
    execute_run(run_pk=Run.objects.get(pk=answer.json()["id"]).pk)
    assert Run.objects.get(pk=answer.json()["id"]).passed == 1
