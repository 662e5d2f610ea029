"""Agents and evaluators that follow the scripts of the conformance corpus (``tests/data/conformance``).

They behave as careless guests do: they write into whatever they are handed and into what they have handed over, and
their exceptions carry text that must appear nowhere.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from evalrunner import EvaluationContext, EvaluationError, OpenContext, SendContext
from evalrunner.data import thaw
from evalrunner.models import EvaluationCase, ExpandedCase

SECRET = "token=never-to-be-seen"
ANSWER_AFTER_CANCEL_S = 0.02

Action = Mapping[str, Any]


class GuestError(Exception):
    """What a guest raises that knows nothing of evaluations."""


def vandalise(value: Any) -> None:
    """Write into a value and everything in it, as far as it lets itself be written into."""
    if isinstance(value, dict):
        for item in list(value.values()):
            vandalise(item)
        with contextlib.suppress(TypeError):
            value["vandalised"] = True
    elif isinstance(value, list):
        for item in list(value):
            vandalise(item)
        with contextlib.suppress(TypeError):
            value.append("vandalised")


@dataclass
class Log:
    """What the guests were asked, in order."""

    opened: list[OpenContext] = field(default_factory=list)
    checkpoints_given: dict[str, Any] = field(default_factory=dict)
    sent: list[tuple[str, str]] = field(default_factory=list)
    turn_ids: list[str] = field(default_factory=list)
    closed: list[str] = field(default_factory=list)


class ScriptedAdapter:
    """Plays ``script`` for the cases of ``matrix``; ``cancel`` is the event that a script may set."""

    def __init__(self, about: Mapping[str, Any], matrix: Mapping[str, ExpandedCase], cancel: asyncio.Event) -> None:
        self.id, self.version = about["id"], about["version"]
        if "supportsResume" in about:
            self.supports_resume = about["supportsResume"]
        if not about.get("noOpen"):
            self.open = self._open
        self.log = Log()
        self.cancel = cancel
        self._script, self._matrix = about.get("script") or {}, matrix

    async def _open(self, context: OpenContext) -> Any:
        self.log.opened.append(context)
        if context.checkpoint is not None:
            self.log.checkpoints_given[context.case_id] = thaw(context.checkpoint)
            vandalise(context.checkpoint)
        layers = list(self._layers(self._matrix[context.case_id]))
        await self.perform(next((layer["open"] for layer in layers if "open" in layer), {}))
        closing = next((layer["close"] for layer in layers if "close" in layer), None)
        session = ScriptedSession(self, context.case_id, layers)
        if closing is not None:
            session.close = lambda: session.closes(closing)
        return session

    def _layers(self, case: ExpandedCase) -> Iterator[Mapping[str, Any]]:
        """Give what the script says of a case, most special first."""
        for entry in self._script.get("cases") or ():
            match = entry.get("match") or {}
            variants = match.get("variants") or {}
            if (
                match.get("scenarioId", case.scenario.id) == case.scenario.id
                and match.get("repetition", case.repetition) == case.repetition
                and all(case.variants.get(step) == variant for step, variant in variants.items())
            ):
                yield entry
        yield self._script

    async def perform(self, action: Action) -> None:
        await asyncio.sleep(action.get("latencyMs", 0) / 1000)
        if action.get("cancelRun"):
            self.cancel.set()
            await asyncio.sleep(ANSWER_AFTER_CANCEL_S)
        if action.get("hang"):
            await asyncio.get_running_loop().create_future()
        if "throw" in action:
            raise GuestError(SECRET) if action["throw"] is None else EvaluationError(action["throw"])


class ScriptedSession:
    def __init__(self, adapter: ScriptedAdapter, case_id: str, layers: list[Mapping[str, Any]]) -> None:
        self._adapter, self._case_id, self._layers = adapter, case_id, layers
        self._handed_over: Any = None
        self.close: Callable[[], Any] | None = None

    async def send(self, input: dict[str, Any], context: SendContext) -> Any:
        vandalise(self._handed_over)
        self._adapter.log.sent.append((self._case_id, context.step_id))
        self._adapter.log.turn_ids.append(context.turn_id)
        action = self._action(context.step_id)
        await self._adapter.perform(action)
        if "result" in action:
            return thaw(action["result"])
        observation = thaw(action.get("observation", input))
        vandalise(input)
        extras = {name: thaw(action[name]) for name in ("checkpoint", "stop") if name in action}
        self._handed_over = {"observation": observation, **extras}
        return self._handed_over

    async def closes(self, action: Action) -> None:
        vandalise(self._handed_over)
        self._adapter.log.closed.append(self._case_id)
        await self._adapter.perform(action)

    def _action(self, step_id: str) -> Action:
        for layer in self._layers:
            steps = layer.get("steps") or {}
            for name in (step_id, "*"):
                if name in steps:
                    action: Action = steps[name]
                    return action
        return {}


# ---------------------------------------------------------------------------------------------------------- evaluators


def make_evaluator(behaviour: Mapping[str, Any], *, is_async: bool) -> Callable[[EvaluationContext, Any], Any]:
    """Make the evaluator that a corpus entry describes, as a plain or an async function."""

    def judge(context: EvaluationContext, parameters: Any) -> Any:
        if behaviour.get("throws"):
            raise GuestError(SECRET)
        if "returns" in behaviour:
            answer = thaw(behaviour["returns"])
        else:
            passed, evidence = RULES[behaviour["rule"]](behaviour, context, parameters)
            answer = {"passed": passed, "evidence": evidence}
        vandalise(context.observation)
        vandalise(parameters)
        return answer

    async def judge_later(context: EvaluationContext, parameters: Any) -> Any:
        await asyncio.sleep(0)
        if behaviour.get("hangs"):
            await asyncio.get_running_loop().create_future()
        return judge(context, parameters)

    return judge_later if is_async or behaviour.get("hangs") else judge


def find(value: Any, *path: str | int) -> Any:
    """Follow a path through plain values; None where it leads nowhere."""
    for segment in path:
        try:
            value = value[segment]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def _flag(behaviour: Any, context: EvaluationContext, parameters: Any) -> tuple[bool, Any]:
    value = find(context.observation, *behaviour["path"])
    return value is True, {"flag": value}


def _history(behaviour: Any, context: EvaluationContext, parameters: Any) -> tuple[bool, Any]:
    steps = [turn["stepId"] if isinstance(turn, dict) else turn.step_id for turn in context.history]
    return len(steps) == parameters["turns"], {"turns": len(steps), "stepIds": steps}


def _cases(context: EvaluationContext) -> list[EvaluationCase]:
    assert context.cases is not None
    return list(context.cases)


def _statuses(behaviour: Any, context: EvaluationContext, parameters: Any) -> tuple[bool, Any]:
    cases = _cases(context)
    outside = sum(case.status not in parameters["allowed"] for case in cases)
    return outside == 0, {"cases": len(cases), "outside": outside}


def _distinct(behaviour: Any, context: EvaluationContext, parameters: Any) -> tuple[bool, Any]:
    cases = _cases(context)
    observations = [case.turns[-1].observation if case.turns else None for case in cases]
    spellings = {json.dumps(find(seen, *parameters["path"]), sort_keys=True) for seen in observations}
    return len(spellings) == len(cases), {"cases": len(cases), "distinct": len(spellings)}


def _no_words(behaviour: Any, context: EvaluationContext, parameters: Any) -> tuple[bool, Any]:
    text = find(context.observation, *behaviour["path"])
    found = [word for word in parameters["words"] if isinstance(text, str) and word in text]
    return not found, {"found": found}


def _context(behaviour: Any, context: EvaluationContext, parameters: Any) -> tuple[bool, Any]:
    cases = None if context.cases is None else len(context.cases)
    return True, {
        "history": len(context.history),
        "cases": cases,
        "observationKeys": sorted(context.observation),
    }


def _selected_option(behaviour: Any, context: EvaluationContext, parameters: Any) -> tuple[bool, Any]:
    turns = {turn.step_id: turn for turn in context.history}
    search, selection = parameters["searchStepId"], parameters["selectionStepId"]
    index = find(turns[selection].input, "selection", "optionIndex") if selection in turns else None
    shown = turns[search].observation if search in turns else None
    expected = find(shown, "response", "interaction", "options", index, "value", "id")  # type: ignore[arg-type]
    facts = find(context.observation, "checkpoint", "facts") or []
    selected = [fact for fact in facts if find(fact, "type") == "product.selected"]
    actual = find(selected, 0, "value", "id")
    return isinstance(expected, str) and expected == actual, {
        "searchStepId": search,
        "selectionStepId": selection,
        "expectedProductId": expected,
        "actualProductId": actual,
    }


RULES: dict[str, Callable[[Any, EvaluationContext, Any], tuple[bool, Any]]] = {
    "flag": _flag,
    "history": _history,
    "statuses": _statuses,
    "distinct": _distinct,
    "no-words": _no_words,
    "context": _context,
    "catalogue-selected-option": _selected_option,
}
