"""The fake profile of the local runtime, and the configuration it comes from."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from evalrunner.harness.errors import ConfigError, HarnessSetupError, TurnError
from evalrunner.harness.runtime.base import SessionSpec
from evalrunner.harness.runtime.config import (
    HarnessConfig,
    Hook,
    McpServer,
    load_config,
    parse_config,
)
from evalrunner.harness.runtime.fake import FirstCall
from evalrunner.harness.runtime.local import LocalRuntime, RuntimeOptions
from evalrunner.harness.runtime.session import LocalSession

SCRIPT = """
[profiles.reader]
provider = "fake"
model_id = "scripted"
response = "That is all."
[[profiles.reader.script]]
text = "Reading."
tool_calls = [{ tool_id = "no.such", arguments = { path = "a" } }, { tool_id = "no.such", id = "mine" }]
usage = { input_tokens = 120, output_tokens = 8, cache_read_input_tokens = 40 }
[[profiles.reader.script]]
usage = { input_tokens = 5 }
[[profiles.reader.script]]
usage = { output_tokens = 1 }
"""


async def open_session(config: HarnessConfig, profile: str, first_call: FirstCall | None = None) -> LocalSession:
    runtime = LocalRuntime(config, RuntimeOptions(Path("/nowhere"), first_call=first_call))
    return await runtime.open(SessionSpec(profile, Path("/nowhere")))


def types(session: LocalSession) -> list[str]:
    return [event.event_type for event in session.events()]


def payloads(session: LocalSession, event_type: str) -> list[Any]:
    return [event.payload for event in session.events() if event.event_type == event_type]


@pytest.mark.asyncio
async def test_without_a_configuration_the_stock_sentence_is_said() -> None:
    session = await open_session(HarnessConfig(), "fake")

    await session.send("hi")

    assert [delta["delta"] for delta in payloads(session, "ModelTokenDelta")] == ["hello from Kairox"]
    [context] = payloads(session, "ContextAssembled")
    assert (context["usage"]["total_tokens"], context["usage"]["context_window"]) == (1, 4096)
    assert context["usage"]["budget_tokens"] == 4096 - (2048 + 2000)


@pytest.mark.asyncio
async def test_a_script_is_played_step_by_step_over_all_turns() -> None:
    session = await open_session(parse_config(SCRIPT), "reader")

    await session.send("one")
    with pytest.raises(TurnError, match="empty answer"):
        await session.send("two")
    await session.send("three")

    calls = payloads(session, "ModelToolCallRequested")
    assert [call["tool_call_id"] for call in calls] == ["call_0_0", "mine"]
    usages = payloads(session, "ModelUsageRecorded")
    assert [usage["output_tokens"] for usage in usages] == [8, 1]
    assert usages[0] == {
        "model_profile": "reader",
        "input_tokens": 120,
        "output_tokens": 8,
        "cache_read_input_tokens": 40,
    }
    answers = [answer["content"] for answer in payloads(session, "AssistantMessageCompleted")]
    assert (answers[0], answers[2]) == ("Reading.", "That is all.")
    assert answers[1].startswith("The tools have run")


@pytest.mark.asyncio
async def test_usage_without_text_and_calls_counts_only_with_output() -> None:
    config = parse_config(SCRIPT.replace('text = "Reading."', 'error = "down"'))
    session = await open_session(config, "reader")

    for _ in range(3):
        with pytest.raises(TurnError, match=r"model error: (down|empty answer)"):
            await session.send("go")

    assert [usage["output_tokens"] for usage in payloads(session, "ModelUsageRecorded")] == [1]


@pytest.mark.asyncio
async def test_the_first_call_is_made_once_in_a_run() -> None:
    config = parse_config('[profiles.fake]\nprovider = "chat"\nmodel_id = "m"\ncontext_window = 8000\noutput_limit = 9')
    runtime = LocalRuntime(config, RuntimeOptions(Path("/nowhere"), first_call=FirstCall("no.such", {"a": 1})))

    stories = []
    for _ in range(2):
        session = await runtime.open(SessionSpec("fake", Path("/nowhere")))
        await session.send("hi")
        stories.append(session)

    assert payloads(stories[0], "ModelToolCallRequested") == [{"tool_call_id": "call_fake_1", "tool_id": "no.such"}]
    assert len(payloads(stories[0], "AssistantMessageCompleted")) == 2
    assert payloads(stories[1], "ModelToolCallRequested") == []
    assert payloads(stories[1], "ContextAssembled")[0]["usage"]["context_window"] == 8000


def test_the_first_call_needs_an_enabled_profile_named_fake() -> None:
    config = parse_config('[profiles.fake]\nprovider = "fake"\nmodel_id = "m"\nenabled = false')

    with pytest.raises(HarnessSetupError, match="--fake-emit-tool-call needs an enabled profile named `fake`"):
        LocalRuntime(config, RuntimeOptions(Path("/nowhere"), first_call=FirstCall()))


@pytest.mark.asyncio
async def test_a_delay_ends_at_once_when_the_turn_is_cancelled() -> None:
    config = parse_config('[profiles.slow]\nprovider="fake"\nmodel_id="m"\n[[profiles.slow.script]]\ndelay_ms=600000')
    session = await open_session(config, "slow")
    turn = asyncio.create_task(session.send("hi"))
    while "AgentTaskStarted" not in types(session):  # noqa: ASYNC110 (a session tells nobody)
        await asyncio.sleep(0)

    session.cancel("time is up")
    turn.cancel()

    with pytest.raises(asyncio.CancelledError):
        await turn
    assert types(session)[-2:] == ["TaskCancelled", "SessionCancelled"]
    assert payloads(session, "SessionCancelled") == [{"reason": "time is up"}]


# ------------------------------------------------------------------------------------------------------ configuration


def test_profiles_of_the_file_replace_the_built_in_one_or_follow_it() -> None:
    config = parse_config(
        '[profiles.b]\nprovider="fake"\nmodel_id="m"\n[profiles.fake]\nprovider="fake"\nmodel_id="x"\nresponse="own"\n'
        '[profiles.chat]\nprovider="openai"\nmodel_id="gpt"\n'
    )

    assert [profile.name for profile in config.profiles] == ["fake", "b", "chat"]
    assert [(profile.context_window, profile.output_limit) for profile in config.profiles] == [
        (4096, 256),
        (4096, 256),
        (128_000, 16_384),
    ]
    assert config.profiles[0].response == "own"
    assert config.default_profile() == "fake"


@pytest.mark.parametrize(
    ("names", "default"),
    [
        (["a"], "a"),
        (["a", "local-code"], "local-code"),
        (["local-code", "fast"], "fast"),
        ([], "fake"),
    ],
)
def test_the_default_profile_is_fast_or_local_code_or_the_first(names: list[str], default: str) -> None:
    off = '[profiles.fake]\nprovider="fake"\nmodel_id="m"\nenabled=false\n'

    config = parse_config(off + "".join(f'[profiles.{name}]\nprovider="fake"\nmodel_id="m"\n' for name in names))

    assert config.default_profile() == default


def test_a_named_file_comes_before_those_of_the_workspace(tmp_path: Path) -> None:
    (tmp_path / ".kairox").mkdir()
    for name in ("evalrunner.toml", ".kairox/config.toml", "named.toml"):
        (tmp_path / name).write_text(f'instructions = "{name}"')

    assert load_config(tmp_path / "named.toml", tmp_path).instructions == "named.toml"
    assert load_config(None, tmp_path).instructions == ".kairox/config.toml"
    (tmp_path / ".kairox" / "config.toml").unlink()
    assert load_config(None, tmp_path).instructions == "evalrunner.toml"
    (tmp_path / "evalrunner.toml").unlink()
    assert load_config(None, tmp_path) == HarnessConfig()


def test_servers_and_hooks_are_read() -> None:
    config = parse_config(
        "[context]\nauto_compact_threshold = 1\n[features]\nhooks = false\n"
        '[mcp_servers.files]\ntype = "stdio"\ncommand = "serve"\nargs = ["-v"]\ntrusted = true\nkeep_alive = true\n'
        '[mcp_servers.web]\ntype = "streamable_http"\nurl = "http://x"\n'
        '[hooks.Stop.log]\ncommand = "log"\n'
        '[hooks.PreToolUse.guard]\ncommand = "g"\nmatcher = "fs.write"\ntimeout_secs = 5\n'
    )

    assert (config.auto_compact_threshold, config.hooks_feature) == (1.0, False)
    assert config.mcp_servers[0] == McpServer("files", "stdio", "serve", ("-v",), trusted=True, keep_alive=True)
    assert config.mcp_servers[1] == McpServer("web", "streamable_http", url="http://x")
    assert config.hooks == (Hook("log", "Stop", "log"), Hook("guard", "PreToolUse", "g", "fs.write", 5.0))


@pytest.mark.parametrize(
    "text",
    [
        "context = 1",
        "[context]\nauto_compact_threshold = nan",
        '[context]\nauto_compact_threshold = "x"',
        '[mcp_servers.a]\ntype = "pipe"',
        '[mcp_servers.a]\ntype = "stdio"',
        '[mcp_servers.a]\ntype = "sse"',
        "[hooks.Stop.a]\nmatcher = 'x'",
        "[features]\nhooks = 1",
        "[profiles.a]\nprovider='fake'\nmodel_id='m'\ncontext_window = -1",
        "[profiles.a]\nprovider='fake'\nmodel_id='m'\ncontext_window = true",
        "[profiles.a]\nprovider='fake'\nmodel_id='m'\nscript = [1]",
        "[profiles.a]\nprovider='fake'\nmodel_id='m'\nheaders = { a = 1 }",
        "[profiles.a]\nprovider='fake'\nmodel_id='m'\n[[profiles.a.script]]\ntool_calls = [{ arguments = {} }]",
        "[profiles.a]\nprovider='fake'\nmodel_id='m'\n[[profiles.a.script]]\ntool_calls=[{tool_id='a',arguments={a=12:30:00}}]",
    ],
)
def test_a_wrong_value_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="config error: "):
        parse_config(text)


def test_secrets_do_not_show() -> None:
    config = parse_config(
        "[profiles.a]\nprovider='x'\nmodel_id='m'\napi_key='sesame'\nheaders={K='sesame'}\n"
        "[mcp_servers.a]\ntype='sse'\nurl='u'\nenv={A='sesame'}\nheaders={B='sesame'}\n"
    )

    assert "sesame" not in repr(config)
