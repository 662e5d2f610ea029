"""Hooks of the configuration."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from evalrunner.harness.errors import ModelError
from evalrunner.harness.runtime.config import FakeStep, Hook
from evalrunner.harness.runtime.hooks import CommandHooks, fits

from tests.runner.harness.runtime.conversations import calling, configured, conversation, scripted, talk
from tests.runner.harness.runtime.processes import PATIENCE_S, is_alive, line_in

RECORDER = "(cat; echo) >> told.jsonl"


def all_hooks(command: str = RECORDER) -> str:
    events = ("SessionStart", "UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse", "Stop")
    return "".join(f"[hooks.{event}.own]\ncommand = '{command}'\n" for event in events)


def with_hooks(toml: str, *steps: FakeStep) -> Any:
    config = configured(toml)
    return replace(scripted(*steps), hooks=config.hooks, hooks_feature=config.hooks_feature)


def told_in(folder: Path) -> list[Any]:
    return [json.loads(line) for line in (folder / "told.jsonl").read_text().splitlines() if line]


@pytest.mark.asyncio
async def test_hooks_are_told_of_a_session_in_order_and_run_in_the_workspace(tmp_path: Path) -> None:
    step = calling("shell.exec", command="rm -f x")

    await talk(with_hooks(all_hooks(), step), tmp_path, "go", enable_hooks=True, approvals="allow")

    told = told_in(tmp_path)
    assert [(entry["event"], entry["matcher"]) for entry in told] == [
        ("SessionStart", "*"),
        ("UserPromptSubmit", "*"),
        ("PermissionRequest", "shell.exec"),
        ("PreToolUse", "shell.exec"),
        ("PostToolUse", "shell.exec"),
        ("Stop", "complete"),
    ]
    assert told[1]["payload"] == {"prompt": "go"}
    assert told[3]["payload"]["arguments"] == {"command": "rm -f x"}


@pytest.mark.asyncio
async def test_a_failed_turn_stops_as_failed(tmp_path: Path) -> None:
    with pytest.raises(ModelError):
        await talk(with_hooks(all_hooks(), FakeStep(error="no")), tmp_path, enable_hooks=True)

    assert told_in(tmp_path)[-1]["matcher"] == "failed"


@pytest.mark.asyncio
@pytest.mark.parametrize(("is_enabled", "feature"), [(False, ""), (True, "[features]\nhooks = false\n")])
async def test_hooks_run_only_when_enabled_on_both_sides(tmp_path: Path, is_enabled: bool, feature: str) -> None:
    await talk(with_hooks(all_hooks() + feature), tmp_path, enable_hooks=is_enabled)

    assert not (tmp_path / "told.jsonl").exists()


@pytest.mark.asyncio
async def test_a_failing_hook_is_a_warning_and_changes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told, _ = await talk(with_hooks(all_hooks("echo broken >&2; exit 3")), tmp_path, enable_hooks=True)

    assert told[-1][0] == "AgentTaskCompleted"
    assert "warning: hook Stop.own: exit code 3: broken\n" in capsys.readouterr().err


@pytest.mark.asyncio
async def test_a_hook_over_its_limit_is_killed_and_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hooks = CommandHooks([Hook("slow", "Stop", "echo $$ > pid; sleep 600", timeout_secs=2.0)], tmp_path)

    await hooks.fire("Stop", "complete", {})

    assert capsys.readouterr().err == "warning: hook Stop.slow: took longer than 2 s and was killed\n"
    assert not is_alive(int(await line_in(tmp_path / "pid")))


@pytest.mark.asyncio
async def test_fitting_hooks_run_at_the_same_time(tmp_path: Path) -> None:
    """Each waits for the other, so that one after the other would never end."""
    meet = "touch {mine}; until test -e {other}; do sleep 0.01; done"
    hooks = CommandHooks(
        [Hook("a", "Stop", meet.format(mine="a", other="b")), Hook("b", "Stop", meet.format(mine="b", other="a"))],
        tmp_path,
    )

    await asyncio.wait_for(hooks.fire("Stop", "complete", {}), PATIENCE_S)


@pytest.mark.asyncio
async def test_hooks_see_the_variables_that_the_host_gives_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SITE_SECRET", "s3cret")

    hooks = CommandHooks([Hook("a", "Stop", "echo $EXTRA-$SITE_SECRET > seen")], tmp_path, {"EXTRA": "1"})
    await hooks.fire("Stop", "complete", {})

    assert (tmp_path / "seen").read_text() == "1-\n"


@pytest.mark.asyncio
async def test_a_hook_of_a_cancelled_session_is_killed(tmp_path: Path) -> None:
    slow = "[hooks.UserPromptSubmit.slow]\ncommand = 'echo $$ > pid; sleep 600'\n"
    async with conversation(with_hooks(slow), tmp_path, enable_hooks=True) as session:
        task = asyncio.create_task(session.send("go"))
        pid = int(await line_in(tmp_path / "pid"))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    assert not is_alive(pid)


@pytest.mark.parametrize(
    ("matcher", "value", "is_fitting"),
    [
        ("*", "fs.read", True),
        ("", "fs.read", True),
        (" ", "fs.read", True),
        ("fs.read", "fs.read", True),
        ("fs.write | fs.read", "fs.read", True),
        ("fs.*", "fs.read", False),
        ("fs.rea", "fs.read", False),
    ],
)
def test_a_matcher_is_a_list_of_exact_values(matcher: str, value: str, is_fitting: bool) -> None:
    assert fits(Hook("a", "PreToolUse", "true", matcher), value) == is_fitting


@pytest.mark.asyncio
async def test_a_hook_that_is_switched_off_or_for_something_else_does_not_run(tmp_path: Path) -> None:
    hooks = CommandHooks(
        [Hook("off", "Stop", "touch ran", enabled=False), Hook("other", "Stop", "touch ran", "failed")], tmp_path
    )

    await hooks.fire("Stop", "complete", {})

    assert not (tmp_path / "ran").exists()
