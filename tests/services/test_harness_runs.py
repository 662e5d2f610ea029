"""Scenario files that this site runs: what is stored of them, and what they are not allowed to do."""

import json
import os
import re
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.db import connection
from evalrunner import parse_evaluation_report
from evalrunner.harness.commands import NOT_ALLOWED

from reports.domain.harness.cases import case_of_row, row_of_case
from reports.domain.harness.options import HarnessOptions
from reports.domain.harness.suites import read_scenario_suite
from reports.domain.run_options import RequestRefused
from reports.models import Case, Run, Team, User
from reports.selectors.stored_reports import iter_stored_cases
from reports.services import harness_runs
from reports.services.cancelling import request_cancel
from reports.services.executing import execute_run
from reports.services.recount import recount_run
from reports.services.run_suites import store_suite
from reports.services.workspaces import remove_abandoned_folders
from tests.execution.harness import Harness, calling, scenario
from tests.execution.reports import report_of

pytestmark = pytest.mark.django_db(transaction=True)

SLOW = """
[profiles.slow]
provider = "fake"
model_id = "s"
[[profiles.slow.script]]
delay_ms = 60000
text = "late"
"""
CHANGING = 'tools = ["fs.write", "patch.apply", "shell.exec"]\n'
FREE = 'sandbox_policies = ["danger_full_access"]\napproval_policies = ["never"]\n'
ALLOWING = CHANGING + FREE


@pytest.fixture
def harness(tmp_path: Path, settings: LazySettings, team: Team, runner: User) -> Harness:
    return Harness(tmp_path, settings, team, runner)


def rows_of(run: Run) -> list[dict[str, Any]]:
    rows = (row_of_case(case.to_data()) for case in iter_stored_cases(run.generation_id))
    return [row for row in rows if row is not None]


def row_of(run: Run) -> dict[str, Any]:
    [row] = rows_of(run)
    return row


# -------------------------------------------------------------------------------------------------------------- results


def test_a_run_of_the_fake_profile_leaves_a_valid_report_with_its_rows(harness: Harness) -> None:
    hello, missing = {"assistant_contains": ["Kairox"]}, {"assistant_contains": ["Goodbye"]}
    harness.write(
        scenario("good", expected=hello, profile="fake"),
        scenario("bad", expected=missing, turns=["And?"], profile="fake"),
    )

    run = harness.run()

    assert (run.status, run.total, run.passed, run.failed, run.error) == ("completed", 2, 1, 1, 0)
    assert parse_evaluation_report(report_of(run)).suite.id == "rows"
    assert recount_run(run, repair=False) == ()
    good, bad = rows_of(run)
    assert (good["scenario_id"], good["passed"], good["assistant_response"]) == ("good", True, "hello from Kairox")
    assert bad["failures"] == ["assistant response missing substring: Goodbye"]
    failed = Case.objects.get(status="failed")
    assert failed.failing == "at the end: assistant response missing substring: Goodbye"
    assert [turn.step_id for turn in failed.turns.all()] == ["prompt", "turn-1"]


def test_progress_is_stored_row_by_row(harness: Harness) -> None:
    harness.write(*(scenario(str(number)) for number in range(3)))

    run = harness.run()

    events = list(run.events.order_by("sequence").values_list("type", "position"))
    rows = [(type, place) for place in range(3) for type in ("case.started", "case.completed")]
    assert events == [("run.started", None), *rows, ("run.completed", None)]


def test_tags_profile_and_policies_are_those_that_were_asked_for(harness: Harness) -> None:
    harness.write(
        scenario("a", tags=["smoke"]),
        scenario("b", tags=["smoke", "slow"]),
        scenario("c"),
        keys='profiles = ["scripted"]',
    )

    run = harness.run(harness=HarnessOptions("scripted", "never", "read_only", ("slow",)), tags=("smoke",))

    assert [row["scenario_id"] for row in rows_of(run)] == ["a"]
    assert row_of(run)["assistant_response"] == "All done."


def test_fail_fast_ends_after_the_first_row_that_did_not_pass(harness: Harness) -> None:
    bad = {"assistant_contains": ["never said"]}
    harness.write(scenario("a"), scenario("b", expected=bad), scenario("c"))

    run = harness.run(harness=HarnessOptions(fail_fast=True))

    assert (run.status, run.passed, run.failed, run.pending) == ("limited", 1, 1, 1)
    assert [row["scenario_id"] for row in rows_of(run)] == ["a", "b"]


def test_a_failure_limit_and_repetitions_hold_for_rows_too(harness: Harness) -> None:
    bad = {"assistant_contains": ["never said"]}
    harness.write(scenario("a", expected=bad), scenario("b", expected=bad))

    run = harness.run(repetitions=2, max_failures=3)

    assert (run.status, run.failed, run.pending) == ("limited", 3, 1)
    assert [case.repetition for case in Case.objects.order_by("position")] == [0, 1, 0, 1]


def test_the_time_limit_is_that_of_a_row(harness: Harness) -> None:
    harness.write(scenario(profile="slow"), config=SLOW)

    run = harness.run(timeout_ms=80)

    assert row_of(run)["error"] == "scenario timed out after 80 ms"
    assert Case.objects.get().error_code == "HARNESS_TIMED_OUT"


def test_rows_that_all_fail_in_their_turn_raise_the_early_alarm(harness: Harness) -> None:
    down = '[profiles.down]\nprovider = "fake"\nmodel_id = "s"\n[[profiles.down.script]]\nerror = "HTTP 500"\n'
    harness.write(*(scenario(str(number), profile="down") for number in range(8)), config=down)

    run = harness.run()

    assert (run.status, run.error, run.pending) == ("cancelled", 5, 3)
    assert run.execution.stop_reason == "stopped early: 5 of 5 ended in HARNESS_TURN_FAILED"


def test_cancelling_ends_the_row_under_way(harness: Harness) -> None:
    harness.write(scenario("a", profile="slow"), scenario("b"), config=SLOW)
    run = harness.ask()

    def cancel_once_it_runs() -> None:
        until = time.monotonic() + 20
        while not Case.objects.filter(status="running").exists() and time.monotonic() < until:
            time.sleep(0.05)
        request_cancel(team=harness.team, run_pk=run.pk, user=harness.user)
        connection.close()

    thread = threading.Thread(target=cancel_once_it_runs)
    thread.start()
    harness_run = executed(run)
    thread.join()

    assert (harness_run.status, harness_run.cancelled, harness_run.pending) == ("cancelled", 1, 1)
    assert parse_evaluation_report(report_of(harness_run)).status == "cancelled"


def executed(run: Run) -> Run:
    execute_run(run_pk=run.pk)
    return Run.objects.select_related("execution").get(pk=run.pk)


# ------------------------------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("options", "field"),
    [
        (HarnessOptions(profile="other"), "profile"),
        (HarnessOptions(approval_policy="sometimes"), "approval_policy"),
        (HarnessOptions(sandbox_policy="danger_full_access"), "sandbox_policy"),
        (HarnessOptions(exclude_tags=("smoke",)), "exclude_tags"),
    ],
)
def test_what_the_target_does_not_allow_is_refused(harness: Harness, options: HarnessOptions, field: str) -> None:
    harness.write(scenario(tags=["smoke"]))

    with pytest.raises(RequestRefused) as caught:
        harness.ask(harness=options)

    assert [refusal.field for refusal in caught.value.refusals] == [field]


@pytest.mark.parametrize(
    "members",
    [
        {"sandbox_policy": {"kind": "danger_full_access"}},
        {"sandbox_policy": {"kind": "workspace_write", "writable_roots": ["/"]}},
        {"approval_policy": "always"},
        {"profile": "other"},
    ],
)
def test_a_row_cannot_allow_itself_more_than_its_target(harness: Harness, members: dict[str, Any]) -> None:
    harness.write(scenario(), keys='approval_policies = ["never"]')

    with pytest.raises(RequestRefused, match="which this target does not allow"):
        harness.ask(harness.upload(scenario("greedy", **members)))


def test_what_is_not_allowed_any_more_rejects_a_queued_run(harness: Harness) -> None:
    harness.write(scenario(sandbox_policy={"kind": "workspace_write"}))
    run = harness.ask()
    harness.write(scenario(), keys='sandbox_policies = ["read_only"]')

    run = executed(run)

    assert (run.status, run.execution.error_code) == ("rejected", "TARGET_UNUSABLE")


def test_a_suite_that_shows_something_else_than_it_would_run_is_refused(harness: Harness) -> None:
    suite: dict[str, Any] = read_scenario_suite(json.dumps(scenario())).to_data()
    suite["scenarios"][0]["metadata"]["harness"]["scenario"]["prompt"] = "rm -rf"

    stored = store_suite(team=harness.team, content=json.dumps(suite).encode())
    with pytest.raises(RequestRefused, match="shows something else than the row that it would run"):
        harness.ask(f"revision:{stored.pk}")


# --------------------------------------------------------------------------------------------------------------- safety


def commanding(folder: Path) -> dict[str, Any]:
    return scenario(expected={"post_run_commands": [{"program": "touch", "args": [str(folder / "made")]}]})


@pytest.mark.parametrize(("keys", "may_run"), [("post_run_commands = true", True), ("", False)])
def test_commands_of_the_operators_file_run_where_the_target_says_so(
    harness: Harness, keys: str, may_run: bool
) -> None:
    harness.write(commanding(harness.folder), keys=keys)

    row = row_of(harness.run())

    assert (harness.folder / "made").exists() == may_run
    assert row.get("failures", []) == ([] if may_run else [NOT_ALLOWED])


def test_commands_of_an_uploaded_file_never_run(harness: Harness) -> None:
    harness.write(scenario(), keys="post_run_commands = true\n" + ALLOWING)

    row = row_of(harness.run(harness.upload(commanding(harness.folder))))

    assert row["failures"] == [NOT_ALLOWED]
    assert not (harness.folder / "made").exists()


def test_not_even_when_the_upload_is_the_operators_file_to_the_letter(harness: Harness) -> None:
    harness.write(commanding(harness.folder), keys="post_run_commands = true")

    row = row_of(harness.run(harness.upload(commanding(harness.folder))))

    assert row["failures"] == [NOT_ALLOWED]
    assert not (harness.folder / "made").exists()


def test_nor_when_the_operators_file_has_changed_since_the_request(harness: Harness) -> None:
    harness.write(commanding(harness.folder), keys="post_run_commands = true")
    run = harness.ask()
    harness.write(scenario("other"), keys="post_run_commands = true")

    assert row_of(executed(run))["failures"] == [NOT_ALLOWED]
    assert not (harness.folder / "made").exists()


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("shell.exec", {"command": "touch made"}),
        ("fs.write", {"path": "made", "content": "x"}),
        ("patch.apply", {"patch": "--- /dev/null\n+++ b/made\n@@ -0,0 +1 @@\n+x\n"}),
    ],
)
def test_tools_that_change_exist_only_where_the_target_says_so(
    harness: Harness, tool: str, arguments: dict[str, Any]
) -> None:
    made = scenario(profile="scripted", expected={"workspace_files": [{"path": "made"}], "max_tool_failures": 0})
    config = calling((tool, arguments))

    harness.write(made, config=config, keys=FREE)
    without = row_of(harness.run())
    harness.write(made, config=config, keys=ALLOWING)
    allowed = row_of(harness.run())

    assert "workspace file missing: made" in without["failures"]
    assert without["tool_failures"] == 1
    assert allowed["passed"], allowed


def test_child_processes_see_four_variables_and_those_that_the_target_lists(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("EVALSITE_SECRET_KEY", "DATABASE_URL", "OPENAI_API_KEY", "LD_PRELOAD_NOT", "SHOWN"):
        monkeypatch.setenv(name, "secret-value")
    command = {"program": "sh", "args": ["-c", "env | cut -d= -f1 | sort | tr '\\n' ' '; exit 7"]}
    harness.write(
        scenario(profile="scripted", expected={"post_run_commands": [command]}),
        config=calling(("shell.exec", {"command": "echo HOME=$HOME && env | cut -d= -f1"})),
        keys=ALLOWING + 'post_run_commands = true\nenvironment = ["SHOWN", "NOT_SET"]\n',
    )

    row = row_of(harness.run())

    [sentence] = row["failures"]
    names = set(sentence.split("stdout:\n")[1].split("\nstderr:")[0].split())
    assert names - {"_", "PWD", "SHLVL", "OLDPWD"} == {"PATH", "HOME", "LANG", "TMPDIR", "SHOWN"}
    output = next(each["payload"]["output_preview"] for each in row["trace"] if "output_preview" in each["payload"])
    assert set(re.findall(r"^(\w+)$", output, re.MULTILINE)) - {"_", "PWD", "SHLVL", "OLDPWD"} == {*names} - {
        "_",
        "PWD",
        "SHLVL",
        "OLDPWD",
    }
    [home] = re.findall(r"HOME=(\S+)", output)
    assert home != os.environ["HOME"]
    assert Path(home).is_relative_to(harness.data)


def test_a_configuration_in_the_workspace_is_never_read(harness: Harness) -> None:
    template = harness.folder / "template"
    evil = '[profiles.fake]\nprovider = "fake"\nmodel_id = "evil"\nresponse = "evil"\n'
    for path in (".kairox/config.toml", "evalrunner.toml"):
        (template / path).parent.mkdir(parents=True, exist_ok=True)
        (template / path).write_text(evil)
    harness.write(scenario(profile="fake"), keys='workspace = "template"')

    assert row_of(harness.run())["assistant_response"] == "hello from Kairox"


def test_each_run_gets_a_copy_of_the_workspace_and_leaves_nothing(harness: Harness) -> None:
    template = harness.folder / "template"
    (template / "deep").mkdir(parents=True)
    (template / "deep" / "notes.txt").write_text("kept")
    wanted = {"workspace_files": [{"path": "deep/notes.txt", "contains": ["kept"]}, {"path": "made"}]}
    harness.write(
        scenario(profile="scripted", expected=wanted),
        config=calling(
            ("fs.write", {"path": "made", "content": "x"}),
            ("shell.exec", {"command": "mkdir -p a/b && touch a/b/c && chmod 000 a/b && chmod 000 a"}),
        ),
        keys=ALLOWING + 'workspace = "template"\n',
    )

    assert row_of(harness.run())["passed"] and row_of(harness.run())["passed"]

    assert sorted(path.name for path in template.rglob("*")) == ["deep", "notes.txt"]
    assert list((harness.data / "workspaces").iterdir()) == []


@pytest.mark.parametrize(
    "path", ["../../../secret.txt", "{folder}/secret.txt", "link", "inside/../../secret.txt", "folder/secret.txt"]
)
def test_nothing_outside_of_the_workspace_is_read_or_written(harness: Harness, path: str) -> None:
    (harness.folder / "secret.txt").write_text("top secret")
    template = harness.folder / "template"
    template.mkdir()
    (template / "link").symlink_to(harness.folder / "secret.txt")
    (template / "folder").symlink_to(harness.folder, target_is_directory=True)
    path = path.format(folder=harness.folder)
    files = {"workspace_files": [{"path": path, "contains": ["top secret"]}]}
    harness.write(
        scenario(profile="scripted", expected=files),
        config=calling(("fs.read", {"path": path}), ("fs.write", {"path": path, "content": "overwritten"})),
        keys=ALLOWING + 'workspace = "template"\n',
    )

    row = row_of(harness.run())

    assert not row["passed"]
    assert "top secret" not in json.dumps({name: row[name] for name in row if name != "failures"})
    assert (harness.folder / "secret.txt").read_text() == "top secret"


def test_what_no_copy_can_be_made_of_is_left_out_of_the_workspace(harness: Harness) -> None:
    template = harness.folder / "template"
    template.mkdir()
    (template / "a.txt").write_text("A")
    os.mkfifo(template / "pipe")
    files = {"workspace_files": [{"path": "a.txt", "contains": ["A"]}, {"path": "pipe"}]}
    harness.write(scenario(expected=files), keys='workspace = "template"\n')

    assert row_of(harness.run())["failures"] == ["workspace file missing: pipe"]


def test_links_that_rows_make_lead_nowhere_either(harness: Harness) -> None:
    (harness.folder / "secret.txt").write_text("top secret")
    harness.write(
        scenario(profile="scripted", expected={"workspace_files": [{"path": "made"}]}),
        config=calling(
            ("shell.exec", {"command": f"ln -s {harness.folder}/secret.txt made; ln -s {harness.folder} out"}),
            ("fs.read", {"path": "made"}),
            ("fs.write", {"path": "out/new.txt", "content": "x"}),
        ),
        keys=ALLOWING,
    )

    row = row_of(harness.run())

    assert row["failures"] == ["workspace file `made` has invalid path: symbolic link leaves the workspace"]
    assert row["tool_failures"] == 2
    assert (harness.folder / "secret.txt").exists() and not (harness.folder / "new.txt").exists()


def test_what_a_killed_worker_left_is_removed_by_the_next_run(harness: Harness) -> None:
    left = harness.data / "workspaces" / "0e1d3c5a-0000-4000-8000-000000000000"
    (left / "workspace").mkdir(parents=True)
    outside = harness.folder / "outside"
    outside.mkdir()
    (harness.data / "workspaces" / "link").symlink_to(outside, target_is_directory=True)

    remove_abandoned_folders()

    assert list((harness.data / "workspaces").iterdir()) == []
    assert outside.is_dir()


def test_a_trace_beyond_the_bounds_of_a_report_is_left_out(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    def with_a_huge_trace(row: dict[str, Any], **known: Any) -> dict[str, Any]:
        return made(row | ({"trace": [0] * 500_001} if "trace" in row else {}), **known)

    made = case_of_row
    monkeypatch.setattr(harness_runs, "case_of_row", with_a_huge_trace)

    run = harness.run()

    assert run.status == "completed"
    assert "trace" not in row_of(run)
