"""The form for a new run, for a target that runs scenario files."""

from pathlib import Path
from urllib.parse import urlencode

import pytest
from django.conf import LazySettings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from reports.domain.harness.options import HarnessOptions
from reports.domain.harness.suites import unknown_definition
from reports.domain.run_options import RunOptions
from reports.models import Execution, Run, Team, User
from reports.services.cancelling import request_cancel
from tests.execution.harness import Harness, scenario
from tests.factories import case, report, stored, suite

FORM = {"target": "assistant", "fingerprint": "v1", "suite": "offered:0", "early_alarm": "on", "start": "1"}


@pytest.fixture
def harness(tmp_path: Path, settings: LazySettings, team: Team, runner: User) -> Harness:
    made = Harness(tmp_path, settings, team, runner)
    made.write(scenario("a", tags=["smoke"]), scenario("b", tags=["slow"]))
    return made


def form(client: Client, **query: str) -> str:
    return client.get(f"{reverse('new-run')}?{urlencode(query)}").content.decode()


def test_it_offers_what_the_target_allows(client_of_runner: Client, harness: Harness) -> None:
    keys = 'profiles = ["scripted"]\napproval_policies = ["never"]\ntools = ["fs.write"]'
    harness.write(scenario(tags=["smoke"]), keys=keys)

    page = form(client_of_runner)

    assert '<option value="scripted" selected>' in page
    assert '<option value="fake"' not in page
    assert '<option value="never" selected>' in page and '<option value="always"' not in page
    assert 'name="exclude_tags" value="smoke"' in page
    assert "Beside reading, this target allows fs.write." in page
    assert "Time limit a row (ms)" in page


def test_what_is_chosen_becomes_the_request(client_of_runner: Client, harness: Harness) -> None:
    chosen = {"profile": "scripted", "approval_policy": "never", "sandbox_policy": "read_only"}

    response = client_of_runner.post(
        reverse("new-run"), FORM | chosen | {"tags": "smoke", "exclude_tags": "slow", "fail_fast": "on"}
    )

    execution = Execution.objects.get()
    assert response.status_code == 302
    options = RunOptions.from_data(execution.request)
    assert options.harness == HarnessOptions("scripted", "never", "read_only", ("slow",), True)
    assert execution.request["is_offered"] is True
    assert execution.run.format == "harness"
    request_cancel(team=harness.team, run_pk=execution.run_id, user=harness.user)
    page = client_of_runner.get(reverse("run", args=[execution.run_id])).content.decode()
    for words in ("Profile", "scripted", "Tags left out", "Fail fast"):
        assert words in page


def test_what_is_not_allowed_is_named_at_its_field(client_of_runner: Client, harness: Harness) -> None:
    response = client_of_runner.post(reverse("new-run"), FORM | {"sandbox_policy": "danger_full_access"})

    page = response.content.decode()
    assert response.status_code == 422
    assert page.index('id="faults-sandbox_policy"') < page.index("This target does not allow &#x27;danger_full_access")
    assert not Run.objects.exists()


def test_a_run_of_rows_is_never_split(client_of_runner: Client, harness: Harness) -> None:
    answer = client_of_runner.post(reverse("new-run"), FORM | {"shards": "2"})

    page = answer.content.decode()
    assert (answer.status_code, Run.objects.count()) == (422, 0)
    assert "Rows share a workspace: their run is not split. 1 to 1." in page
    assert "their run is not split into shards" in page.split('id="faults-shards"')[1].split("</div>")[0]


def test_a_scenario_file_can_be_brought_along_and_its_commands_are_told_of(
    client_of_runner: Client, harness: Harness
) -> None:
    harness.write(scenario(), keys="post_run_commands = true")
    brought = harness.text(scenario("own", expected={"post_run_commands": [{"program": "true"}]}))
    upload = SimpleUploadedFile("own.jsonl", brought.encode())

    preview = client_of_runner.post(reverse("new-run"), FORM | {"preview": "1", "suite_file": upload})

    assert "never from one that was uploaded or stored" in preview.content.decode()
    assert "1 scenario × 1 repetition = 1 case" in preview.content.decode()


def test_a_broken_scenario_file_names_its_line(client_of_runner: Client, harness: Harness) -> None:
    upload = SimpleUploadedFile("own.jsonl", b'{"id": "a", "prompt": "b"}\n{"id": "c"}\n')

    response = client_of_runner.post(reverse("new-run"), FORM | {"suite_file": upload})

    assert response.status_code == 422
    assert "scenario parse error on line 2: missing field `prompt`" in response.content.decode()


def test_only_scenario_files_are_offered_and_to_this_kind_of_target_alone(
    client_of_runner: Client, harness: Harness
) -> None:
    """What another kind of target runs ends in a refusal, so it is no choice."""
    plain = f"revision:{stored(harness.team, report('P')).revision_id}"
    file = harness.upload(scenario("uploaded"))
    with (harness.folder / "targets.toml").open("a") as targets:
        targets.write('[[target]]\nname = "desk"\nkind = "http"\nurl = "http://127.0.0.1:9/"\n')
        targets.write('[target.fingerprint]\nfrom = "asked"\n')

    of_harness, of_desk = form(client_of_runner, target="assistant"), form(client_of_runner, target="desk")

    assert f'value="{file}"' in of_harness and f'value="{plain}"' not in of_harness
    assert f'value="{plain}" selected' in of_desk and f'value="{file}"' not in of_desk


def test_a_suite_chosen_for_another_kind_of_target_is_let_go(client_of_runner: Client, harness: Harness) -> None:
    plain = f"revision:{stored(harness.team, report('P')).revision_id}"
    sent = FORM | {"suite": plain, "shown": f"desk|{plain}"}

    page = client_of_runner.post(reverse("new-run-preview"), sent).content.decode()

    assert 'value="offered:0" selected' in page and plain not in page
    assert "This target runs scenario files" not in page


def test_a_suite_that_is_no_scenario_file_stays_in_sight_where_it_is_chosen(
    client_of_runner: Client, harness: Harness
) -> None:
    plain = f"revision:{stored(harness.team, report('P')).revision_id}"

    response = client_of_runner.post(reverse("new-run"), FORM | {"suite": plain})

    assert response.status_code == 422
    assert f'value="{plain}" selected' in response.content.decode()
    assert "This target runs scenario files" in response.content.decode()


def test_results_without_their_scenario_file_are_no_choice(client_of_runner: Client, harness: Harness) -> None:
    known = suite("a") | {"scenarios": [unknown_definition("a", "a")]}
    run = stored(harness.team, report(cases=[case(scenario_id="a")], suite=known))

    assert f"revision:{run.revision_id}" not in form(client_of_runner)


def test_a_rerun_chooses_the_targets_own_file_again(client_of_runner: Client, harness: Harness) -> None:
    offered = harness.ask(harness=HarnessOptions(profile="scripted"))
    brought = harness.ask(harness.upload(scenario("other")))

    again = form(client_of_runner, rerun=str(offered.pk))
    stored = form(client_of_runner, rerun=str(brought.pk))

    assert '<option value="offered:0" selected>' in again
    assert '<option value="scripted" selected>' in again
    assert f'<option value="revision:{brought.revision_id}" selected>' in stored


@pytest.mark.django_db(transaction=True)
def test_runs_of_the_harness_are_rerun_and_neither_resumed_nor_retried(
    client_of_runner: Client, harness: Harness
) -> None:
    harness.write(scenario(expected={"assistant_contains": ["never said"]}))
    run = harness.run()

    page = client_of_runner.get(reverse("run", args=[run.pk])).content.decode()
    asked = client_of_runner.get(reverse("continue-run", args=[run.pk, "retry"])).content.decode()

    assert "Rerun" in page and "Retry 1 failed case" not in page
    assert "share a workspace: rerun them instead" in asked
