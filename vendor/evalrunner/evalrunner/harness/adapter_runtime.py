"""The harness over any ``EvaluationAdapter``: the same scenario file against an HTTP service, a command, an object.

Each message goes out as ``{"text": …}``. Profile, policies and system instructions are told in the scenario's metadata
under ``harness``; the agent may honour them, nobody enforces them. Events are made from the observations
(``evalrunner.harness.observations``), so an expectation that names an event the agent does not make fails by rule.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final

from evalrunner.adapters.base import EvaluationAdapter, OpenContext, SendContext
from evalrunner.codes import SESSION_FAILED, TRANSPORT_FAILED
from evalrunner.data import freeze_object
from evalrunner.errors import EvaluationError
from evalrunner.harness.errors import HarnessError, TurnError
from evalrunner.harness.observations import make_events, read_events
from evalrunner.harness.runtime import events
from evalrunner.harness.runtime.base import SessionSpec
from evalrunner.harness.runtime.events import Event, EventLog, new_id
from evalrunner.models import EvaluationScenario, WritePolicy

ENDED: Final = "the agent has ended the conversation"
_RECORDED_HERE: Final = (events.SESSION_INITIALIZED, events.USER_MESSAGE_ADDED)


class AdapterRuntime:
    """Opens sessions with an adapter. Its default profile is the adapter's id."""

    def __init__(self, adapter: EvaluationAdapter) -> None:
        self._adapter = adapter
        self._run_id = new_id("run")
        self._workspace_id = new_id("wrk")
        self._opened = 0

    def default_profile(self) -> str:
        return self._adapter.id

    async def start(self) -> None:
        """Nothing is shared."""

    async def open(self, spec: SessionSpec) -> AdapterSession:
        """Open a session of the adapter; HarnessError tells its code."""
        self._opened += 1
        case_id = f"row-{self._opened}"
        signal = asyncio.Event()
        context = OpenContext(self._run_id, case_id, f"{self._run_id}-{case_id}", _scenario(spec), None, signal)
        try:
            session = await self._adapter.open(context)
        except EvaluationError as error:
            raise HarnessError(f"the session cannot be opened: {error.code}") from error
        except Exception as error:  # the adapter's own code; its message might hold secrets
            raise HarnessError(f"the session cannot be opened: {SESSION_FAILED}") from error
        return AdapterSession(session, spec, EventLog(self._workspace_id), signal, case_id)

    async def close(self) -> None:
        """Nothing is shared."""


class AdapterSession:
    """One conversation with an adapter's agent, with the events that its observations yield."""

    def __init__(self, session: Any, spec: SessionSpec, log: EventLog, signal: asyncio.Event, case_id: str) -> None:
        self._session, self._spec, self._log, self._signal, self._case_id = session, spec, log, signal, case_id
        self._turns = 0
        self._has_ended = False
        log.add(events.SESSION_INITIALIZED, model_profile=spec.profile)

    async def send(self, prompt: str) -> None:
        """Take one turn; TurnError holds the adapter's code."""
        if self._has_ended:
            raise TurnError(ENDED)
        self._turns += 1
        self._log.add(events.USER_MESSAGE_ADDED, message_id=new_id("msg"), content=prompt)
        context = SendContext(f"{self._case_id}-turn-{self._turns}", f"turn-{self._turns}", self._signal)
        try:
            result = await self._session.send({"text": prompt}, context)
        except EvaluationError as error:
            raise TurnError(error.code) from error
        except Exception as error:  # the adapter's own code; its message might hold secrets
            raise TurnError(TRANSPORT_FAILED) from error
        self._record(_observation(result))
        self._take_stop(result.get("stop"))

    def events(self) -> Sequence[Event]:
        return self._log.snapshot()

    def cancel(self, reason: str) -> None:
        """Tell the adapter as the runner does; the task of ``send`` is cancelled next."""
        self._signal.set()

    async def close(self) -> None:
        close = getattr(self._session, "close", None)
        if close is not None:
            await close()

    def _record(self, observation: Mapping[str, Any]) -> None:
        made = read_events(observation)
        if made is None:
            made = list(make_events(observation, profile=self._spec.profile, prefix=f"call_{self._turns}"))
        for event_type, payload in made:
            if event_type not in _RECORDED_HERE:
                self._log.add(event_type, **payload)

    def _take_stop(self, stop: Mapping[str, Any] | None) -> None:
        if stop is None:
            return
        self._has_ended = True
        if stop.get("status") == "skipped":
            raise TurnError(f"skipped: {stop.get('reason')}")


def _observation(result: Any) -> Mapping[str, Any]:
    """Take the evidence of an answer; TurnError if it is no JSON object."""
    given = result.get("observation") if isinstance(result, Mapping) else None
    try:
        return freeze_object(given)
    except EvaluationError as error:
        raise TurnError(error.code) from error


def _scenario(spec: SessionSpec) -> EvaluationScenario:
    harness = {
        "profile": spec.profile,
        "approvalPolicy": spec.approval_policy,
        "sandboxPolicy": spec.sandbox_policy.to_data(),
        "systemInstructions": spec.system_instructions,
        "seedPairs": spec.seed_pairs or 0,
    }
    return EvaluationScenario(
        id=spec.scenario_id,
        name=spec.scenario_id,
        write_policy=WritePolicy.READ_ONLY if spec.sandbox_policy.kind == "read_only" else WritePolicy.EXTERNAL,
        steps=(),
        tags=spec.tags,
        metadata=freeze_object({"harness": harness}),
    )
