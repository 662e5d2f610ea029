"""The direct adapter: evaluates an agent that lives in this process."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, Protocol, TypeAlias

from evalrunner.adapters.base import OpenContext, SendContext, SendResult
from evalrunner.codes import AGENT_INPUT_INVALID, SELECTION_AMBIGUOUS, SELECTION_UNAVAILABLE
from evalrunner.data import freeze, whole_number
from evalrunner.errors import EvaluationError

MAX_TEXT: Final = 10_000
SELECTORS: Final = frozenset({"optionIndex", "optionLabel", "optionId"})

EventSource: TypeAlias = "Iterable[Any] | Callable[[], Iterable[Any]]"


class Agent(Protocol):
    """What the direct adapter talks to."""

    async def run(
        self,
        *,
        thread_id: str,
        turn_id: str,
        text: str,
        selection: Mapping[str, str] | None = None,
        signal: asyncio.Event | None = None,
    ) -> Mapping[str, Any]:
        """Take one turn of a thread and give its committed result: ``threadId``, ``turnId``, ``checkpoint`` and more.

        ``selection`` is ``{"interactionId", "optionId"}`` when the user chose an option of the preceding interaction,
        which the agent published as ``checkpoint.interaction``.
        """


class AgentEvaluationAdapter:
    """Opens sessions with an agent.

    ``events`` are the agent's recorded events: a collection, an ``EventCollector``, or a function that gives one.
    Set ``supports_resume`` only if the agent keeps its threads beyond an interruption.
    """

    id: Final = "intention-kernel.agent"
    version: Final = "1"

    def __init__(self, agent: Agent, events: EventSource | None = None, supports_resume: bool = False) -> None:
        self.supports_resume = supports_resume
        self._agent, self._events = agent, events

    async def open(self, context: OpenContext) -> AgentSession:
        """Begin or continue a thread; a checkpoint brings the interaction that the next turn may answer."""
        checkpoint = context.checkpoint
        interaction = checkpoint.get("interaction") if isinstance(checkpoint, Mapping) else None
        return AgentSession(self._agent, self._events, context.thread_id, interaction)


class AgentSession:
    """One thread. Inputs are ``{"text", "selection"?}``; a selection names an option by index, label or id."""

    def __init__(self, agent: Agent, events: EventSource | None, thread_id: str, interaction: object) -> None:
        self._agent, self._events, self._thread_id = agent, events, thread_id
        self._interaction = interaction

    async def send(self, input: Mapping[str, Any], context: SendContext) -> SendResult:
        """Take a turn. Raises EvaluationError for an input that is none, or a choice that cannot be made."""
        selector = _read_input(input)
        selection = None if selector is None else _choose(self._interaction, *selector)
        answer = self._agent.run(
            thread_id=self._thread_id,
            turn_id=context.turn_id,
            text=input["text"],
            selection=selection,
            signal=context.signal,
        )
        result = _data(await answer if inspect.isawaitable(answer) else answer)
        observation = {**result, "events": self._events_of(result)}
        checkpoint = result.get("checkpoint")
        interaction = checkpoint.get("interaction") if isinstance(checkpoint, Mapping) else None
        self._interaction = freeze(interaction)  # the agent may go on writing into what it gave
        return {"observation": observation, "checkpoint": {"interaction": self._interaction}}

    def _events_of(self, result: Mapping[str, Any]) -> list[Any]:
        thread_and_turn = (result.get("threadId"), result.get("turnId"))
        return [event for event in map(_data, _recorded(self._events)) if _origin(event) == thread_and_turn]


def _recorded(events: EventSource | None) -> Iterable[Any]:
    if events is None:
        return ()
    if isinstance(events, Iterable):
        return events
    return events()


def _data(value: Any) -> Any:
    return value.to_data() if hasattr(value, "to_data") else value


def _origin(event: Any) -> tuple[Any, Any]:
    return (event.get("threadId"), event.get("turnId")) if isinstance(event, Mapping) else (None, None)


# ----------------------------------------------------------------------------------------------------------- selection


def _read_input(input: object) -> tuple[str, str | int] | None:
    """Check an input and give its selector, a name with a value, if it has a selection."""
    if not isinstance(input, Mapping) or not input.keys() <= {"text", "selection"}:
        raise EvaluationError(AGENT_INPUT_INVALID)
    text = input.get("text")
    if not isinstance(text, str) or len(text) > MAX_TEXT:
        raise EvaluationError(AGENT_INPUT_INVALID)
    return _read_selection(input["selection"]) if "selection" in input else None


def _read_selection(selection: object) -> tuple[str, str | int]:
    if not isinstance(selection, Mapping) or len(selection) != 1 or not selection.keys() <= SELECTORS:
        raise EvaluationError(AGENT_INPUT_INVALID)
    [(name, value)] = selection.items()
    if name == "optionIndex":
        value = whole_number(value)
        is_valid = value is not None and value >= 0
    else:
        is_valid = isinstance(value, str) and value != ""
    if not is_valid:
        raise EvaluationError(AGENT_INPUT_INVALID)
    return name, value


def _choose(interaction: object, name: str, value: str | int) -> dict[str, str]:
    """Find the one option that is meant, in the interaction that the agent published last."""
    interaction_id, options = _read_interaction(interaction)
    if name == "optionIndex":
        fitting = [option for index, option in enumerate(options) if index == value]
    else:
        member = "label" if name == "optionLabel" else "id"
        fitting = [option for option in options if option[member] == value]
    if len(fitting) != 1:
        raise EvaluationError(SELECTION_AMBIGUOUS)
    return {"interactionId": interaction_id, "optionId": fitting[0]["id"]}


def _read_interaction(interaction: object) -> tuple[str, Sequence[Mapping[str, Any]]]:
    if not isinstance(interaction, Mapping):
        raise EvaluationError(SELECTION_UNAVAILABLE)
    id, options = interaction.get("id"), interaction.get("options", [])
    if not isinstance(id, str) or id == "" or not isinstance(options, list | tuple):
        raise EvaluationError(SELECTION_UNAVAILABLE)
    if not all(_is_option(option) for option in options):
        raise EvaluationError(SELECTION_UNAVAILABLE)
    return id, options


def _is_option(option: object) -> bool:
    return isinstance(option, Mapping) and isinstance(option.get("id"), str) and isinstance(option.get("label"), str)
