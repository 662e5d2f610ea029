"""The seam between the runner and whatever holds a conversation.

An adapter opens one session for each case; ``open``, every ``send`` and ``close`` of a case are called in one asyncio
task, one after the other, so that task-bound resources (cancel scopes, clients) may live as long as the session. Each
call has the run's time limit. A call that is too slow, or still going when the run is cancelled, is cancelled as
asyncio does it; the runner does not wait long for code that ignores this, and a session that opens too late is closed
at once. Nothing is ever retried.

Raise ``EvaluationError(code)`` to put a code of your own into the report. Any other exception is recorded without its
message, which might hold secrets.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NotRequired, Protocol, TypedDict

from evalrunner.data import Json
from evalrunner.models import EvaluationScenario


@dataclass(frozen=True, slots=True)
class OpenContext:
    """What a session is opened for; ``checkpoint`` is the last turn's token when a case is continued, else None."""

    run_id: str
    case_id: str
    thread_id: str
    scenario: EvaluationScenario
    checkpoint: dict[str, Any] | None
    signal: asyncio.Event


@dataclass(frozen=True, slots=True)
class SendContext:
    """Which turn is being sent; ``turn_id`` depends on the thread and the step alone."""

    turn_id: str
    step_id: str
    signal: asyncio.Event


class Stop(TypedDict):
    """``skipped``: the case does not apply; ``completed``: the conversation ended by itself."""

    status: str
    reason: str


class SendResult(TypedDict):
    """The answer to a turn. ``observation`` is the evidence and ``checkpoint`` a token to resume from: JSON objects."""

    observation: Mapping[str, Json]
    checkpoint: NotRequired[Mapping[str, Json]]
    stop: NotRequired[Stop]


class EvaluationSession(Protocol):
    """One conversation. It may also have ``async close()``, which releases what the session holds."""

    async def send(self, input: dict[str, Any], context: SendContext, /) -> Any:
        """Submit one turn and give its ``SendResult``; ``input`` is a copy that may be changed."""


class EvaluationAdapter(Protocol):
    """Opens sessions. It may have ``supports_resume = True`` if ``open`` can restore a conversation exactly."""

    @property
    def id(self) -> str:
        """Name the transport contract."""

    @property
    def version(self) -> str:
        """Tell the version of the transport contract; it is part of a run's fingerprint."""

    async def open(self, context: OpenContext, /) -> Any:
        """Prepare the session (an ``EvaluationSession``) of one case."""
