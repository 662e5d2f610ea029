"""Compaction at the end of a turn: a history that fills the budget is replaced by a summary and its last exchanges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from evalrunner.harness.runtime.model import Message

KEPT_PAIRS: Final = 3
SWITCHED_OFF: Final = 1.0
THRESHOLD_DISABLED: Final = "ThresholdDisabled"
REQUEST: Final = "Summarise the conversation so far: what was asked, what was found out, and what is still open."
STOCK_SUMMARY: Final = "[earlier messages were left out; no summary could be made]"
_MARK: Final = "Summary of the earlier conversation:\n"


def is_due(estimate: int, budget: int, threshold: float, messages: Sequence[Message]) -> bool:
    """Tell whether a history is to be compacted; with a budget of 0 the ratio is 0."""
    ratio = estimate / budget if budget else 0.0
    return ratio >= threshold and count_pairs(messages) > KEPT_PAIRS


def count_pairs(messages: Sequence[Message]) -> int:
    """Count the complete exchanges: questions with an answer that has text before the next question."""
    return len(_answered(messages))


def summary_request(messages: Sequence[Message]) -> tuple[Message, ...]:
    return (*messages, Message("user", REQUEST))


def compacted(messages: Sequence[Message], summary: str) -> list[Message]:
    """Give the history with everything before the last exchanges replaced by the summary; instructions stay."""
    answered = _answered(messages)
    start = answered[-KEPT_PAIRS] if len(answered) >= KEPT_PAIRS else 0
    instructions = [
        message for message in messages[:start] if message.role == "system" and not message.content.startswith(_MARK)
    ]
    return [*instructions, Message("system", f"{_MARK}{summary}"), *messages[start:]]


def _answered(messages: Sequence[Message]) -> list[int]:
    """Give the positions of all questions that were answered."""
    found: list[int] = []
    question: int | None = None
    for position, message in enumerate(messages):
        if message.role == "user":
            question = position
        elif message.role == "assistant" and message.content and question is not None:
            found.append(question)
            question = None
    return found
