"""The life of a row and of a run."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest
from evalrunner.harness import ConfigError, HarnessError, TurnError, parse_scenarios
from evalrunner.harness import run as runs
from evalrunner.harness.policies import SandboxPolicy
from evalrunner.harness.rows import RowData, encode_rows
from evalrunner.harness.run import RunOptions, run_scenarios
from evalrunner.harness.scenarios import Scenario

from tests.runner.harness.scripted_runtime import Script, ScriptedRuntime, ScriptedSession, say_hello

pytestmark = pytest.mark.asyncio


def row(id: str = "a", prompt: str = "p", **members: Any) -> Scenario:
    [scenario] = parse_scenarios(json.dumps({"id": id, "prompt": prompt} | members))
    return scenario


async def run(
    *scenarios: Scenario, script: Script = say_hello, runtime: ScriptedRuntime | None = None, **options: Any
) -> list[RowData]:
    given = RunOptions(**{"workspace": Path("/nowhere")} | options)
    return await run_scenarios(scenarios, runtime or ScriptedRuntime(script), given)


async def test_a_row_is_written_with_its_keys_in_order() -> None:
    [result] = await run(row(turns=["q"]))

    assert list(result) == [
        "scenario_id",
        "profile",
        "passed",
        "elapsed_ms",
        "assistant_response",
        "event_types",
        "tool_invocations",
        "tool_failures",
        "turns_count",
        "trajectory_step_count",
    ]
    assert result["elapsed_ms"] >= 1
    assert (result["assistant_response"], result["turns_count"]) == ("hello q", 2)
    assert encode_rows([{"a": "é\u2028", "b": [1.0, None]}]) == '{"a":"é\u2028","b":[1.0,null]}\n'


async def test_profile_and_policies_of_the_row_come_before_those_of_the_run() -> None:
    runtime = ScriptedRuntime(say_hello)

    rows = await run(
        row(profile="own", approval_policy="always", sandbox_policy={"kind": "read_only"}, system_instructions="s"),
        row(),
        row(profile=""),
        runtime=runtime,
        profile="given",
        approval_policy="never",
        sandbox_policy=SandboxPolicy("danger_full_access"),
        seed_synthetic_pairs=2,
    )

    specs = [session.spec for session in runtime.sessions]
    assert [result["profile"] for result in rows] == ["own", "given", ""]
    assert [spec.approval_policy for spec in specs] == ["always", "never", "never"]
    assert [spec.sandbox_policy.kind for spec in specs] == ["read_only", "danger_full_access", "danger_full_access"]
    assert [spec.system_instructions for spec in specs] == ["s", None, None]
    assert {spec.seed_pairs for spec in specs} == {2}
    assert (await run(row()))[0]["profile"] == "default"


async def test_an_error_of_the_first_turn_is_the_error_of_the_row_and_the_rest_goes_on() -> None:
    async def script(session: ScriptedSession, prompt: str) -> None:
        if prompt != "third":
            raise TurnError(f"no {prompt}, busy")
        session.answer("at last")

    [result] = await run(row(prompt="first", turns=["third"], expected={"assistant_contains": ["x"]}), script=script)

    assert result["error"] == "no first, busy"
    assert result["failures"] == ["runtime error: no first, busy", "assistant response missing substring: x"]
    assert result["event_types"].count("UserMessageAdded") == 2


@pytest.mark.parametrize(("busy", "failures"), [(10, []), (11, ["multi-turn error: queue is busy"])])
async def test_a_later_turn_is_sent_again_while_the_runtime_is_busy(
    busy: int, failures: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "RETRY_AFTER_S", 0)
    attempts = []

    async def script(session: ScriptedSession, prompt: str) -> None:
        attempts.append(prompt)
        if prompt == "again" and attempts.count("again") <= busy:
            raise TurnError("queue is busy")

    [result] = await run(row(turns=["again"]), script=script)

    assert result.get("failures", []) == failures
    assert "error" not in result
    assert attempts.count("again") == 11


async def test_an_error_that_does_not_say_busy_is_not_retried() -> None:
    async def script(session: ScriptedSession, prompt: str) -> None:
        raise TurnError("broken")

    [result] = await run(row(turns=["again"]), script=script)

    assert result["failures"] == ["runtime error: broken", "multi-turn error: broken"]
    assert len(result["event_types"]) == 2


async def test_whatever_else_a_runtime_raises_is_an_error_of_the_turn() -> None:
    async def script(session: ScriptedSession, prompt: str) -> None:
        raise KeyError("x")

    [result] = await run(row(), script=script)

    assert result["failures"] == ["runtime error: KeyError: 'x'"]


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        (HarnessError("no session to be had"), "no session to be had"),
        (ConfigError("no such provider"), "config error: no such provider"),
        (ValueError("odd"), "the session cannot be opened: ValueError: odd"),
    ],
)
async def test_a_session_that_cannot_be_opened_leaves_a_bare_row(fault: Exception, text: str) -> None:
    rows = await run(row(), row(id="b"), runtime=ScriptedRuntime(say_hello, fault), include_trace=True)

    assert rows[0] == {
        "scenario_id": "a",
        "profile": "default",
        "passed": False,
        "failures": [text],
        "error": text,
        "elapsed_ms": 0,
        "event_types": [],
        "tool_invocations": 0,
        "tool_failures": 0,
        "turns_count": 0,
    }
    assert len(rows) == 2


async def test_an_invalid_pattern_hides_everything_else_of_its_row() -> None:
    expected = {"assistant_contains": ["missing"], "assistant_matches_regex": ["^hello", "(open"]}

    [result] = await run(row(expected=expected))

    assert result["failures"] == [result["error"]]
    assert result["error"].startswith("invalid regex `(open`: ")
    assert (result["elapsed_ms"], result["event_types"]) == (0, [])


async def test_fail_fast_stops_after_the_first_row_that_did_not_pass() -> None:
    failing = row(id="f", expected={"assistant_contains": ["x"]})

    rows = await run(row(), failing, row(), fail_fast=True)

    assert [result["scenario_id"] for result in rows] == ["a", "f"]
    assert len(await run(row(), failing, row())) == 3


async def test_a_row_whose_time_is_up_keeps_what_was_recorded_and_is_then_ended() -> None:
    async def script(session: ScriptedSession, prompt: str) -> None:
        session.answer("begun")
        if prompt == "slow":
            await asyncio.Event().wait()

    runtime = ScriptedRuntime(script)
    slow = row(prompt="slow", turns=["never sent"], expected={"assistant_contains": ["never judged"]})

    rows = await run(slow, row(), runtime=runtime, scenario_timeout_ms=200, include_trace=True)

    text = "scenario timed out after 200 ms"
    assert {key: rows[0][key] for key in ("failures", "error", "elapsed_ms", "event_types", "assistant_response")} == {
        "failures": [text],
        "error": text,
        "elapsed_ms": 200,
        "event_types": ["UserMessageAdded", "AssistantMessageCompleted"],
        "assistant_response": "begun",
    }
    assert [event["event_type"] for event in rows[0]["trace"]] == rows[0]["event_types"]
    assert rows[0]["trajectory_step_count"] == 0
    assert rows[1]["passed"]
    assert runtime.sessions[0].story == ["send slow", "cancel", "cancelled", "close"]
    assert runtime.sessions[1].story == ["send p", "close"]


async def test_the_limit_covers_opening_and_commands(tmp_path: Path) -> None:
    class SlowToOpen(ScriptedRuntime):
        async def open(self, spec: Any) -> Any:
            await asyncio.Event().wait()

    expected = {"post_run_commands": [{"program": "sh", "args": ["-c", "echo $$ > pid; exec sleep 60"]}]}
    options: dict[str, Any] = {"workspace": tmp_path, "scenario_timeout_ms": 500, "allow_post_run_commands": True}

    [unopened] = await run(row(), runtime=SlowToOpen(say_hello), **options)
    [commanded] = await run(row(expected=expected), **options)

    assert unopened["event_types"] == []
    assert unopened["failures"] == commanded["failures"] == ["scenario timed out after 500 ms"]
    assert commanded["assistant_response"] == "hello p"
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


async def test_a_session_that_ignores_its_end_holds_up_the_run_only_for_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(runs, "PATIENCE_S", 0.05)
    release = asyncio.Event()

    async def script(session: ScriptedSession, prompt: str) -> None:
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue

    [result] = await run(row(), script=script, scenario_timeout_ms=50)
    release.set()

    assert result["error"] == "scenario timed out after 50 ms"


async def test_events_that_come_late_are_waited_for_if_their_type_is_expected() -> None:
    background = []

    async def script(session: ScriptedSession, prompt: str) -> None:
        async def later() -> None:
            await asyncio.sleep(0.05)
            session.log.add("Late")

        session.answer("now")
        background.append(asyncio.create_task(later()))

    expected = {"event_types": ["Late"]}

    [waited] = await run(row(expected=expected), script=script, wait_timeout_ms=20_000)
    [not_waited] = await run(row(expected=expected), script=script)
    [in_vain] = await run(row(expected={"event_types": ["Never"]}), script=script, wait_timeout_ms=100)
    await asyncio.gather(*background)

    assert waited["passed"]
    assert waited["elapsed_ms"] < 1000
    assert not_waited["failures"] == ["missing event type: Late"]
    assert in_vain["event_types"][-1] == "Late"
    assert in_vain["failures"] == ["missing event type: Never"]


async def test_a_cancelled_run_ends_its_row_and_closes_everything() -> None:
    started = asyncio.Event()

    async def script(session: ScriptedSession, prompt: str) -> None:
        started.set()
        await asyncio.Event().wait()

    runtime = ScriptedRuntime(script)
    task = asyncio.create_task(run(row(), row(), runtime=runtime))
    await started.wait()

    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert [session.story for session in runtime.sessions] == [["send p", "cancel", "cancelled", "close"]]
    assert runtime.story == ["start", "close"]


async def test_an_observer_is_told_of_every_row() -> None:
    class Observer:
        def __init__(self) -> None:
            self.told: list[str] = []

        def row_started(self, index: int, scenario: Scenario) -> None:
            self.told.append(f"{index} {scenario.id}")

        def row_finished(self, index: int, row: RowData) -> None:
            self.told.append(f"{index} {row['scenario_id']} {row['passed']}")

    observer = Observer()

    await run_scenarios([row(), row(id="b")], ScriptedRuntime(say_hello), RunOptions(Path("/nowhere")), observer)

    assert observer.told == ["0 a", "0 a True", "1 b", "1 b True"]


async def test_events_in_a_trace_have_their_envelope() -> None:
    [result] = await run(row(), include_trace=True)

    first, second = result["trace"]
    assert first == {
        "schema_version": 1,
        "workspace_id": "wrk_test",
        "session_id": second["session_id"],
        "timestamp": first["timestamp"],
        "source_agent_id": "agent_system",
        "privacy": "full_trace",
        "event_type": "UserMessageAdded",
        "payload": {"type": "UserMessageAdded", "message_id": "m", "content": "p"},
    }
    assert first["session_id"].startswith("ses_")
    assert first["timestamp"] <= second["timestamp"]
    assert first["timestamp"].endswith("Z")
