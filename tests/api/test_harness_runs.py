"""``POST /api/v1/runs`` for targets that run scenario files."""

from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.test import Client
from evalrunner.harness.commands import NOT_ALLOWED

from reports.models import Case, Execution, Run, Team, User
from reports.services.executing import execute_run
from tests.execution.harness import Harness, scenario

URL = "/api/v1/runs"
ASKED = {"target": "assistant", "fingerprint": "v1"}


@pytest.fixture
def harness(tmp_path: Path, settings: LazySettings, team: Team, runner: User) -> Harness:
    return Harness(tmp_path, settings, team, runner)


def start(client: Client, **members: Any) -> tuple[int, dict[str, Any]]:
    response = client.post(URL, ASKED | members, content_type="application/json")
    return response.status_code, response.json()


def test_profile_policies_and_tags_are_members_of_the_request(writer: Client, harness: Harness) -> None:
    harness.write(scenario("a", tags=["x"]), scenario("b", tags=["y"]))
    asked = {"profile": "scripted", "approvalPolicy": "never", "excludeTags": ["y"], "failFast": True}

    status, run = start(writer, harness=asked)

    assert status == 201
    told = writer.get(f"{URL}/{run['id']}/execution").json()
    assert told["request"]["harness"] == asked | {"sandboxPolicy": ""}
    assert told["plannedCases"] == 1


def test_what_the_target_does_not_allow_is_refused_with_its_member(writer: Client, harness: Harness) -> None:
    status, problem = start(writer, harness={"sandboxPolicy": "danger_full_access"})

    assert (status, problem["code"], problem["paths"]) == (422, "TARGET_DOES_NOT_ALLOW", ["harness.sandboxPolicy"])
    assert start(writer, harness={"unknown": 1})[0] == 422


@pytest.mark.django_db(transaction=True)
def test_commands_of_a_file_that_came_through_the_api_never_run(writer: Client, harness: Harness) -> None:
    made = harness.folder / "made"
    text = harness.text(scenario(expected={"post_run_commands": [{"program": "touch", "args": [str(made)]}]}))
    harness.write(scenario(), keys='post_run_commands = true\ntools = ["shell.exec"]')

    status, run = start(writer, scenarioFile=text, suite="offered:0")
    execute_run(run_pk=Run.objects.get().pk)

    assert status == 201
    assert "is_offered" not in Execution.objects.get().request
    assert Case.objects.get().failing == f"at the end: {NOT_ALLOWED}"
    assert not made.exists()
    assert writer.get(f"{URL}/{run['id']}/harness/summary").json()["failed"] == 1


@pytest.mark.parametrize("text", ["", "# nothing but a comment\n"])
def test_an_empty_scenario_file_is_refused_and_no_other_one_run_instead(
    writer: Client, harness: Harness, text: str
) -> None:
    status, problem = start(writer, scenarioFile=text)

    assert (status, problem["detail"]) == (422, "This file holds no scenario.")
    assert not Run.objects.exists()


def test_options_of_the_harness_mean_nothing_to_other_targets(writer: Client, settings: LazySettings) -> None:
    settings.TARGETS_FILE = ""
    asked = {"target": "tutorial.catalogue", "harness": {"failFast": True}}

    response = writer.post(URL, asked, content_type="application/json")

    assert response.status_code == 422
    assert "Only targets of kind harness" in response.json()["detail"]
