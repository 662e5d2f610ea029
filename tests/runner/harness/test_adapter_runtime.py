"""The same scenarios over any adapter of the runner core."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from evalrunner import EvaluationError
from evalrunner.adapters.base import OpenContext, SendContext
from evalrunner.adapters.command import CommandAdapter
from evalrunner.adapters.http import HttpAdapter
from evalrunner.harness import parse_scenarios
from evalrunner.harness.adapter_runtime import AdapterRuntime
from evalrunner.harness.rows import RowData
from evalrunner.harness.run import RunOptions, run_scenarios

from tests.runner.scripted_service import answer, serving

pytestmark = pytest.mark.asyncio


class Agent:
    """An adapter and its session in one; ``answers`` are given in turn, an exception among them is raised."""

    id = "test.agent"
    version = "1"

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.inputs: list[Any] = []
        self.contexts: list[OpenContext] = []
        self.tasks: set[Any] = set()

    async def open(self, context: OpenContext) -> Agent:
        self.contexts.append(context)
        self.tasks = {asyncio.current_task()}
        return self

    async def send(self, input: dict[str, Any], context: SendContext) -> Any:
        self.inputs.append(input)
        self.tasks.add(asyncio.current_task())
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        if answer is None:
            await asyncio.Event().wait()
        return answer

    async def close(self) -> None:
        self.tasks.add(asyncio.current_task())


def observed(**observation: Any) -> dict[str, Any]:
    return {"observation": observation}


async def run(
    adapter: Any, *, id: str = "a", prompt: str = "hello", limit_ms: int | None = None, **members: Any
) -> RowData:
    scenarios = parse_scenarios(json.dumps({"id": id, "prompt": prompt} | members))
    options = RunOptions(Path("/nowhere"), scenario_timeout_ms=limit_ms)
    [row] = await run_scenarios(scenarios, AdapterRuntime(adapter), options)
    return row


async def test_events_are_made_from_what_the_agent_observed() -> None:
    agent = Agent(
        observed(
            response={"message": "Two lamps."},
            toolCalls=[
                "search",
                {"name": "open", "error": "gone"},
                {"tool_id": "shut", "status": "failed"},
                {"tool": "x", "isError": True},
            ],
            usage={"inputTokens": 12, "outputTokens": 3, "cacheReadInputTokens": 4},
            context={"totalTokens": 90, "contextWindow": 4096},
        ),
        observed(messages=[{"content": "no"}, {"role": "assistant", "content": "Yes."}], usage=[{"prompt_tokens": 8}]),
    )

    row = await run(agent, turns=["really?"], expected={"event_types": ["ModelTokenDelta"], "max_turns": 2})

    assert agent.inputs == [{"text": "hello"}, {"text": "really?"}]
    assert row["event_types"] == [
        "SessionInitialized",
        "UserMessageAdded",
        "ToolInvocationStarted",
        "ToolInvocationCompleted",
        "ToolInvocationStarted",
        "ToolInvocationFailed",
        "ToolInvocationStarted",
        "ToolInvocationFailed",
        "ToolInvocationStarted",
        "ToolInvocationFailed",
        "ModelUsageRecorded",
        "ContextAssembled",
        "AssistantMessageCompleted",
        "UserMessageAdded",
        "ModelUsageRecorded",
        "AssistantMessageCompleted",
    ]
    assert (row["tool_invocations"], row["tool_failures"]) == (4, 3)
    assert row["trajectory_actions"] == ["search", "open", "shut", "x"]
    assert (row["context_input_tokens"], row["context_window"]) == (90, 4096)
    assert row["model_usage"] == {
        "request_count": 2,
        "input_tokens": 20,
        "output_tokens": 3,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 4,
    }
    assert row["assistant_response"] == "Yes."
    assert row["failures"] == ["missing event type: ModelTokenDelta"]


async def test_without_a_context_figure_its_limit_fails_by_rule() -> None:
    row = await run(Agent(observed(text="hi")), expected={"max_context_input_tokens": 10})

    assert row["failures"] == ["context input tokens unavailable"]
    assert "context_window" not in row


async def test_an_agent_with_events_of_its_own_is_taken_at_its_word() -> None:
    events: list[dict[str, Any]] = [
        {"event_type": "SessionInitialized", "payload": {}},
        {"event_type": "UserMessageAdded", "payload": {"type": "UserMessageAdded", "content": "hello"}},
        {"event_type": "Custom", "payload": {"type": "Custom", "self": 1, "event_type": "x"}},
        {"event_type": "ContextAssembled", "payload": {"usage": {"total_tokens": "many", "context_window": 10}}},
        {"event_type": "ModelUsageRecorded", "payload": {"input_tokens": "3", "output_tokens": 2}},
        {"event_type": "ToolInvocationStarted", "payload": {"tool_id": None}},
        {"event_type": "AssistantMessageCompleted", "payload": {"content": "from the event"}},
        {"event_type": "AssistantMessageCompleted", "payload": "odd"},
    ]

    row = await run(Agent(observed(text="not this", events=events)))

    own = [
        event["event_type"] for event in events if event["event_type"] not in ("SessionInitialized", "UserMessageAdded")
    ]
    assert row["event_types"] == ["SessionInitialized", "UserMessageAdded", *own]
    assert (row["assistant_response"], row["turns_count"], row["trajectory_actions"]) == ("", 2, [""])
    assert row["context_window"] == 10
    assert "context_input_tokens" not in row
    assert row["model_usage"]["input_tokens"] == 0


async def test_an_agent_that_says_nothing_gives_no_answer() -> None:
    row = await run(Agent(observed(status="done")), expected={"assistant_contains": [""]})

    assert row["failures"] == ["assistant response missing substring: "]
    assert "assistant_response" not in row


async def test_errors_keep_their_code_and_never_their_message() -> None:
    secret = RuntimeError("token sesame")

    row = await run(Agent(EvaluationError("AGENT_DOWN"), secret, {"observation": 3}, "odd"), turns=["b", "c", "d"])

    assert row["error"] == "AGENT_DOWN"
    assert row["failures"] == [
        "runtime error: AGENT_DOWN",
        "multi-turn error: EVALUATION_TRANSPORT_FAILED",
        "multi-turn error: EVALUATION_OBSERVATION_INVALID",
        "multi-turn error: EVALUATION_OBSERVATION_INVALID",
    ]


@pytest.mark.parametrize(
    ("fault", "code"), [(EvaluationError("NO_ROOM"), "NO_ROOM"), (RuntimeError("sesame"), "EVALUATION_SESSION_FAILED")]
)
async def test_a_session_that_does_not_open_leaves_a_bare_row(fault: Exception, code: str) -> None:
    class Shut(Agent):
        async def open(self, context: OpenContext) -> Agent:
            raise fault

    row = await run(Shut())

    assert row["failures"] == [f"the session cannot be opened: {code}"]
    assert row["elapsed_ms"] == 0


@pytest.mark.parametrize(
    ("status", "failures"),
    [
        ("completed", ["multi-turn error: the agent has ended the conversation"]),
        ("skipped", ["runtime error: skipped: not here", "multi-turn error: the agent has ended the conversation"]),
    ],
)
async def test_a_conversation_that_the_agent_ended_goes_on_no_more(status: str, failures: list[str]) -> None:
    agent = Agent(observed(text="bye") | {"stop": {"status": status, "reason": "not here"}})

    row = await run(agent, turns=["more"])

    assert row["failures"] == failures
    assert row["assistant_response"] == "bye"


async def test_the_agent_is_told_of_the_row_and_called_in_one_task() -> None:
    agent = Agent(observed(text="hi"))

    await run(
        agent, id="lamps", tags=["smoke"], profile="fast", sandbox_policy={"kind": "read_only"}, system_instructions="s"
    )

    [context] = agent.contexts
    assert (context.scenario.id, context.scenario.tags, context.scenario.write_policy) == (
        "lamps",
        ("smoke",),
        "read_only",
    )
    assert context.scenario.metadata == {
        "harness": {
            "profile": "fast",
            "approvalPolicy": "on_request",
            "sandboxPolicy": {"kind": "read_only"},
            "systemInstructions": "s",
            "seedPairs": 0,
        }
    }
    assert len(agent.tasks) == 1


async def test_a_turn_that_takes_too_long_is_ended_in_the_same_task() -> None:
    agent = Agent(observed(text="first"), None)

    row = await run(agent, turns=["slow"], limit_ms=200)

    assert row["error"] == "scenario timed out after 200 ms"
    assert (row["assistant_response"], row["event_types"][-1]) == ("first", "UserMessageAdded")
    assert agent.contexts[0].signal.is_set()
    assert len(agent.tasks) == 1


async def test_it_works_over_http_and_with_a_command() -> None:
    command = CommandAdapter([sys.executable, "-m", "evalrunner.examples.command_agent"])
    reply = answer({"observation": {"response": {"message": "Choose a product."}}})

    async with serving(turn=reply) as service:
        over_http = await run(HttpAdapter(service.url), prompt="Show available products")
    by_command = await run(command, prompt="Show available products", turns=["nonsense"])

    assert service.names() == ["open", "turn", "close"]
    assert over_http["assistant_response"] == by_command["assistant_response"] == "Choose a product."
    assert by_command["failures"] == ["multi-turn error: CATALOGUE_INPUT_UNKNOWN"]
