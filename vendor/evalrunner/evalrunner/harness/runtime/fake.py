"""The ``fake`` provider: needs no network and answers the same every time.

Step k of a profile's script answers the k-th request of a session, counted over all its turns; after the last step, and
without a script, the profile's response answers. A profile may also be told to add one tool call to the first request
of the whole run.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Final

from evalrunner.data import JsonObject
from evalrunner.harness.errors import ModelError
from evalrunner.harness.runtime.config import FAKE, FakeStep, HarnessConfig, Profile
from evalrunner.harness.runtime.model import Chunk, ModelRequest, ModelSession, TextDelta, ToolCall

FIRST_CALL_ID: Final = "call_fake_1"


@dataclass(frozen=True, slots=True)
class FirstCall:
    """The tool call that the profile named ``fake`` adds to the first request it gets in a run."""

    tool_id: str = "fs.list"
    arguments: JsonObject = field(default_factory=lambda: {"path": "."})


class FakeProvider:
    """Answers from profiles; ``first_call`` is requested once, by the profile named ``fake``."""

    def __init__(self, first_call: FirstCall | None = None) -> None:
        self._first_call = first_call

    def open(self, profile: Profile) -> ModelSession:
        return FakeSession(self, profile)

    async def close(self) -> None:
        """Hold nothing."""

    def take_first_call(self, profile: Profile) -> ToolCall | None:
        """Give the one call of the run to whoever asks first."""
        call = self._first_call
        if call is None or profile.name != FAKE:
            return None
        self._first_call = None
        return ToolCall(FIRST_CALL_ID, call.tool_id, call.arguments)


class FakeSession:
    """Counts the requests of one session."""

    def __init__(self, provider: FakeProvider, profile: Profile) -> None:
        self._provider, self._profile = provider, profile
        self._requests = 0

    async def stream(self, request: ModelRequest) -> AsyncIterator[Chunk]:
        number, self._requests = self._requests, self._requests + 1
        script = self._profile.script
        step = script[number] if number < len(script) else FakeStep(text=self._profile.response)
        async for chunk in _play(step, number):
            yield chunk
        if (call := self._provider.take_first_call(self._profile)) is not None:
            yield call


async def _play(step: FakeStep, number: int) -> AsyncIterator[Chunk]:
    if step.delay_ms:
        await asyncio.sleep(step.delay_ms / 1000)
    if step.text:
        yield TextDelta(step.text)
    if step.error is not None:
        raise ModelError(step.error)
    for position, call in enumerate(step.tool_calls):
        yield ToolCall(call.id or f"call_{number}_{position}", call.tool_id, call.arguments)
    if step.usage is not None and (step.text or step.tool_calls or step.usage.output_tokens):
        yield step.usage


def stock_fake(config: HarnessConfig) -> HarnessConfig:
    """Let the profile named ``fake`` answer with the stock sentence, whatever the configuration gives it."""
    profile = config.enabled_profile(FAKE)
    assert profile is not None
    return config.with_profile(Profile(FAKE, FAKE, FAKE, profile.context_window, profile.output_limit))
