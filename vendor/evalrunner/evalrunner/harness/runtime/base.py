"""The seam between the harness and whatever answers its scenarios.

The harness opens one session for each row and calls it from one asyncio task:

    runtime.start()                                   once, before the first row
      session = runtime.open(spec)                    HarnessError: the row becomes a bare row
        session.send(prompt) …                        TurnError: the turn failed, the session goes on
        session.events()                              at any time, also while ``send`` is under way
      session.close()                                 always
    runtime.close()                                   always

When the row's time is up, the harness takes ``events()``, then calls ``cancel`` from another task while ``send`` is
still waiting, then cancels the task of ``send`` itself, then calls ``close``. After ``close`` nothing of the session
may run on: no task, no child process.
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

    async def cancel(self, reason: str) -> None:
        """End a turn that is under way and wait until nothing of it runs; without one, do nothing."""

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
