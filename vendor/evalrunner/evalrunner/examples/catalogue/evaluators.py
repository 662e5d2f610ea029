"""The tutorial's own criterion: the stored product is the one the user asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from evalrunner.assertions import EvaluationContext, Evaluators
from evalrunner.data import Json, JsonObject
from evalrunner.models import EvaluationTurn


def selected_option(context: EvaluationContext, parameters: JsonObject) -> JsonObject:
    """Compare the option that the selection turn named, out of those the search turn offered, with what is stored.

    Passes only if both are known and equal; the evidence names both products, null for one that is missing.
    """
    search, selection = parameters.get("searchStepId"), parameters.get("selectionStepId")
    turns = {turn.step_id: turn for turn in context.history if isinstance(turn, EvaluationTurn)}
    asked, offered = turns.get(str(selection)), turns.get(str(search))
    index = None if asked is None else _at(asked.input, "selection", "optionIndex")
    options = None if offered is None else _at(offered.observation, "response", "interaction", "options")
    expected = _at(options, index, "value", "id")
    actual = _stored_product(context.observation)
    return {
        "passed": isinstance(expected, str) and expected == actual,
        "evidence": {
            "searchStepId": search,
            "selectionStepId": selection,
            "expectedProductId": expected,
            "actualProductId": actual,
        },
    }


def _stored_product(observation: Json) -> Json:
    facts = _at(observation, "checkpoint", "facts")
    if not isinstance(facts, list | tuple):
        return None
    selected = (_at(fact, "value", "id") for fact in facts if _at(fact, "type") == "product.selected")
    return next(selected, None)


def _at(value: Json, *path: Json) -> Json:
    """Follow members and list positions; None as soon as one is missing."""
    for segment in path:
        if isinstance(value, Mapping) and isinstance(segment, str):
            value = value.get(segment)
        elif isinstance(value, Sequence) and not isinstance(value, str) and isinstance(segment, int):
            value = value[segment] if 0 <= segment < len(value) else None
        else:
            return None
    return value


evaluators: Final[Evaluators] = {"catalogue.selected-option": selected_option}
