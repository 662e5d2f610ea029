"""The seam between the harness and whatever answers its scenarios.

The harness opens one session for each row and calls it from one asyncio task:

    runtime.start()                                   once, before the first row
      session = runtime.open(spec)                    HarnessError: the row becomes a bare row
        session.send(prompt) …                        TurnError: the turn failed, the session goes on
        session.events()                              at any time, also while ``send`` is under way
      session.close()                                 always
    runtime.close()                                   always

``open``, every ``send`` and ``close`` of a session are called in one task, so that task-bound resources may live as
long as the session; ``start`` and ``close`` of the runtime in another.

When the row's time is up, the harness takes ``events()``, calls ``cancel`` and then cancels that task as asyncio does
it; ``close`` follows in the task itself. Each has a few seconds. After ``close`` nothing of the session may run on: no
task, no child process.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from evalrunner.harness.policies import DEFAULT_APPROVAL, DEFAULT_SANDBOX, ApprovalPolicy, SandboxPolicy
from evalrunner.harness.runtime.events import Event


@dataclass(frozen=True, slots=True)
class SessionSpec:
    """What one session is opened for; policies belong to the session, not to the runtime.

    ``profile`` need not exist: then the session opens and its first turn fails. ``workspace`` is absolute.
    ``seed_pairs`` None or 0: no synthetic history.
    """

    profile: str
    workspace: Path
    scenario_id: str = ""
    approval_policy: ApprovalPolicy = DEFAULT_APPROVAL
    sandbox_policy: SandboxPolicy = DEFAULT_SANDBOX
    system_instructions: str | None = None
    seed_pairs: int | None = None
    tags: tuple[str, ...] = ()


class RuntimeSession(Protocol):
    """One conversation."""

    async def send(self, prompt: str) -> None:
        """Take one turn to its end; TurnError holds what went wrong. Cancelling the task ends the turn."""

    def events(self) -> Sequence[Event]:
        """Give all events recorded so far, in order; what was given is not changed by later ones."""

    def cancel(self, reason: str) -> None:
        """Say that the task of this session is about to be cancelled, and why; called from another task."""

    async def close(self) -> None:
        """Release what the session holds."""


class Runtime(Protocol):
    """What opens sessions."""

    def default_profile(self) -> str:
        """Name the profile of a row when neither the row nor the run names one."""

    async def start(self) -> None:
        """Prepare what all sessions share."""

    async def open(self, spec: SessionSpec) -> RuntimeSession:
        """Open a session; HarnessError when that is impossible."""

    async def close(self) -> None:
        """Release what all sessions share."""
