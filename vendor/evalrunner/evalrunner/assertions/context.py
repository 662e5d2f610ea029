"""What assertions and evaluators are given to judge."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from evalrunner.data import FreeData, freeze, freeze_object
from evalrunner.errors import OBSERVATION_INVALID, EvaluationError
from evalrunner.models import EvaluationCase, EvaluationTurn


class Signal(Protocol):
    """Tells whether work should stop; ``asyncio.Event`` is one."""

    def is_set(self) -> bool:
        """Tell whether the work was cancelled."""


@dataclass(frozen=True, slots=True)
class EvaluationContext:
    """The evidence of one evaluation.

    ``observation`` is a JSON object; ``history`` holds turns: of a turn's assertions the earlier ones, of a
    scenario's assertions all. ``cases`` are given to suite assertions only. While ``signal`` is set nothing is
    evaluated. A run hands out models, all of them immutable. Whoever calls ``evaluate_assertions`` may give plain JSON
    values instead; turns and cases given so are handed to evaluators as immutable JSON values.
    """

    observation: Any
    history: Sequence[EvaluationTurn] = ()
    cases: Sequence[EvaluationCase] | None = None
    signal: Signal | None = None


Evaluator: TypeAlias = "Callable[[EvaluationContext, FreeData], object | Awaitable[object]]"
"""Judges evidence by named parameters. It answers with a mapping ``{"passed": bool}`` and optional ``evidence``, a
JSON object; it may be plain or async. Whatever it raises is recorded as EVALUATOR_FAILED."""

Evaluators: TypeAlias = Mapping[str, Evaluator]


def detach_context(context: EvaluationContext | Mapping[str, Any]) -> EvaluationContext:
    """Give a context of immutable evidence from a model or a plain mapping with the same names.

    The observation must be free data within its bounds (EvaluationError otherwise).
    """
    if isinstance(context, Mapping):
        history, cases, signal = (context.get(name) for name in ("history", "cases", "signal"))
        context = EvaluationContext(context.get("observation"), history or (), cases, signal)
    if not isinstance(context, EvaluationContext):
        raise EvaluationError(OBSERVATION_INVALID)
    observation = freeze_object(context.observation)
    history = tuple(_detached(context.history))
    cases = None if context.cases is None else tuple(_detached(context.cases))
    return EvaluationContext(observation, history, cases, context.signal)


def _detached(items: object) -> list[Any]:
    if isinstance(items, str) or not isinstance(items, Sequence):
        raise EvaluationError(OBSERVATION_INVALID)
    return [item if isinstance(item, EvaluationTurn | EvaluationCase) else freeze(item) for item in items]
