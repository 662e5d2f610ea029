"""Reach an agent as a program: one process for each case, JSON lines on its standard input and output.

Contract: docs/connect-an-agent.md. No shell is involved. The program sees PATH, HOME, LANG, TMPDIR and the variables
that were named, nothing else of our environment. What it writes to standard error is thrown away unless the host asks
to see it; it never reaches a report. Whatever ends the conversation ends the program and all that it started.
"""

from __future__ import annotations

import asyncio
import contextlib
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from evalrunner.adapters import wire
from evalrunner.adapters.base import OpenContext, SendContext, SendResult
from evalrunner.adapters.processes import BASE_VARIABLES, NOT_STARTED, ProcessGroup, kill_all_groups
from evalrunner.data import JsonObject, PlainObject
from evalrunner.errors import AdapterSetupError, EvaluationError, JsonTextError
from evalrunner.jsontext import parse_json

__all__ = ["BASE_VARIABLES", "NOT_STARTED", "CommandAdapter", "CommandSession", "kill_all_groups"]

EXITED: Final = "COMMAND_EXITED"
LINE_TOO_LONG: Final = "COMMAND_LINE_TOO_LONG"
ANSWER_INVALID: Final = "COMMAND_ANSWER_INVALID"
MAX_LINE_BYTES: Final = 16 * 1024 * 1024

T = TypeVar("T")


@dataclass(frozen=True)
class CommandAdapter:
    """Evaluate the program ``argv``, started anew for each case.

    ``pass_environment`` names further variables that it may see; ``folder`` is where it starts (default: here).
    ``max_line_bytes`` bounds one answer. After the close message it has ``close_grace_s`` to end by itself, after TERM
    ``term_grace_s``. ``show_stderr`` hands its standard error to ours. ``supports_resume`` says that it can restore a
    conversation from the checkpoint it gave. AdapterSetupError when there is no such program.
    """

    argv: Sequence[str]
    pass_environment: Sequence[str] = ()
    folder: Path | None = None
    max_line_bytes: int = MAX_LINE_BYTES
    close_grace_s: float = 2.0
    term_grace_s: float = 2.0
    show_stderr: bool = False
    supports_resume: bool = False
    id: str = "evalrunner.command"
    version: str = "1"

    def __post_init__(self) -> None:
        if not self.argv or not self.argv[0]:
            raise AdapterSetupError("the command adapter needs a program to start")
        if shutil.which(self.argv[0]) is None and self.folder is None:
            raise AdapterSetupError(f"there is no program {self.argv[0]!r} that could be started")

    async def open(self, context: OpenContext) -> CommandSession:
        group = await ProcessGroup.start(
            self.argv,
            variables=self.pass_environment,
            folder=self.folder,
            max_line_bytes=self.max_line_bytes,
            term_grace_s=self.term_grace_s,
            show_stderr=self.show_stderr,
        )
        session = CommandSession(group, wire.conversation_of(context), self.close_grace_s)
        await session.begin(context)
        return session


class CommandSession:
    """One conversation with one process.

    Each message carries ``seq``, which its answer repeats: a line too many is found out instead of being taken for the
    next answer. Once an exchange has gone wrong the process is not asked again, since nobody knows what it would say.
    """

    def __init__(self, group: ProcessGroup, conversation: wire.Conversation, close_grace_s: float) -> None:
        self._group = group
        self._conversation = conversation
        self._close_grace_s = close_grace_s
        self._seq = 0
        self._usable = True

    async def begin(self, context: OpenContext) -> None:
        """Announce the conversation; a program that does not get through this is ended before the error is raised."""
        try:
            answer = await wire.until_cancelled(self._exchange(wire.open_message(context)), context.signal)
            if _checked(wire.read_answer, answer):
                raise EvaluationError(ANSWER_INVALID)
        except BaseException:
            await self._group.end()
            raise

    async def send(self, input: JsonObject, context: SendContext) -> SendResult:
        message = wire.turn_message(self._conversation, input, context)
        answer = await wire.until_cancelled(self._exchange(message), context.signal)
        return _checked(wire.read_turn, answer)

    async def close(self) -> None:
        """Say that the conversation is over, let the program end by itself, then end what is left of it.

        Raises the code that the program answers, if it answers with an error; merely ending is a fine answer.
        """
        try:
            if self._usable:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(self._close_grace_s):
                        await self._part()
        finally:
            await self._group.end()

    async def _part(self) -> None:
        try:
            await self._write(wire.close_message(self._conversation))
            self._group.stdin.close()
            line = await self._read_line()
        except EvaluationError:
            return  # it ended without a word
        _checked(wire.read_answer, self._answer(line))
        await self._group.wait()

    async def _exchange(self, message: PlainObject) -> dict[str, Any]:
        """Send one message and read its answer; without a sound answer the process is of no further use."""
        if not self._usable:
            raise EvaluationError(EXITED)
        self._usable = False
        await self._write(message)
        answer = self._answer(await self._read_line())
        self._usable = True
        return answer

    async def _write(self, message: PlainObject) -> None:
        self._seq += 1
        try:
            self._group.stdin.write(wire.encode(message | {"seq": self._seq}) + b"\n")
            await self._group.stdin.drain()
        except OSError:
            raise EvaluationError(EXITED) from None

    async def _read_line(self) -> bytes:
        try:
            line = await self._group.stdout.readline()
        except ValueError:  # what readline() makes of a line beyond the limit
            raise EvaluationError(LINE_TOO_LONG) from None
        if not line.endswith(b"\n"):
            raise EvaluationError(EXITED)
        return line

    def _answer(self, line: bytes) -> dict[str, Any]:
        """Read one line as the answer to the last message and take its ``seq`` off."""
        answer = _checked(parse_json, line)
        if not isinstance(answer, dict):
            raise EvaluationError(ANSWER_INVALID)
        seq = answer.pop("seq", None)
        if isinstance(seq, bool) or seq != self._seq:
            raise EvaluationError(ANSWER_INVALID)
        return answer


def _checked(read: Callable[[Any], T], value: object) -> T:
    try:
        return read(value)
    except (JsonTextError, wire.AnswerError):
        raise EvaluationError(ANSWER_INVALID) from None
