"""What a session and a model say to each other.

A ``Provider`` reaches the models of one kind; it opens one ``ModelSession`` for each session of the runtime, so that
whatever a provider counts or keeps belongs to that session alone.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

from evalrunner.data import JsonObject
from evalrunner.harness.runtime.config import Profile, Usage


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that the model asks for; ``tool_id`` is ours (``fs.read``), whatever was sent over the wire."""

    id: str
    tool_id: str
    arguments: JsonObject


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """A tool as the model is told of it; ``parameters`` is a JSON schema."""

    tool_id: str
    description: str
    parameters: JsonObject


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation; ``tool_call_id`` says which call a ``tool`` message answers."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One request: all messages so far, and the tools that may be called."""

    messages: Sequence[Message]
    tools: Sequence[ToolDefinition] = field(default=())


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of the answer's text."""

    text: str


@dataclass(frozen=True, slots=True)
class StreamStatus:
    """What a provider tells about its connection: waiting, trying again."""

    phase: str
    retrying: bool
    retry_attempt: int
    max_retries: int
    message: str


Chunk: TypeAlias = TextDelta | ToolCall | Usage | StreamStatus


class ModelSession(Protocol):
    """One conversation with a model."""

    def stream(self, request: ModelRequest) -> AsyncIterator[Chunk]:
        """Give the answer piece by piece; ModelError when the request fails. Cancelling ends it at once."""


class Provider(Protocol):
    """The models of one kind."""

    def open(self, profile: Profile) -> ModelSession:
        """Begin a conversation with the model of a profile."""

    async def close(self) -> None:
        """Release what all conversations share."""
