"""A worker that is killed while it judges a run: the run can be ended afterwards, without any conversation anew."""

import html
from functools import partial
from pathlib import Path

import pytest
from django.test import Client
from evalrunner import parse_evaluation_report

from reports.models import Run, Team, User
from reports.services.tokens import create_token
from tests.execution.conftest import Ask, Start, has_ended, scenario, wait_until
from tests.execution.reports import counts_agree, report_of

pytestmark = pytest.mark.django_db(transaction=True)


def lines_of(file: Path) -> list[str]:
    return file.read_text().splitlines() if file.exists() else []


@pytest.mark.parametrize("shards", [1, 2])
def test_a_run_whose_worker_is_killed_while_it_judges_is_concluded_by_a_resume(
    ask: Ask, start_worker: Start, team: Team, runner: User, client_of_runner: Client, tmp_path: Path, shards: int
) -> None:
    notes, seen, hold = tmp_path / "notes", tmp_path / "seen", tmp_path / "hold"
    hold.touch()
    parameters = {"file": str(seen), "cases": 4, "hold": str(hold)}
    check = {"id": "all", "kind": "custom", "evaluator": "count", "parameters": parameters}
    scenarios = [scenario(f"case-{number}", {"note": str(notes)}) for number in range(4)]
    run = ask(*scenarios, target="counting", shards=shards, assertions=[check])
    victim = start_worker()
    wait_until(lambda: lines_of(seen) == ["4 passed"])

    victim.kill()
    hold.unlink()
    start_worker()
    wait_until(partial(has_ended, run))

    assert (run.status, run.passed, run.suite_assertions) == ("interrupted", 4, 0)
    page, form = (html.unescape(client_of_runner.get(f"/runs/{run.pk}/{rest}").text) for rest in ("", "resume/"))
    assert "Conclude the run" in page and "Conclude the run" in form
    assert "The run gets the end that it never had: its suite's assertions are evaluated." in form
    headers = {"Authorization": f"Bearer {create_token(team=team, maker=runner, scope='write', name='test')}"}
    answer = client_of_runner.post(f"/api/v1/runs/{run.pk}/resume", content_type="application/json", headers=headers)
    assert answer.status_code == 201
    resumed = Run.objects.get(pk=answer.json()["id"])
    wait_until(partial(has_ended, resumed))
    assert (resumed.status, resumed.passed, resumed.is_passing, resumed.suite_assertions) == ("completed", 4, True, 1)
    assert parse_evaluation_report(report_of(resumed)).resumed_from == run.run_id
    assert (len(lines_of(notes)), lines_of(seen)) == (4, ["4 passed"] * 2)
    wait_until(partial(counts_agree, resumed))
