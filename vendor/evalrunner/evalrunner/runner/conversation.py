"""The life of one case, from pending to its end."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Protocol

from evalrunner.adapters.base import OpenContext, SendContext
from evalrunner.assertions import EvaluationContext, Evaluators, evaluate_all, verdict
from evalrunner.cases import turn_id
from evalrunner.codes import (
    CANCELLED,
    CLEANUP_FAILED,
    EARLY_COMPLETION,
    EXTERNAL_WRITES_NOT_AUTHORIZED,
    SESSION_FAILED,
    TRANSPORT_FAILED,
)
from evalrunner.data import FreeData, freeze_object, thaw
from evalrunner.errors import OBSERVATION_INVALID, EvaluationError
from evalrunner.events import EventType
from evalrunner.models import (
    AssertionResult,
    CaseStatus,
    EvaluationCase,
    EvaluationStep,
    EvaluationTurn,
    ExpandedCase,
    TurnStatus,
    WritePolicy,
)
from evalrunner.runner.lanes import Operation, Outlasts
from evalrunner.runner.options import Limits
from evalrunner.runner.publisher import Halted, Publisher
from evalrunner.runner.signals import RunSignal

_WORST_FIRST: Final = (
    (TurnStatus.CANCELLED, CaseStatus.CANCELLED),
    (TurnStatus.ERROR, CaseStatus.ERROR),
    (TurnStatus.FAILED, CaseStatus.FAILED),
)


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of one turn that was carried through."""

    observation: FreeData
    checkpoint: FreeData | None
    stop: Any
    results: tuple[AssertionResult, ...]


class Host(Protocol):
    """The run that a conversation is part of."""

    run_id: str
    limits: Limits
    adapter: Any
    evaluators: Evaluators
    signal: RunSignal
    publisher: Publisher
    clock_s: Callable[[], float]

    def count_outcome(self, status: CaseStatus) -> None:
        """Note how a case ended."""

    def close_late(self, session: Any) -> Coroutine[Any, Any, None]:
        """Close a session that nobody waits for any more."""


class Conversation:
    """Works on one case; ``live`` is a life that a lane drives."""

    def __init__(self, run: Host, index: int, case: ExpandedCase, first: EvaluationCase) -> None:
        self._run, self._index, self._case = run, index, case
        self._thread_id = first.thread_id
        self._status = first.status
        self._turns = list(first.turns)
        self._results: tuple[AssertionResult, ...] = ()
        self._error_code: str | None = None
        self._skip_reason = first.skip_reason
        self._stopped_as: CaseStatus | None = None
        self._session: Any = None

    async def live(self) -> None:
        """Bring the case to its end and tell of every transition; ends early when nothing is published any more."""
        try:
            if not self._is_excluded():
                await self._hold()
            self._run.count_outcome(self._status)
            await self._publish(EventType.CASE_COMPLETED)
        except Halted:
            return

    # ------------------------------------------------------------------------------------------------------- the parts

    def _is_excluded(self) -> bool:
        scenario = self._case.scenario
        if scenario.skip_reason is not None:
            self._status, self._skip_reason = CaseStatus.SKIPPED, scenario.skip_reason
            return True
        if scenario.write_policy == WritePolicy.EXTERNAL and not self._run.limits.allow_external_writes:
            self._status, self._error_code = CaseStatus.BLOCKED, EXTERNAL_WRITES_NOT_AUTHORIZED
            return True
        return False

    async def _hold(self) -> None:
        self._status = CaseStatus.RUNNING
        halted: Halted | None = None
        try:
            await self._publish(EventType.CASE_STARTED)
            await self._converse()
        except Halted as error:
            halted = error
        await self._close()
        if halted is not None:
            raise halted

    async def _converse(self) -> None:
        try:
            await self._open()
            await self._take_turns()
            if self._stopped_as is None:
                await self._judge_end()
        except EvaluationError as error:
            self._error_code = error.code
            self._status = CaseStatus.CANCELLED if error.code == CANCELLED else CaseStatus.ERROR
        else:
            self._status = self._sum_up()

    async def _open(self) -> None:
        self._refuse_if_cancelled()
        run = self._run
        checkpoint = self._turns[-1].checkpoint if self._turns else None
        context = OpenContext(
            run.run_id,
            self._case.id,
            self._thread_id,
            self._case.scenario,
            None if checkpoint is None else thaw(checkpoint),
            run.signal,
        )
        try:
            opening = Operation(partial(_call, run.adapter.open, context), discard=run.close_late)
            self._session = await opening
        except EvaluationError:
            raise
        except Exception:  # isolation point: the adapter is foreign code
            raise EvaluationError(SESSION_FAILED) from None

    async def _take_turns(self) -> None:
        for step in self._case.steps[len(self._turns) :]:
            self._refuse_if_cancelled()
            if not await self._take_turn(step):
                break

    async def _take_turn(self, step: EvaluationStep) -> bool:
        """Send one step and tell of it; False if the conversation does not go on."""
        run = self._run
        context = SendContext(turn_id(self._thread_id, step.id), step.id, run.signal)
        answer: Answer | None = None
        code = None
        started_s = run.clock_s()
        try:
            answer = await Operation(partial(self._exchange, step, context))
        except EvaluationError as error:
            code = error.code
        except Exception:  # isolation point: the adapter is foreign code
            code = TRANSPORT_FAILED
        duration_ms = round((run.clock_s() - started_s) * 1000, 3)
        turn = _turn(step, context.turn_id, answer, code, duration_ms)
        self._turns.append(turn)
        self._heed_stop(answer)
        await self._publish(EventType.TURN_COMPLETED, step.id)
        return self._stopped_as is None and turn.status in (TurnStatus.PASSED, TurnStatus.FAILED)

    async def _exchange(self, step: EvaluationStep, context: SendContext) -> Answer:
        """Send, read and judge: all that one time limit covers. Runs in the lane's task."""
        answer = await _call(self._session.send, thaw(step.input), context)
        observation, checkpoint, stop = _read_answer(answer)
        results: tuple[AssertionResult, ...] = ()
        if step.assertions:
            evidence = EvaluationContext(observation, tuple(self._turns), None, self._run.signal)
            results = await evaluate_all(step.assertions, evidence, self._run.evaluators)
        return Answer(observation, checkpoint, stop, results)

    def _heed_stop(self, answer: Answer | None) -> None:
        if answer is None or answer.stop is None:
            return
        stop = answer.stop if isinstance(answer.stop, Mapping) else {}
        if stop.get("status") == "skipped":
            reason = stop.get("reason")
            self._stopped_as, self._skip_reason = CaseStatus.SKIPPED, reason if isinstance(reason, str) else None
        elif len(self._turns) < len(self._case.steps):
            self._stopped_as, self._error_code = CaseStatus.BLOCKED, EARLY_COMPLETION
        if self._stopped_as is not None:
            self._status = self._stopped_as

    async def _judge_end(self) -> None:
        """Evaluate the scenario's assertions, if the conversation came to its end."""
        observation = self._turns[-1].observation
        if len(self._turns) < len(self._case.steps) or observation is None:
            return
        self._refuse_if_cancelled()
        assertions = self._case.scenario.assertions
        if assertions:
            evidence = EvaluationContext(observation, tuple(self._turns), None, self._run.signal)
            self._results = await Operation(partial(evaluate_all, assertions, evidence, self._run.evaluators))

    def _sum_up(self) -> CaseStatus:
        statuses = {turn.status for turn in self._turns}
        for turn_status, status in _WORST_FIRST:
            if turn_status in statuses:
                return status
        return self._stopped_as or CaseStatus(verdict(self._results))

    async def _close(self) -> None:
        close = getattr(self._session, "close", None)
        if close is None:
            return
        try:
            await Operation(partial(_call, close), Outlasts.ABANDONMENT)
        except Exception:  # isolation point: the adapter is foreign code
            self._status, self._error_code = CaseStatus.ERROR, CLEANUP_FAILED

    # --------------------------------------------------------------------------------------------------------- helpers

    def _refuse_if_cancelled(self) -> None:
        if self._run.signal.is_set():
            raise EvaluationError(CANCELLED)

    async def _publish(self, type: EventType, step_id: str | None = None) -> None:
        if type is EventType.CASE_COMPLETED or self._run.publisher.is_observed:
            await self._run.publisher.publish(type, self._index, self._snapshot(), step_id)

    def _snapshot(self) -> EvaluationCase:
        case = self._case
        return EvaluationCase(
            case.id,
            case.scenario.id,
            case.scenario.name,
            case.repetition,
            case.variants,
            self._thread_id,
            self._status,
            tuple(self._turns),
            self._results,
            self._error_code,
            self._skip_reason,
        )


async def close_late(session: Any, timeout_s: float) -> None:
    """Close a session that nobody waits for any more; what comes of it is of no account."""
    close = getattr(session, "close", None)
    if close is None:
        return
    try:
        async with asyncio.timeout(timeout_s):
            await _call(close)
    except Exception:  # isolation point: the adapter is foreign code
        return


async def _call(function: Any, *arguments: Any) -> Any:
    """Call foreign code, which may be plain or async."""
    answer = function(*arguments)
    return await answer if inspect.isawaitable(answer) else answer


def _read_answer(answer: Any) -> tuple[FreeData, FreeData | None, Any]:
    """Take apart what ``send`` gave: observation, checkpoint, stop."""
    if answer is None:
        raise EvaluationError(TRANSPORT_FAILED)
    if not isinstance(answer, Mapping) or "observation" not in answer:
        raise EvaluationError(OBSERVATION_INVALID)
    observation = freeze_object(answer["observation"])
    checkpoint = freeze_object(answer["checkpoint"]) if "checkpoint" in answer else None
    return observation, checkpoint, answer.get("stop")


def _turn(step: EvaluationStep, id: str, answer: Answer | None, code: str | None, duration_ms: float) -> EvaluationTurn:
    if answer is None:
        status = TurnStatus.CANCELLED if code == CANCELLED else TurnStatus.ERROR
        return EvaluationTurn(step.id, id, step.input, status, duration_ms, error_code=code)
    status = verdict(answer.results)
    return EvaluationTurn(
        step.id, id, step.input, status, duration_ms, answer.observation, answer.results, None, answer.checkpoint
    )
