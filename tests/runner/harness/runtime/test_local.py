"""The local runtime as a whole: a model behind a server, tools, policies, and what a row is made of."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from evalrunner.harness import parse_scenarios
from evalrunner.harness.errors import TurnError
from evalrunner.harness.run import RunOptions, run_scenarios
from evalrunner.harness.runtime.config import HarnessConfig, parse_config
from evalrunner.harness.runtime.local import LocalRuntime, RuntimeOptions

from tests.runner.harness.runtime.chat_server import call_delta, chat_server, delta, event, plain, streamed, text_answer
from tests.runner.harness.runtime.conversations import configured, conversation, scripted, types
from tests.runner.harness.runtime.processes import line_in, until_dead

pytestmark = pytest.mark.asyncio
PROGRAM = Path(__file__).with_name("mcp_program.py")


def chat_config(url: str, extra: str = "") -> HarnessConfig:
    profile = f'[profiles.chat]\nprovider = "local"\nmodel_id = "m"\nbase_url = "{url}"\napi_key = "sk-1"\n'
    return parse_config(f'instructions = "Be kind."\n{profile}{extra}')


async def rows_of(config: HarnessConfig, workspace: Path, scenarios: str, **options: Any) -> list[dict[str, Any]]:
    runtime = LocalRuntime(config, RuntimeOptions(workspace, **options))
    return [dict(row) for row in await run_scenarios(parse_scenarios(scenarios), runtime, RunOptions(workspace))]


async def test_a_model_behind_a_server_reads_a_file_and_answers(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("forty-two\n")
    usage = event({"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 2}})
    first = streamed(
        delta(content="<think>where?</think>Let me "),
        delta(content="look. "),
        call_delta(0, '{"path": "a.txt"}', id="c1", name="fs_read"),
        delta("tool_calls"),
        usage,
    )
    second = streamed(delta(content="It says forty-two."), delta("stop"), usage)

    async with chat_server(first, second) as server:
        [row] = await rows_of(
            chat_config(server.url),
            tmp_path,
            '{"id": "a", "prompt": "read", "profile": "chat", "system_instructions": "Be brief.",'
            ' "expected": {"assistant_contains": ["forty-two"], "trajectory_actions": ["fs.read"]}}',
        )

    assert row["passed"], row
    assert row["model_usage"]["input_tokens"] == 20
    assert [type_ for type_ in row["event_types"] if type_ in ("ModelTokenDelta", "AssistantMessageCompleted")] == [
        "ModelTokenDelta",
        "ModelTokenDelta",
        "AssistantMessageCompleted",
        "ModelTokenDelta",
        "AssistantMessageCompleted",
    ]
    assert [message["role"] for message in server.requests[0].body["messages"]] == ["system", "system", "user"]
    assert len(server.requests[0].body["tools"]) == 6
    told = server.requests[1].body["messages"][-2:]
    assert told[0]["content"] == "Let me look."
    assert told[1] == {"role": "tool", "content": "forty-two\n", "tool_call_id": "c1"}


async def test_an_error_of_the_server_is_the_error_of_the_row_and_the_next_one_runs(tmp_path: Path) -> None:
    row = '{"id": "a", "prompt": "x", "profile": "chat"}'

    async with chat_server(plain(b"broken", "500 No", "text/plain"), text_answer("fine")) as server:
        rows = await rows_of(chat_config(server.url), tmp_path, f"{row}\n{row}")

    assert [row.get("error") for row in rows] == ["model error: HTTP 500: broken", None]
    assert rows[0]["event_types"][-2:] == ["AgentTaskFailed", "AgentTaskFailed"]
    assert rows[1]["assistant_response"] == "fine"


@pytest.mark.parametrize("texts", [(), ("  \n",), ("<think>only thoughts</think>",)])
async def test_an_empty_or_blank_answer_is_an_error(tmp_path: Path, texts: tuple[str, ...]) -> None:
    async with chat_server(text_answer(*texts)) as server:
        [row] = await rows_of(chat_config(server.url), tmp_path, '{"id": "a", "prompt": "x", "profile": "chat"}')

    assert row["error"] == "model error: empty answer"


async def test_a_model_that_never_stops_calling_tools_is_stopped(tmp_path: Path) -> None:
    again = streamed(call_delta(0, "{}", name="fs_list"), delta("tool_calls"))

    async with chat_server(again) as server:
        [row] = await rows_of(chat_config(server.url), tmp_path, '{"id": "a", "prompt": "x", "profile": "chat"}')

    assert (len(server.requests), row["tool_invocations"]) == (100, 100)
    assert row["assistant_response"] == "[stopped after 100 model requests]"
    assert row["event_types"][-1] == "AgentTaskFailed"
    assert "error" not in row


async def test_a_trusted_server_answers_a_call_and_ends_with_the_run(tmp_path: Path) -> None:
    script = 'tool_calls = [{ tool_id = "mcp.tests.add", arguments = { a = 1, b = 2 } }]'
    config = parse_config(
        f"""
        [profiles.scripted]
        provider = "fake"
        model_id = "m"
        [[profiles.scripted.script]]
        {script}
        [mcp_servers.tests]
        type = "stdio"
        command = '{sys.executable}'
        args = ['{PROGRAM}', '{tmp_path}/notes']
        keep_alive = true
        trusted = true
        """
    )
    scenario = '{"id": "a", "prompt": "x", "profile": "scripted", "approval_policy": "never"}'

    [off] = await rows_of(config, tmp_path, scenario)
    assert not (tmp_path / "notes").exists()
    [on] = await rows_of(config, tmp_path, scenario, enable_mcp=True)

    assert "PermissionDenied" in off["event_types"]
    assert "ToolInvocationCompleted" in on["event_types"]
    await until_dead(int(await line_in(tmp_path / "notes")))


async def test_a_key_is_looked_up_where_the_host_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SITE_SECRET", "s3cret")
    async with chat_server(text_answer("x")) as server:
        profile = (
            f'[profiles.chat]\nprovider = "x"\nmodel_id = "m"\nbase_url = "{server.url}"\napi_key_env = "SITE_SECRET"'
        )
        scenario = '{"id": "a", "prompt": "x", "profile": "chat"}'
        await rows_of(configured(profile), tmp_path, scenario, variables={})
        await rows_of(configured(profile), tmp_path, scenario)

    assert [request.headers.get("authorization") for request in server.requests] == [None, "Bearer s3cret"]


async def test_an_unknown_profile_fails_its_turn(tmp_path: Path) -> None:
    async with conversation(scripted(), tmp_path, profile="ghost") as session:
        with pytest.raises(TurnError, match=r"^no enabled model profile named 'ghost'$"):
            await session.send("hello")

    assert types(session.events())[-2:] == ["AgentTaskFailed", "AgentTaskFailed"]


async def test_sessions_of_one_runtime_know_nothing_of_each_other(tmp_path: Path) -> None:
    async with chat_server(text_answer("x")) as server:
        row = '{"id": "a", "prompt": "x", "profile": "chat"}'
        await rows_of(chat_config(server.url), tmp_path, f"{row}\n{row}")

    assert server.requests[0].body == server.requests[1].body
