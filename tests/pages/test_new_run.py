"""The form that starts a run."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from reports.models import Execution, Membership, Run, SuiteRevision, Team, User
from tests import factories
from tests.factories import stored

pytestmark = pytest.mark.django_db

FORM = "/runs/new/"
PREVIEW = "/runs/new/preview/"
TUTORIAL = {"target": "tutorial.catalogue", "fingerprint": "correct-selection", "suite": "offered:0"}
TARGETS = """
[[target]]
name = "asked"
kind = "http"
url = "http://127.0.0.1:9/agent"
external_writes = true
[target.fingerprint]
from = "asked"
[target.limits]
concurrency = 4
"""


@pytest.fixture
def asked_target(tmp_path: Path, settings: LazySettings) -> None:
    """A target whose version is asked for, in place of the tutorial."""
    path = tmp_path / "targets.toml"
    path.write_text(TARGETS)
    settings.TARGETS_FILE = str(path)


def upload(suite: object) -> SimpleUploadedFile:
    content = suite if isinstance(suite, bytes) else json.dumps(suite).encode()
    return SimpleUploadedFile("suite.json", content, "application/json")


def plan_of(page: bytes) -> str:
    found = re.search(rb'<p class="new-run__words">(.*?)</p>', page)
    return found.group(1).decode() if found else ""


def test_the_form_offers_the_tutorial_with_both_versions(client_of_runner: Client) -> None:
    page = client_of_runner.get(FORM).content

    assert b">correct-selection<" in page and b">wrong-selection<" in page
    assert plan_of(page) == "2 scenarios in 4 variants × 1 repetition = 4 cases, 6 turns"


def test_starting_the_tutorial_queues_a_run_and_shows_it(client_of_runner: Client, runner: User, team: Team) -> None:
    answer = client_of_runner.post(FORM, TUTORIAL | {"repetitions": "3", "scenarios": "choose-product"})

    run = Run.objects.get(team=team)
    assert (answer.status_code, answer["Location"]) == (302, f"/runs/{run.pk}/")
    assert (run.status, run.origin, run.created_by, run.version.fingerprint) == (
        "queued",
        "web",
        runner,
        "correct-selection",
    )
    assert run.execution.request["planned_cases"] == 6


def key_of(page: bytes) -> str:
    found = re.search(rb'name="key" value="(\w+)"', page)
    return found.group(1).decode() if found else ""


def test_a_double_click_starts_one_run(client_of_runner: Client) -> None:
    form = TUTORIAL | {"key": "a1b2"}

    first = client_of_runner.post(FORM, form)
    second = client_of_runner.post(FORM, form)

    assert first["Location"] == second["Location"]
    assert Execution.objects.count() == 1


def test_a_form_changed_after_it_started_a_run_is_asked_about_first(client_of_runner: Client) -> None:
    form = TUTORIAL | {"key": "a1b2"}
    first = client_of_runner.post(FORM, form)

    changed = client_of_runner.post(FORM, form | {"repetitions": "2"})

    page = changed.content.decode()
    assert (changed.status_code, Execution.objects.count()) == (409, 1)
    assert "Nothing was started now" in page and f'href="{first["Location"]}"' in page
    assert re.search(r'name="repetitions"[^>]*value="2"', page)
    again = client_of_runner.post(FORM, form | {"repetitions": "2", "key": key_of(changed.content)})
    assert again["Location"] != first["Location"] and Execution.objects.count() == 2


def test_a_form_that_was_refused_is_mended_and_sent_again(client_of_runner: Client) -> None:
    form = TUTORIAL | {"key": "a1b2"}
    refused = client_of_runner.post(FORM, form | {"repetitions": "0"})

    mended = client_of_runner.post(FORM, form | {"repetitions": "3", "key": key_of(refused.content)})

    assert (refused.status_code, mended.status_code) == (422, 302)
    assert Execution.objects.get().request["planned_cases"] == 12


def test_a_suite_brought_along_can_be_sent_twice(client_of_runner: Client, asked_target: None) -> None:
    form = {"target": "asked", "fingerprint": "abc", "key": "a1b2"}

    first = client_of_runner.post(FORM, form | {"suite_file": upload(factories.suite("one"))})
    second = client_of_runner.post(FORM, form | {"suite_file": upload(factories.suite("one"))})
    other = client_of_runner.post(FORM, form | {"suite_file": upload(factories.suite("two"))})

    assert first["Location"] == second["Location"] and other.status_code == 409
    assert Execution.objects.count() == 1


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("repetitions", "0"),
        ("repetitions", "101"),
        ("repetitions", "two"),
        ("concurrency", "33"),
        ("shards", "0"),
        ("shards", "65"),
        ("max_failures", "100001"),
        ("timeout_ms", "3600001"),
        ("max_cases", "100001"),
        ("concurrency", "-1"),
        ("timeout_ms", "1.5"),
    ],
)
def test_a_number_out_of_range_stands_at_its_field_with_the_runners_code(
    client_of_runner: Client, name: str, value: str
) -> None:
    answer = client_of_runner.post(FORM, TUTORIAL | {name: value})

    assert answer.status_code == 422
    place = re.search(rf'id="faults-{name}">(.*?)</div>', answer.content.decode())
    assert place is not None and "EVALUATION_OPTIONS_INVALID" in place.group(1)
    assert f'value="{value}"' in answer.content.decode()
    assert not Run.objects.exists()


def test_each_fault_is_shown_at_once(client_of_runner: Client) -> None:
    answer = client_of_runner.post(FORM, TUTORIAL | {"repetitions": "0", "concurrency": "99", "suite": "revision:77"})

    page = answer.content.decode()
    assert page.count("EVALUATION_OPTIONS_INVALID") == 2
    assert "EVALUATION_SUITE_INVALID" in page


@pytest.mark.parametrize(
    ("members", "code"),
    [
        ({"scenarios": "nowhere"}, "EVALUATION_SCENARIO_NOT_FOUND"),
        ({"tags": "no-such-tag"}, "EVALUATION_SELECTION_EMPTY"),
        ({"max_cases": "2"}, "EVALUATION_CASE_LIMIT"),
        ({"allow_external_writes": "on"}, "EXTERNAL_WRITES_NOT_AUTHORIZED"),
        ({"fingerprint": "third-version"}, "TARGET_UNUSABLE"),
        ({"target": "elsewhere"}, "TARGET_UNKNOWN"),
    ],
)
def test_what_cannot_run_is_refused_with_its_code(client_of_runner: Client, members: dict[str, str], code: str) -> None:
    answer = client_of_runner.post(FORM, TUTORIAL | members)

    assert answer.status_code == 422
    assert code in answer.content.decode()
    assert not Run.objects.exists()


def test_a_suite_brought_along_is_stored_and_run(client_of_runner: Client, team: Team, asked_target: None) -> None:
    form = {"target": "asked", "fingerprint": "abc", "suite_file": upload(factories.suite("one", "two"))}

    client_of_runner.post(FORM, form)

    run = Run.objects.get(team=team)
    assert run.revision == SuiteRevision.objects.get(suite__team=team)
    assert run.execution.request["planned_cases"] == 2


def test_a_faulty_suite_is_refused_with_its_places_and_not_stored(client_of_runner: Client, asked_target: None) -> None:
    suite = factories.suite("one", name="")

    answer = client_of_runner.post(FORM, {"target": "asked", "fingerprint": "abc", "suite_file": upload(suite)})

    page = answer.content.decode()
    assert answer.status_code == 422
    assert "EVALUATION_SUITE_INVALID" in page and "<bdi>name</bdi>" in page
    assert not SuiteRevision.objects.exists()


def test_a_file_that_is_no_json_is_refused_in_words(client_of_runner: Client, asked_target: None) -> None:
    answer = client_of_runner.post(
        FORM, {"target": "asked", "fingerprint": "abc", "suite_file": upload(b"\x89PNG\r\n")}
    )

    assert answer.status_code == 422
    assert "The file is not JSON" in answer.content.decode()


def test_the_target_asks_for_its_version_and_limits_its_options(client_of_runner: Client, asked_target: None) -> None:
    form = {"target": "asked", "concurrency": "5", "suite_file": upload(factories.suite("one"))}

    without = client_of_runner.post(FORM, form)
    form |= {"suite_file": upload(factories.suite("one")), "fingerprint": "abc"}
    beyond = client_of_runner.post(FORM, form)

    assert "Say which exact version" in without.content.decode()
    assert "TARGET_LIMIT_EXCEEDED" in beyond.content.decode()


def test_only_an_admin_may_authorise_external_writes(
    client_of_runner: Client, runner: User, team: Team, asked_target: None
) -> None:
    form = {"target": "asked", "fingerprint": "abc", "allow_external_writes": "on"}

    refused = client_of_runner.post(FORM, form | {"suite_file": upload(factories.suite("one"))})
    Membership.objects.filter(user=runner).update(role="admin")
    client_of_runner.post(FORM, form | {"suite_file": upload(factories.suite("one"))})

    assert "EXTERNAL_WRITES_NOT_AUTHORIZED" in refused.content.decode()
    assert Execution.objects.get().request["allow_external_writes"] is True


def test_the_preview_counts_what_is_chosen(client_of_runner: Client) -> None:
    form = TUTORIAL | {"shown": "tutorial.catalogue|offered:0", "repetitions": "3", "scenarios": ["choose-product"]}

    page = client_of_runner.post(PREVIEW, form).content

    assert plan_of(page) == "1 scenario in 2 variants × 3 repetitions = 6 cases, 12 turns"
    assert b"new-run-picks" not in page


def test_one_of_something_is_written_in_the_singular(client_of_runner: Client, team: Team) -> None:
    stored(team, factories.report("P"))

    assert re.search(r"· 1 scenario ·", client_of_runner.get(FORM).content.decode())


def test_the_preview_shows_other_choices_when_the_suite_changes(client_of_runner: Client, team: Team) -> None:
    client_of_runner.post(FORM, TUTORIAL | {"preview": "1", "suite_file": upload(factories.suite("alpha", "beta"))})
    revision = SuiteRevision.objects.get(suite__team=team)
    form = TUTORIAL | {"suite": f"revision:{revision.pk}", "shown": "tutorial.catalogue|offered:0"}

    page = client_of_runner.post(PREVIEW, form | {"scenarios": "choose-product"}).content

    assert plan_of(page) == "2 scenarios × 1 repetition = 2 cases, 2 turns"
    assert b'value="alpha"' in page and b"new-run-picks" in page


def test_a_tag_that_no_address_can_hold_can_be_chosen(client_of_runner: Client, asked_target: None) -> None:
    scenarios = [factories.scenario("odd", tags=["half \ud83d", "nul \0"]), factories.scenario("plain")]
    form = {"target": "asked", "fingerprint": "v1", "suite_file": upload(factories.suite(scenarios=scenarios))}
    page = client_of_runner.post(FORM, form | {"preview": "1"}).content.decode()
    value = re.search(r'name="tags" value="(half [^"]*)"', page)
    assert value is not None

    suite = f"revision:{SuiteRevision.objects.get().pk}"
    client_of_runner.post(FORM, {"target": "asked", "fingerprint": "v1", "suite": suite, "tags": value.group(1)})

    assert Execution.objects.get().request["planned_cases"] == 1


def test_without_script_a_button_shows_what_will_run(client_of_runner: Client) -> None:
    answer = client_of_runner.post(FORM, TUTORIAL | {"preview": "1", "repetitions": "2"})

    assert answer.status_code == 200
    assert plan_of(answer.content) == "2 scenarios in 4 variants × 2 repetitions = 8 cases, 12 turns"
    assert not Run.objects.exists()


def test_a_version_of_another_target_is_never_started(client_of_runner: Client, asked_target: None, team: Team) -> None:
    stored(team, factories.report("P"))
    suite = f"revision:{SuiteRevision.objects.get().pk}"
    shown_for_another = {
        "target": "asked",
        "fingerprint": "correct-selection",
        "suite": suite,
        "shown": f"other|{suite}",
    }

    answer = client_of_runner.post(FORM, shown_for_another | {"start": "1"})

    assert answer.status_code == 200 and b"you chose another target" in answer.content
    assert b"correct-selection" not in answer.content
    assert not Execution.objects.exists()


def test_scenarios_picked_from_another_suite_are_never_started(client_of_runner: Client, team: Team) -> None:
    stored(team, factories.report("P"))
    other = f"revision:{SuiteRevision.objects.get().pk}"
    form = TUTORIAL | {"shown": f"tutorial.catalogue|{other}", "tags": "catalogue"}

    answer = client_of_runner.post(FORM, form)

    assert b"you chose another suite" in answer.content and not Execution.objects.exists()
    assert client_of_runner.post(FORM, form | {"shown": "tutorial.catalogue|offered:0"}).status_code == 302


def test_rerun_fills_the_form_in_with_the_request_of_the_run(client_of_runner: Client) -> None:
    client_of_runner.post(
        FORM, TUTORIAL | {"fingerprint": "wrong-selection", "repetitions": "4", "scenarios": "choose-product"}
    )

    page = client_of_runner.get(f"{FORM}?rerun={Run.objects.get().pk}").content.decode()

    assert '<option value="wrong-selection" selected>' in page
    assert 'value="choose-product" checked' in page
    assert re.search(r'name="repetitions"[^>]*value="4"', page)


def test_the_address_of_a_rerun_may_choose_anew(client_of_runner: Client) -> None:
    client_of_runner.post(FORM, TUTORIAL | {"repetitions": "4", "scenarios": "choose-product"})

    address = f"{FORM}?rerun={Run.objects.get().pk}&scenarios=availability&repetitions=2&fingerprint=wrong-selection"
    page = client_of_runner.get(address).content

    assert plan_of(page) == "1 scenario in 2 variants × 2 repetitions = 4 cases, 4 turns"
    assert '<option value="wrong-selection" selected>' in page.decode()


def test_an_imported_run_is_repeated_with_its_suite_where_its_target_is_registered(
    client_of_runner: Client, team: Team, asked_target: None
) -> None:
    run = stored(team, factories.report("PPP", target={"id": "asked", "fingerprint": "v7"}))

    page = client_of_runner.get(f"{FORM}?rerun={run.pk}").content

    assert plan_of(page) == "1 scenario × 3 repetitions = 3 cases, 3 turns"
    assert b'value="v7"' in page and b"Filled in from an imported run of asked" in page


def test_an_imported_run_of_an_unknown_target_says_why_it_cannot_be_repeated(
    client_of_runner: Client, team: Team
) -> None:
    run = stored(team, factories.report("P"))

    page = client_of_runner.get(f"{FORM}?rerun={run.pk}").content.decode()

    assert "The target desk.agent is not registered on this site" in page
    assert "Desk conversations" in page


def test_a_viewer_may_not_start_runs(client_of_viewer: Client) -> None:
    assert client_of_viewer.get(FORM).status_code == 403
    assert client_of_viewer.post(FORM, TUTORIAL).status_code == 403


def test_a_run_of_another_team_cannot_be_repeated(client_of_runner: Client) -> None:
    client_of_runner.post(FORM, TUTORIAL)
    other = factories.make_member(factories.make_team(), "runner")
    client = Client()
    client.force_login(other)

    assert client.get(f"{FORM}?rerun={Run.objects.get().pk}").status_code == 404
    assert client.post(f"/runs/{Run.objects.get().pk}/cancel/").status_code == 404


def test_a_targets_file_with_faults_is_explained(
    client_of_runner: Client, tmp_path: Path, settings: LazySettings
) -> None:
    path = tmp_path / "targets.toml"
    path.write_text('[[target]]\nname = "x"\nkind = "ftp"\n')
    settings.TARGETS_FILE = str(path)

    page = client_of_runner.get(FORM).content.decode()

    assert "target.0.kind: must be one of python, http, command" in page


def test_cancelling_a_waiting_run_ends_it_at_once(client_of_runner: Client, runner: User) -> None:
    client_of_runner.post(FORM, TUTORIAL)
    run = Run.objects.get()

    answer = client_of_runner.post(f"/runs/{run.pk}/cancel/")

    run.refresh_from_db()
    assert (answer.status_code, run.status) == (302, "cancelled")
    assert run.execution.cancel_requested_by == runner


def earlier_run(team: Team, *scenario_ids: str) -> Run:
    cases = [factories.case(scenario_id=each, turns=[factories.turn(durationMs=60_000)]) for each in scenario_ids]
    made = factories.report(cases=cases, target={"id": "asked", "fingerprint": "v1"})
    return stored(team, made)


def test_the_estimate_says_from_which_earlier_runs_it_comes(
    client_of_runner: Client, team: Team, asked_target: None
) -> None:
    form = {"target": "asked", "fingerprint": "v2", "concurrency": "2", "repetitions": "2"}
    run = stored(team, factories.report(cases=[factories.case(scenario_id="a"), factories.case(scenario_id="b")]))
    form |= {"suite": f"revision:{run.revision_id}", "shown": f"asked|revision:{run.revision_id}"}
    unknown = client_of_runner.post(PREVIEW, form).content.decode()
    earlier_run(team, "a", "b")
    earlier_run(team, "a")

    both = client_of_runner.post(PREVIEW, form).content.decode()

    assert "No earlier run of this target tells how long it will take." in unknown
    assert "About 2 min, as these scenario variants took in 2 earlier runs." in both


def test_the_estimate_costs_the_same_whatever_ran_before(
    client_of_runner: Client, team: Team, asked_target: None, django_assert_max_num_queries: Any
) -> None:
    run = earlier_run(team, "a", "b")
    form = {"target": "asked", "fingerprint": "v2", "suite": f"revision:{run.revision_id}"}
    for _ in range(8):
        earlier_run(team, "a", "b")

    with django_assert_max_num_queries(10):
        page = client_of_runner.post(PREVIEW, form).content.decode()

    assert "About 2 min, as these scenario variants took in 5 earlier runs." in page
