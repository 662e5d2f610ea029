"""The events of a session: the only source of what a result row says about it.

The harness reads payloads only in ``evalrunner.harness.figures``; every other event matters by its type alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final
from uuid import uuid4

from evalrunner.data import Json, JsonObject, PlainObject, thaw

SCHEMA_VERSION: Final = 1
SOURCE: Final = "agent_system"
_LONG_AGO: Final = datetime.min.replace(tzinfo=UTC)

SESSION_INITIALIZED: Final = "SessionInitialized"
SESSION_CANCELLED: Final = "SessionCancelled"
USER_MESSAGE_ADDED: Final = "UserMessageAdded"
CONTEXT_ASSEMBLED: Final = "ContextAssembled"
ASSISTANT_MESSAGE_COMPLETED: Final = "AssistantMessageCompleted"
TASK_CREATED: Final = "AgentTaskCreated"
TASK_STARTED: Final = "AgentTaskStarted"
TASK_COMPLETED: Final = "AgentTaskCompleted"
TASK_FAILED: Final = "AgentTaskFailed"
TASK_CANCELLED: Final = "TaskCancelled"
TOKEN_DELTA: Final = "ModelTokenDelta"
TOOL_CALL_REQUESTED: Final = "ModelToolCallRequested"
USAGE_RECORDED: Final = "ModelUsageRecorded"
STREAM_STATUS: Final = "ModelStreamStatus"
PERMISSION_REQUESTED: Final = "PermissionRequested"
PERMISSION_GRANTED: Final = "PermissionGranted"
PERMISSION_DENIED: Final = "PermissionDenied"
TOOL_STARTED: Final = "ToolInvocationStarted"
TOOL_COMPLETED: Final = "ToolInvocationCompleted"
TOOL_FAILED: Final = "ToolInvocationFailed"
COMPACTION_STARTED: Final = "ContextCompactionStarted"
COMPACTION_SUMMARY: Final = "CompactionSummary"
COMPACTION_COMPLETED: Final = "ContextCompactionCompleted"
COMPACTION_FAILED: Final = "ContextCompactionFailed"
COMPACTION_SKIPPED: Final = "ContextCompactionSkipped"

# Events without content of the conversation; all others are ``full_trace``.
_MINIMAL: Final = frozenset(
    {
        SESSION_INITIALIZED,
        CONTEXT_ASSEMBLED,
        TASK_CREATED,
        TASK_STARTED,
        TASK_COMPLETED,
        TASK_FAILED,
        TASK_CANCELLED,
        COMPACTION_STARTED,
        COMPACTION_COMPLETED,
        COMPACTION_FAILED,
        COMPACTION_SKIPPED,
    }
)


@dataclass(frozen=True, slots=True)
class Event:
    """One event; ``payload`` has no ``type``, which ``to_data`` adds, and must not be changed."""

    event_type: str
    payload: JsonObject
    session_id: str
    workspace_id: str
    timestamp: str

    def to_data(self) -> PlainObject:
        """Give the event with its envelope, as ``trace`` shows it."""
        return {
            "schema_version": SCHEMA_VERSION,
            "workspace_id": self.workspace_id,
            "session_id": self.session_id,
            "timestamp": self.timestamp,
            "source_agent_id": SOURCE,
            "privacy": "minimal_trace" if self.event_type in _MINIMAL else "full_trace",
            "event_type": self.event_type,
            "payload": {"type": self.event_type, **thaw(self.payload)},
        }


def new_id(prefix: str) -> str:
    """Give an id that no other event, task or session has: ``{prefix}_`` and 32 hexadecimal digits."""
    return f"{prefix}_{uuid4().hex}"


def utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(slots=True)
class EventLog:
    """The events of one session, in order; they are only ever added. Timestamps never decrease."""

    workspace_id: str
    session_id: str = field(default_factory=lambda: new_id("ses"))
    now: Callable[[], datetime] = utc_now
    _events: list[Event] = field(default_factory=list)
    _latest: datetime = _LONG_AGO

    def add(self, event_type: str, /, **payload: Json) -> None:
        """Record an event; its payload belongs to the log from now on."""
        self._latest = max(self._latest, self.now())
        stamp = self._latest.isoformat(timespec="microseconds").replace("+00:00", "Z")
        self._events.append(Event(event_type, payload, self.session_id, self.workspace_id, stamp))

    def snapshot(self) -> tuple[Event, ...]:
        """Give the events recorded so far."""
        return tuple(self._events)
