"""One session of the local runtime: turns, model requests, tool calls, and the events of them all."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from evalrunner.data import Json
from evalrunner.harness.errors import ModelError, TurnError
from evalrunner.harness.runtime import compaction, events
from evalrunner.harness.runtime.base import SessionSpec
from evalrunner.harness.runtime.calls import CallRunner, Hooks
from evalrunner.harness.runtime.config import DEFAULT_THRESHOLD, Profile, Usage
from evalrunner.harness.runtime.events import Event, EventLog, new_id
from evalrunner.harness.runtime.model import (
    Message,
    ModelRequest,
    ModelSession,
    StreamStatus,
    TextDelta,
    ToolCall,
)
from evalrunner.harness.runtime.thinking import ThinkFilter

MOST_REQUESTS: Final = 100
NO_CLOSING_ANSWER: Final = "The tools have run, but the model gave no closing answer."
STOPPED: Final = f"[stopped after {MOST_REQUESTS} model requests]"
_TITLE_LENGTH: Final = 50
_CANCELLED: Final = "cancelled"


@dataclass(frozen=True, slots=True)
class Answer:
    """What one model request gave."""

    text: str
    calls: tuple[ToolCall, ...]


@dataclass(slots=True)
class LocalSession:
    """A conversation with one profile's model.

    ``profile`` is None when the spec names none that is enabled; then ``model`` is None too and every turn fails.
    ``sizes`` gives window and budget in any case.
    """

    spec: SessionSpec
    log: EventLog
    sizes: Profile
    model: ModelSession | None
    calls: CallRunner
    hooks: Hooks
    instructions: str | None = None
    compact_threshold: float = DEFAULT_THRESHOLD
    messages: list[Message] = field(default_factory=list)
    _reason: str = _CANCELLED
    _estimate: int = 0

    async def begin(self) -> None:
        """Record the session and its synthetic history."""
        self.log.add(events.SESSION_INITIALIZED, model_profile=self.spec.profile)
        texts = (self.instructions, self.spec.system_instructions)
        self.messages += [Message("system", text) for text in texts if text]
        for number in range(self.spec.seed_pairs or 0):
            self._add_user(f"seed user {number}")
            self._add_answer(f"seed assistant {number}")
        await self.hooks.fire("SessionStart", "*", {"session_id": self.log.session_id})

    def events(self) -> Sequence[Event]:
        return self.log.snapshot()

    def cancel(self, reason: str) -> None:
        self._reason = reason

    async def close(self) -> None:
        """Nothing runs between turns."""

    # ------------------------------------------------------------------------------------------------------ one turn

    async def send(self, prompt: str) -> None:
        """Take one turn; a cancelled one records that it was."""
        await self.hooks.fire("UserPromptSubmit", "*", {"prompt": prompt})
        root = self._ask(prompt)
        try:
            error = await self._answer()
        except TurnError as failure:
            self.log.add(events.TASK_FAILED, task_id=new_id("task"), error=str(failure))
            self.log.add(events.TASK_FAILED, task_id=root, error=str(failure))
            await self.hooks.fire("Stop", "failed", {"error": str(failure)})
            raise
        except asyncio.CancelledError:
            self.log.add(events.TASK_CANCELLED, task_id=root)
            self.log.add(events.SESSION_CANCELLED, reason=self._reason)
            raise
        await self._end_turn(root, error)

    async def _end_turn(self, root: str, error: str | None) -> None:
        if error is not None:
            self.log.add(events.TASK_FAILED, task_id=root, error=error)
            await self.hooks.fire("Stop", "failed", {"error": error})
            return
        self.log.add(events.TASK_COMPLETED, task_id=root)
        await self.hooks.fire("Stop", "complete", {})
        try:
            await self._compact()
        except asyncio.CancelledError:
            self.log.add(events.SESSION_CANCELLED, reason=self._reason)
            raise

    def _ask(self, prompt: str) -> str:
        """Record the message and what every turn begins with; gives the id of the root task."""
        self._add_user(prompt)
        self.log.add(events.CONTEXT_ASSEMBLED, usage=self._context())
        root = new_id("task")
        title = prompt if len(prompt) <= _TITLE_LENGTH else f"{prompt[:_TITLE_LENGTH]}..."
        self.log.add(events.TASK_CREATED, task_id=root, title=title, role="Planner", dependencies=[])
        self.log.add(events.TASK_STARTED, task_id=root)
        return root

    def _context(self) -> dict[str, Json]:
        total = self._estimate = estimate_context(self.log.snapshot())
        return {
            "total_tokens": total,
            "budget_tokens": self.sizes.budget,
            "context_window": self.sizes.context_window,
            "output_reservation": self.sizes.output_limit,
            "by_source": {"history": total},
            "estimator": "bytes_div_4",
            "corrected_by_real_usage": False,
        }

    async def _answer(self) -> str | None:
        """Ask the model until a request has no call; gives the error of a turn that ended with a stock text."""
        if self.model is None:
            raise TurnError(f"no enabled model profile named '{self.spec.profile}'")
        after_tools = False
        for _ in range(MOST_REQUESTS):
            answer = await self._request(self.model)
            if answer.text or answer.calls:
                self._keep(answer)
            if not answer.calls:
                return self._close(answer, after_tools)
            for call in answer.calls:
                self.messages.append(Message("tool", await self.calls.run(call), tool_call_id=call.id))
            after_tools = True
        self._add_answer(STOPPED)
        return STOPPED

    def _close(self, answer: Answer, after_tools: bool) -> str | None:
        if answer.text:
            return None
        if not after_tools:
            raise ModelError("empty answer")
        self._add_answer(NO_CLOSING_ANSWER)
        return NO_CLOSING_ANSWER

    # ---------------------------------------------------------------------------------------------------- compaction

    async def _compact(self) -> None:
        """Replace the older part of a history that is due for it; the events of the session all stay."""
        if self.compact_threshold >= compaction.SWITCHED_OFF:
            self.log.add(events.COMPACTION_SKIPPED, reason=compaction.THRESHOLD_DISABLED)
            return
        if not compaction.is_due(self._estimate, self.sizes.budget, self.compact_threshold, self.messages):
            return
        self.log.add(events.COMPACTION_STARTED, tokens=self._estimate, budget_tokens=self.sizes.budget)
        summary = compaction.STOCK_SUMMARY
        try:
            summary = await self._summarise()
        except ModelError as error:
            self.log.add(events.COMPACTION_FAILED, error=str(error))
        before = len(self.messages)
        self.messages[:] = compaction.compacted(self.messages, summary)
        self.log.add(events.COMPACTION_SUMMARY, message_id=new_id("msg"), content=summary)
        self.log.add(events.COMPACTION_COMPLETED, messages_before=before, messages_after=len(self.messages))

    async def _summarise(self) -> str:
        """Ask the model for a summary, outside of the conversation; ModelError, also for an empty one."""
        assert self.model is not None  # a turn has succeeded
        filter, text = ThinkFilter(), ""
        request = ModelRequest(compaction.summary_request(self.messages))
        async with contextlib.aclosing(self.model.stream(request)) as stream:  # type: ignore[type-var]  # a generator
            async for chunk in stream:
                text += filter.feed(chunk.text) if isinstance(chunk, TextDelta) else ""
        text = (text + filter.end()).strip()
        if not text:
            raise ModelError("empty summary")
        return text

    # --------------------------------------------------------------------------------------------------- one request

    async def _request(self, model: ModelSession) -> Answer:
        request = ModelRequest(tuple(self.messages), tuple(self.calls.definitions()))
        filter, text, calls, usages = ThinkFilter(), "", list[ToolCall](), list[Usage]()
        async with contextlib.aclosing(model.stream(request)) as stream:  # type: ignore[type-var]  # a generator
            async for chunk in stream:
                if isinstance(chunk, TextDelta):
                    text += self._show(filter.feed(chunk.text))
                elif isinstance(chunk, ToolCall):
                    calls.append(chunk)
                elif isinstance(chunk, Usage):
                    usages.append(chunk)
                else:
                    self._tell(chunk)
        text += self._show(filter.end())
        for call in calls:
            self.log.add(events.TOOL_CALL_REQUESTED, tool_call_id=call.id, tool_id=call.tool_id)
        for usage in usages:
            self._record(usage)
        return Answer(text.rstrip(), tuple(calls))

    def _show(self, text: str) -> str:
        if text:
            self.log.add(events.TOKEN_DELTA, delta=text)
        return text

    def _tell(self, status: StreamStatus) -> None:
        self.log.add(
            events.STREAM_STATUS,
            phase=status.phase,
            retrying=status.retrying,
            retry_attempt=status.retry_attempt,
            max_retries=status.max_retries,
            message=status.message,
        )

    def _record(self, usage: Usage) -> None:
        figures: dict[str, Json] = {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}
        if usage.cache_creation_input_tokens is not None:
            figures["cache_creation_input_tokens"] = usage.cache_creation_input_tokens
        if usage.cache_read_input_tokens is not None:
            figures["cache_read_input_tokens"] = usage.cache_read_input_tokens
        self.log.add(events.USAGE_RECORDED, model_profile=self.spec.profile, **figures)

    # ------------------------------------------------------------------------------------------------------ messages

    def _keep(self, answer: Answer) -> None:
        """Keep the model's message; only one with text is an answer."""
        self.messages.append(Message("assistant", answer.text, answer.calls))
        if answer.text:
            self._record_answer(answer.text)

    def _add_user(self, content: str) -> None:
        self.messages.append(Message("user", content))
        self.log.add(events.USER_MESSAGE_ADDED, message_id=new_id("msg"), content=content)

    def _add_answer(self, content: str) -> None:
        self.messages.append(Message("assistant", content))
        self._record_answer(content)

    def _record_answer(self, content: str) -> None:
        self.log.add(events.ASSISTANT_MESSAGE_COMPLETED, message_id=new_id("msg"), content=content)


def estimate_context(log: Sequence[Event]) -> int:
    """Estimate the tokens of a context: the bytes of each message and answer so far, by four, rounded up (SPEC 14)."""
    counted = (events.USER_MESSAGE_ADDED, events.ASSISTANT_MESSAGE_COMPLETED)
    contents = (event.payload["content"] for event in log if event.event_type in counted)
    return sum(-(-len(str(content).encode("utf-8", "surrogatepass")) // 4) for content in contents)
