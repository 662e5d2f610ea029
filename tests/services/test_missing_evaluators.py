"""A suite that asks for an evaluator which its target does not have: told before a run is asked for."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.core.management import CommandError, call_command
from django.test import Client
from evalrunner.suites import parse_evaluation_suite

from reports.domain.continuation import Verb
from reports.domain.run_options import RequestRefused, RunOptions
from reports.models import Run, Team, User
from reports.runnable import find_target
from reports.services.continuing import CannotContinue, look_ahead
from reports.services.executing import execute_run
from reports.services.executions import RunRequest, request_run
from reports.services.tokens import create_token
from tests import factories
from tests.execution.conftest import Ask, scenario
from tests.execution.conftest import ask as ask
from tests.execution.conftest import targets_file as targets_file

pytestmark = pytest.mark.django_db(transaction=True)

FORM = "/runs/new/"
COMMAND = """
[[target]]
name = "desk"
kind = "command"
id = "desk.agent"
command = ["python3", "-c", "pass"]
suites = ["suite.json"]
{more}
[target.fingerprint]
from = "fixed"
values = ["1"]
"""
BY_FILE = 'evaluators = "tests.execution.targets:counting.evaluators"'


def asking(evaluator: str) -> dict[str, Any]:
    """Return an assertion that asks for an evaluator, two levels down."""
    asks = {"id": "own", "kind": "custom", "evaluator": evaluator, "parameters": {}}
    return {"id": "all", "kind": "all", "assertions": [{"id": "not", "kind": "not", "assertion": asks}]}


def suite_asking(evaluator: str) -> dict[str, Any]:
    """Return a suite of which one scenario of two asks for an evaluator."""
    return factories.suite(scenarios=[scenario("plain"), scenario("judged") | {"assertions": [asking(evaluator)]}])


def offer(folder: Path, settings: LazySettings, suite: dict[str, Any], more: str = "") -> None:
    """Register a command that offers a suite."""
    (folder / "suite.json").write_text(json.dumps(suite))
    (folder / "offering.toml").write_text(COMMAND.format(more=more))
    settings.TARGETS_FILE = str(folder / "offering.toml")


PLACE = "scenarios.1.assertions.0.assertions.0.assertion.evaluator"
WORDS = "asks for an evaluator that the target does not have: 'count'"


def test_the_form_and_its_preview_say_it_at_the_suite(
    client_of_runner: Client, tmp_path: Path, settings: LazySettings
) -> None:
    offer(tmp_path, settings, suite_asking("count"))
    form = {"target": "desk", "fingerprint": "1", "suite": "offered:0", "shown": "desk|offered:0"}

    sent, preview = client_of_runner.post(FORM, form), client_of_runner.post(f"{FORM}preview/", form)

    assert (sent.status_code, Run.objects.exists()) == (422, False)
    for page in (sent.content.decode(), preview.content.decode()):
        faults = page.partition('id="faults-suite"')[2].partition("</div>")[0]
        assert "EVALUATOR_NOT_FOUND" in faults and PLACE in faults
        assert "that the target does not have: &#x27;count&#x27;" in faults


def test_the_api_refuses_it_with_its_place(
    client: Client, runner: User, team: Team, tmp_path: Path, settings: LazySettings
) -> None:
    offer(tmp_path, settings, suite_asking("count"))
    bearer = {"Authorization": f"Bearer {create_token(team=team, maker=runner, name='ci', scope='write')}"}

    answer = client.post("/api/v1/runs", {"target": "desk"}, content_type="application/json", headers=bearer)

    assert (answer.status_code, answer.json()["code"]) == (422, "EVALUATOR_NOT_FOUND")
    assert answer.json()["paths"] == [f"suite.{PLACE}"]
    assert WORDS in answer.json()["detail"]


def test_scenarios_that_are_not_chosen_ask_for_nothing(
    client_of_runner: Client, tmp_path: Path, settings: LazySettings
) -> None:
    offer(tmp_path, settings, suite_asking("count"))

    answer = client_of_runner.post(
        FORM, {"target": "desk", "fingerprint": "1", "suite": "offered:0", "scenarios": "plain"}
    )

    assert answer.status_code == 302


def test_the_suites_own_assertions_are_looked_at_too(team: Team, runner: User, targets_file: Path) -> None:
    suite = parse_evaluation_suite(factories.suite("one", assertions=[asking("missing")]))

    with pytest.raises(RequestRefused) as refused:
        request_run(team=team, user=runner, origin="web", request=RunRequest("echo", "one", suite, RunOptions()))

    assert refused.value.refusals[0].paths == ("assertions.0.assertions.0.assertion.evaluator",)


def test_a_target_that_has_the_evaluator_is_taken(ask: Ask) -> None:
    assert ask(scenario("judged") | {"assertions": [asking("count")]}, target="counting").status == "queued"


def test_check_targets_says_it_before_a_run(tmp_path: Path, settings: LazySettings) -> None:
    offer(tmp_path, settings, suite_asking("count"))
    said = StringIO()

    with pytest.raises(CommandError, match="Cannot be run: desk"):
        call_command("check_targets", "--no-session", stdout=said)

    assert f"FAILS: the suite suite.json {WORDS}" in said.getvalue()


def test_evaluators_of_a_module_are_known_to_check_targets_alone(
    client_of_runner: Client, tmp_path: Path, settings: LazySettings
) -> None:
    """Importing the operator's module is left to the worker and to the operator's own command."""
    offer(tmp_path, settings, suite_asking("other"), BY_FILE)
    said = StringIO()
    entry = find_target("desk")

    with pytest.raises(CommandError):
        call_command("check_targets", "--no-session", stdout=said)

    assert "does not have: 'other'" in said.getvalue()
    assert entry is not None and entry.known_evaluators() is None
    assert client_of_runner.post(FORM, {"target": "desk", "suite": "offered:0"}).status_code == 302


def test_check_targets_takes_a_module_that_has_it(tmp_path: Path, settings: LazySettings) -> None:
    offer(tmp_path, settings, suite_asking("count"), BY_FILE)
    said = StringIO()

    call_command("check_targets", "--no-session", stdout=said)

    assert "FAILS" not in said.getvalue() and "1 evaluator" in said.getvalue()


def test_the_page_of_the_target_warns(
    client_of_viewer: Client, team: Team, tmp_path: Path, settings: LazySettings
) -> None:
    run = factories.stored(team, factories.report("P"))
    address = f"/targets/{run.version.target_id}/"
    before = client_of_viewer.get(address).content.decode()

    offer(tmp_path, settings, suite_asking("count"))
    after = client_of_viewer.get(address).content.decode()

    assert "does not have" not in before
    assert "Registered as desk: the suite suite.json asks for an evaluator that the target does not have" in after


def test_a_run_whose_evaluator_is_gone_is_not_resumed(ask: Ask, team: Team, targets_file: Path) -> None:
    judged = scenario("judged") | {"assertions": [asking("count")]}
    run = ask(judged, scenario("bad", {"answer": "no"}), "never", target="counting", max_failures=1)
    execute_run(run_pk=run.pk)
    targets_file.write_text(targets_file.read_text().replace("targets:counting", "targets:echo"))

    with pytest.raises(CannotContinue) as refused:
        look_ahead(team=team, run_pk=run.pk, verb=Verb.RESUME)

    assert refused.value.code == "EVALUATOR_NOT_FOUND" and "'count'" in str(refused.value)
