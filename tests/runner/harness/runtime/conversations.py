"""Sessions of the local runtime in tests."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from evalrunner.harness.runtime.base import SessionSpec
from evalrunner.harness.runtime.config import FakeCall, FakeStep, HarnessConfig, Profile, parse_config
from evalrunner.harness.runtime.events import Event
from evalrunner.harness.runtime.local import LocalRuntime, RuntimeOptions
from evalrunner.harness.runtime.session import LocalSession

Told = tuple[str, dict[str, Any]]


def scripted(*steps: FakeStep, name: str = "scripted", **members: Any) -> HarnessConfig:
    """Give a configuration with one fake profile that answers by steps, then with ``Done.``"""
    given: dict[str, Any] = {
        "name": name,
        "provider": "fake",
        "model_id": "m",
        "context_window": 4096,
        "output_limit": 256,
        "response": "Done.",
        "script": steps,
    }
    return HarnessConfig().with_profile(Profile(**(given | members)))


def calling(tool_id: str, **arguments: Any) -> FakeStep:
    """Give a step that says a word and makes one call."""
    return FakeStep(text="Trying.", tool_calls=(FakeCall(tool_id, arguments, "c1"),))


def configured(text: str) -> HarnessConfig:
    return parse_config(text)


@asynccontextmanager
async def conversation(
    config: HarnessConfig,
    workspace: Path,
    *,
    profile: str = "scripted",
    spec: dict[str, Any] | None = None,
    **options: Any,
) -> AsyncIterator[LocalSession]:
    """Open a session of a runtime of its own."""
    runtime = LocalRuntime(config, RuntimeOptions(workspace, **options))
    await runtime.start()
    try:
        session = await runtime.open(SessionSpec(profile, workspace, **(spec or {})))
        yield session
        await session.close()
    finally:
        await runtime.close()


async def talk(
    config: HarnessConfig, workspace: Path, *prompts: str, **options: Any
) -> tuple[list[Told], LocalSession]:
    """Send messages (``go`` if there are none); gives all that was recorded, and the session."""
    async with conversation(config, workspace, **options) as session:
        for prompt in prompts or ("go",):
            await session.send(prompt)
    return [(event.event_type, dict(event.payload)) for event in session.events()], session


def types(events: Sequence[Event] | Sequence[Told]) -> list[str]:
    return [event.event_type if isinstance(event, Event) else event[0] for event in events]


def payload(told: Sequence[Told], event_type: str) -> dict[str, Any]:
    """Give the payload of the first event of a type."""
    return next(payload for name, payload in told if name == event_type)
