"""Runs that were chosen by an outcome: marked, shown beside, pooled nowhere, refused by the gate."""

import html
import json
from typing import Any

import pytest
from django.test import Client

from reports.models import Execution, Run, Team, User
from reports.selectors.compare import compare_sides
from reports.selectors.versions import newest_versions
from reports.services.baselines import BaselineRefused, set_baseline
from reports.services.executing import execute_run
from tests import factories
from tests.execution.conftest import Ask, scenario
from tests.execution.conftest import ask as ask
from tests.execution.conftest import targets_file as targets_file

pytestmark = pytest.mark.django_db(transaction=True)


def executed(run: Run) -> Run:
    execute_run(run_pk=run.pk)
    return Run.objects.get(pk=run.pk)


@pytest.fixture
def run(ask: Ask) -> Run:
    """An ended run with a passed and a failed scenario."""
    return executed(ask("good", scenario("bad", {"answer": "no"})))


def form_of(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200
    return html.unescape(response.content.decode())


def start(client: Client, run: Run, **fields: Any) -> Run:
    made = {"target": "echo", "fingerprint": "one", "suite": f"revision:{run.revision_id}", "key": str(fields)}
    answer = client.post("/runs/new/", made | fields)
    assert answer.status_code == 302, answer.content.decode()
    return executed(Run.objects.get(pk=answer.headers["Location"].split("/")[2]))


def follow_up(client: Client, run: Run) -> Run:
    return start(client, run, scenarios="bad", follow_up="failures", follows=str(run.pk))


def test_the_form_for_the_failures_chooses_their_scenarios_and_says_what_becomes_of_it(
    client_of_runner: Client, run: Run
) -> None:
    page = form_of(client_of_runner, f"/runs/new/?rerun={run.pk}&only=failures")

    assert 'name="follow_up" value="failures"' in page
    assert 'value="bad" checked' in page and 'value="good" checked' not in page
    assert "never given to the gate" in page


def test_a_filter_without_an_outcome_makes_no_follow_up(client_of_runner: Client, run: Run) -> None:
    by_status = form_of(client_of_runner, f"/runs/new/?rerun={run.pk}&only=filter&status=passed")
    by_tag = form_of(client_of_runner, f"/runs/new/?rerun={run.pk}&only=filter&order=status")

    assert 'name="follow_up" value="filter"' in by_status
    assert 'value="good" checked' in by_status
    assert 'name="follow_up"' not in by_tag


def test_a_follow_up_is_marked_and_linked_both_ways(client_of_runner: Client, run: Run) -> None:
    made = follow_up(client_of_runner, run)

    assert (made.follow_up, made.follows_id, made.total) == ("failures", run.pk, 1)
    assert "A follow-up: its scenarios were chosen by its failures." in form_of(client_of_runner, f"/runs/{made.pk}/")
    assert f'Followed up in <a href="/runs/{made.pk}/">' in form_of(client_of_runner, f"/runs/{run.pk}/")
    assert f'Follow-up of <a href="/runs/{run.pk}/">' in form_of(client_of_runner, f"/runs/{made.pk}/")
    assert '<span class="tag">follow-up</span>' in form_of(client_of_runner, "/runs/")


def test_a_follow_up_of_everything_is_none(client_of_runner: Client, run: Run) -> None:
    made = start(client_of_runner, run, follow_up="failures", follows=str(run.pk), repetitions="2")

    assert (made.follow_up, made.total) == ("", 4)


def test_a_follow_up_is_never_pooled_and_further_repetitions_of_everything_are(
    client_of_runner: Client, run: Run, team: Team
) -> None:
    follow_up(client_of_runner, run)
    start(client_of_runner, run, repetitions="2")

    (version,) = newest_versions(team=team, target_pk=run.version.target_id, suite_pk=run.revision.suite_id, limit=5)
    side = f"version:{run.version_id}"
    compared = compare_sides(team=team, baseline=side, candidate=side)

    assert (version.counts["passed"], version.counts["failed"]) == (3, 3)
    assert len(compared.candidate.runs) == 2
    assert sum(row.judgement.candidate.decided for row in compared.result.rows) == 6


def test_a_follow_up_stands_beside_the_row_of_its_version(client_of_runner: Client, run: Run) -> None:
    follow_up(client_of_runner, run)
    side = f"version:{run.version_id}"

    page = form_of(client_of_runner, f"/compare/?baseline={side}&candidate={side}&class=failing")

    assert "follow-up: 0 of 1" in page


def test_what_continues_a_follow_up_is_one_too(client_of_runner: Client, run: Run) -> None:
    made = follow_up(client_of_runner, run)

    client_of_runner.post(f"/runs/{made.pk}/retry/")

    assert Execution.objects.get(verb="retry").run.follow_up == "failures"


def test_the_gate_and_baselines_refuse_a_follow_up(client_of_runner: Client, run: Run, runner: User) -> None:
    made = follow_up(client_of_runner, run)

    answer = client_of_runner.get(f"/api/v1/gate?baseline=run:{run.pk}&candidate=run:{made.pk}")

    assert (answer.status_code, answer.json()["code"]) == (409, "follow_up")
    with pytest.raises(BaselineRefused, match="follow-up"):
        set_baseline(team=run.team, user=runner, run_pk=made.pk, name="production")


def test_the_api_takes_and_gives_what_chose_a_run(client_of_runner: Client, run: Run) -> None:
    body = {
        "target": "echo",
        "fingerprint": "one",
        "suite": f"revision:{run.revision_id}",
        "scenarios": ["bad"],
        "followUp": {"run": str(run.pk), "chosenBy": "broken"},
    }
    foreign = factories.stored(factories.make_team(), factories.report("F"))

    made = client_of_runner.post("/api/v1/runs", json.dumps(body), content_type="application/json")
    body["followUp"] = {"run": str(foreign.pk), "chosenBy": "broken"}
    refused = client_of_runner.post("/api/v1/runs", json.dumps(body), content_type="application/json")

    assert (made.status_code, made.json()["followUp"]) == (201, "broken")
    assert refused.status_code == 404


def test_a_retry_of_a_version_never_improves_it_and_is_marked_on_its_row(
    client_of_runner: Client, ask: Ask, team: Team, tmp_path: Any
) -> None:
    mended = tmp_path / "mended"
    run = executed(ask(scenario("flaky", {"answer": "no", "unless": str(mended)}), "never", max_failures=1))
    Run.objects.filter(pk=run.pk).update(status="interrupted")  # an attempt that did not come to its end counts too
    mended.touch()
    client_of_runner.post(f"/runs/{run.pk}/retry/")
    retry = executed(Execution.objects.get(verb="retry").run)
    side = f"version:{run.version_id}"

    (version,) = newest_versions(team=team, target_pk=run.version.target_id, suite_pk=run.revision.suite_id, limit=5)
    page = form_of(client_of_runner, f"/compare/?baseline={side}&candidate=run:{retry.pk}&class=failing")
    attempts = compare_sides(team=team, baseline=f"run:{run.pk}", candidate=f"run:{retry.pk}")

    assert (version.counts["passed"], version.counts["failed"]) == (1, 1)
    assert "1 passed on retry" in page and "baseline: 1 passed on retry" in page
    assert {str(row.change) for row in attempts.result.rows} == {"fixed", "gained"}
