"""The messages that an agent outside this process gets and gives, the same by HTTP and on a command's pipes.

``docs/connect-an-agent.md`` is the contract for whoever writes the agent. The agent learns which conversation it holds
and what is said in it, never the criteria it is judged by: of the scenario it gets id, name, tags, write policy and
metadata, but no steps to come and no assertions.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from evalrunner.adapters.base import OpenContext, SendContext, SendResult
from evalrunner.codes import CANCELLED
from evalrunner.data import Json, JsonObject, PlainObject
from evalrunner.errors import EvaluationError
from evalrunner.models import EvaluationScenario

PROTOCOL: Final = 1
RESERVED_PREFIX: Final = "EVALUATION_"
_is_code = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,159}").fullmatch
_TURN_MEMBERS: Final = frozenset({"observation", "checkpoint", "stop"})
_STOP_STATUSES: Final = frozenset({"skipped", "completed"})

T = TypeVar("T")


class AnswerError(Exception):
    """An answer is not what the contract asks; each transport turns it into a code of its own."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """The names under which one conversation goes in every message."""

    run_id: str
    case_id: str
    thread_id: str
    session_id: str | None = None

    def to_data(self) -> PlainObject:
        data: PlainObject = {"runId": self.run_id, "caseId": self.case_id, "threadId": self.thread_id}
        if self.session_id is not None:
            data["sessionId"] = self.session_id
        return data


def conversation_of(context: OpenContext) -> Conversation:
    return Conversation(context.run_id, context.case_id, context.thread_id)


def open_message(context: OpenContext) -> PlainObject:
    """Announce a conversation; with ``checkpoint`` it is to go on where an earlier one stood."""
    message: PlainObject = {"type": "open", "protocol": PROTOCOL}
    message |= conversation_of(context).to_data()
    message["scenario"] = _scenario_data(context.scenario)
    if context.checkpoint is not None:
        message["checkpoint"] = context.checkpoint
    return message


def _scenario_data(scenario: EvaluationScenario) -> PlainObject:
    data: PlainObject = {"id": scenario.id, "name": scenario.name, "writePolicy": str(scenario.write_policy)}
    data["tags"] = list(scenario.tags or ())
    data["metadata"] = {} if scenario.metadata is None else scenario.metadata
    return data


def turn_message(conversation: Conversation, input: JsonObject, context: SendContext) -> PlainObject:
    ids: PlainObject = {"turnId": context.turn_id, "stepId": context.step_id}
    return {"type": "turn"} | conversation.to_data() | ids | {"input": input}


def close_message(conversation: Conversation) -> PlainObject:
    return {"type": "close"} | conversation.to_data()


def encode(message: JsonObject) -> bytes:
    """Write a message as one line of ASCII, so that unpaired surrogates survive any encoding."""
    return json.dumps(message, allow_nan=False, separators=(",", ":")).encode("ascii")


def read_answer(answer: object) -> dict[str, Any]:
    """Check that an answer is an object; an ``error`` member raises EvaluationError with the code it names."""
    if not isinstance(answer, dict):
        raise AnswerError
    if "error" in answer:
        raise EvaluationError(_error_code(answer["error"]))
    return answer


def _error_code(error: object) -> str:
    """Give the code of an agent's error; its message, if any, may hold secrets and is dropped."""
    code = error.get("code") if isinstance(error, dict) else None
    if not isinstance(code, str) or not _is_code(code) or code.startswith(RESERVED_PREFIX):
        raise AnswerError
    return code


def read_turn(answer: object) -> SendResult:
    """Read the answer to a turn: ``observation`` and, if given, ``checkpoint`` and ``stop``; nothing else."""
    members = read_answer(answer)
    if not members.keys() <= _TURN_MEMBERS or not isinstance(members.get("observation"), dict):
        raise AnswerError
    result: SendResult = {"observation": members["observation"]}
    if members.get("checkpoint") is not None:
        result["checkpoint"] = _object(members["checkpoint"])
    if members.get("stop") is not None:
        result["stop"] = _stop(members["stop"])
    return result


def _object(value: object) -> dict[str, Json]:
    if not isinstance(value, dict):
        raise AnswerError
    return value


def _stop(value: object) -> Any:
    stop = _object(value)
    status, reason = stop.get("status"), stop.get("reason")
    if stop.keys() != {"status", "reason"} or not isinstance(status, str) or not isinstance(reason, str):
        raise AnswerError
    if status not in _STOP_STATUSES or not reason:
        raise AnswerError
    return stop


async def until_cancelled(work: Coroutine[Any, Any, T], signal: asyncio.Event) -> T:
    """Await ``work``, but end it and raise EVALUATION_CANCELLED as soon as ``signal`` is set.

    The runner stops waiting by itself; what this adds is that the request or the process ends then, too.
    """
    task = asyncio.ensure_future(work)
    watch = asyncio.ensure_future(signal.wait())
    try:
        await asyncio.wait({task, watch}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        raise EvaluationError(CANCELLED)
    finally:
        await _end(task, watch)


async def _end(*tasks: asyncio.Future[Any]) -> None:
    """Cancel what still runs and wait until it has cleaned up; its own outcome no longer matters."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
