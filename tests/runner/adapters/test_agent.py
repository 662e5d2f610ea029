"""The direct adapter: selections, what the agent is given, and what is observed of it."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from evalrunner import AgentEvaluationAdapter, EvaluationError, EventCollector, OpenContext, SendContext
from evalrunner.data import thaw
from evalrunner.suites import parse_evaluation_suite

from tests.runner.edge import SUITE, run_small
from tests.runner.replay import read_corpus, read_member

SCENARIO = parse_evaluation_suite(SUITE).scenarios[0]


class BlankIdError(Exception):
    """The agent's own rule: an interaction id is not blank."""


class RecordingAgent:
    """Publishes one checkpoint for each turn and notes what it was asked."""

    def __init__(self, checkpoints: Sequence[Any]) -> None:
        self._checkpoints = iter(checkpoints)
        self.asked: list[dict[str, Any]] = []

    async def run(self, *, thread_id: str, turn_id: str, text: str, selection: Any = None, signal: Any = None) -> Any:
        self.asked.append({"thread": thread_id, "turn": turn_id, "text": text, "selection": selection})
        if selection is not None and not selection["interactionId"].strip():
            raise BlankIdError
        result = {"threadId": thread_id, "turnId": turn_id, "response": {"message": "ok"}}
        return result | {"checkpoint": thaw(next(self._checkpoints))}


def context_of(turn: str) -> SendContext:
    return SendContext(turn, "step", asyncio.Event())


async def open_session(adapter: AgentEvaluationAdapter, checkpoint: Any = None) -> Any:
    return await adapter.open(OpenContext("run-1", "case-1", "thread-1", SCENARIO, checkpoint, asyncio.Event()))


def input_of(vector: dict[str, Any]) -> Any:
    if "generator" not in vector:
        return read_member(vector, "input")
    quoted, _, count = vector["generator"].partition(" repeated ")
    return {"text": quoted.split('"')[3] * int(count.split()[0])}


@pytest.mark.parametrize("vector", read_corpus("selection.json"), ids=lambda vector: vector["name"])
def test_inputs_and_selections_as_recorded(vector: dict[str, Any]) -> None:
    published = {"interaction": vector["previousInteraction"]} if "previousInteraction" in vector else {}
    final = (vector.get("agentReturns") or {}).get("checkpoint", {"interaction": None})
    is_by_turn = vector["previousVia"] == "turn"
    agent = RecordingAgent([published, final] if is_by_turn else [final])

    async def converse() -> Any:
        adapter = AgentEvaluationAdapter(agent, events=vector.get("recordedEvents"))
        session = await open_session(adapter, published if vector["previousVia"] == "checkpoint" else None)
        if is_by_turn:
            await session.send({"text": "first"}, context_of("turn-0"))
        return await session.send(input_of(vector), context_of("turn-1"))

    if not vector["ok"]:
        with pytest.raises((EvaluationError, BlankIdError)) as refused:
            asyncio.run(converse())
        assert getattr(refused.value, "code", "INVALID_IDENTIFIER") == vector["code"]
        return
    answer = asyncio.run(converse())
    received = {"thread": "thread-1", "turn": "turn-1", "text": input_of(vector)["text"]}
    assert agent.asked[-1] == received | {"selection": vector.get("agentReceives", {}).get("selection")}
    if "observation" in vector:
        assert answer["observation"] == vector["observation"]
        assert answer["checkpoint"] == vector["checkpoint"]


def test_only_events_of_the_thread_and_turn_are_observed() -> None:
    collector = EventCollector()
    for thread, turn in (("thread-1", "turn-1"), ("thread-1", "turn-0"), ("other", "turn-1")):
        collector({"type": "called", "threadId": thread, "turnId": turn})
    collector("no event at all")

    async def observe(events: Any) -> Any:
        session = await open_session(AgentEvaluationAdapter(RecordingAgent([{}]), events=events))
        return (await session.send({"text": "hi"}, context_of("turn-1")))["observation"]["events"]

    for source in (collector, lambda: collector.events, list(collector)):
        assert asyncio.run(observe(source)) == [{"type": "called", "threadId": "thread-1", "turnId": "turn-1"}]
    assert asyncio.run(observe(None)) == []


def test_an_interaction_cannot_be_changed_after_it_was_published() -> None:
    options = [{"id": "a", "label": "A"}]
    checkpoint = {"interaction": {"id": "pick", "options": options}}

    class KeepingAgent(RecordingAgent):
        async def run(self, **asked: Any) -> Any:
            result = await super().run(**asked)
            return result | {"checkpoint": checkpoint}

    agent = KeepingAgent([{}, {}])

    async def converse() -> None:
        session = await open_session(AgentEvaluationAdapter(agent))
        await session.send({"text": "hi"}, context_of("turn-0"))
        options[0]["id"] = "b"
        await session.send({"text": "A", "selection": {"optionLabel": "A"}}, context_of("turn-1"))

    asyncio.run(converse())

    assert agent.asked[1]["selection"] == {"interactionId": "pick", "optionId": "a"}


def test_a_continued_case_may_answer_the_interaction_of_its_checkpoint() -> None:
    steps = [
        {"id": "ask", "input": {"text": "Which?"}},
        {"id": "pick", "input": {"text": "That", "selection": {"optionIndex": 0}}},
    ]
    scenario = {"id": "talk", "name": "Talk", "writePolicy": "read_only", "steps": steps}
    suite = {"schemaVersion": 1, "id": "choice", "name": "Choice", "scenarios": [scenario]}
    choice = {"interaction": {"id": "pick", "options": [{"id": "a", "label": "A"}]}}

    async def run_twice() -> Any:
        cancel = asyncio.Event()
        adapter = AgentEvaluationAdapter(RecordingAgent([choice]), supports_resume=True)
        stop_at = {"turn.completed": cancel.set}
        first = await run_small(
            adapter, suite=suite, cancel=cancel, on_event=lambda event: stop_at.get(event.type, int)()
        )
        agent = RecordingAgent([{}])
        second = await run_small(
            AgentEvaluationAdapter(agent, supports_resume=True), suite=suite, resume=first.to_data()
        )
        return first.cases[0], second.cases[0], agent.asked

    first, second, asked = asyncio.run(run_twice())

    assert (first.status, len(first.turns)) == ("cancelled", 1)
    assert (second.status, second.thread_id) == ("passed", first.thread_id)
    assert asked[0]["selection"] == {"interactionId": "pick", "optionId": "a"}
