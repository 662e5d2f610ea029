"""Judging a row: the sentences of what it does not fulfil, in the order of the table (SPEC 3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from evalrunner.harness.patterns import is_found
from evalrunner.harness.scenarios import Expectations, read_expectations


@dataclass(frozen=True, slots=True)
class Observed:
    """The figures that a row is judged by; None: no answer, no figure."""

    assistant_response: str | None
    event_types: tuple[str, ...]
    tool_invocations: int
    tool_failures: int
    elapsed_ms: int
    context_input_tokens: int | None
    turns_count: int
    trajectory_actions: tuple[str, ...]


def evaluate_expectations(expected: Mapping[str, Any], observed: Mapping[str, Any]) -> list[str]:
    """Give the sentences of an ``expected`` object as it stands in a valid file, without those of files and commands.

    HarnessError when the turn comes to an invalid pattern; its text replaces the row.
    """
    return judge(read_expectations(expected), read_observed(observed))


def read_observed(figures: Mapping[str, Any]) -> Observed:
    """Take the figures of a row that judging needs; others may stand beside them."""
    return Observed(
        assistant_response=figures["assistant_response"],
        event_types=tuple(figures["event_types"]),
        tool_invocations=figures["tool_invocations"],
        tool_failures=figures["tool_failures"],
        elapsed_ms=figures["elapsed_ms"],
        context_input_tokens=figures["context_input_tokens"],
        turns_count=figures["turns_count"],
        trajectory_actions=tuple(figures["trajectory_actions"]),
    )


def judge(expected: Expectations, observed: Observed) -> list[str]:
    """Give the sentences in order; HarnessError for an invalid pattern."""
    return [
        *_judge_answer(expected, observed.assistant_response),
        *_judge_events(expected, observed.event_types),
        *_judge_figures(expected, observed),
        *_judge_trajectory(expected, observed.trajectory_actions),
    ]


def _judge_answer(expected: Expectations, answer: str | None) -> Iterator[str]:
    for entry in expected.assistant_contains:
        if answer is None or entry not in answer:
            yield f"assistant response missing substring: {entry}"
    for entry in expected.assistant_not_contains:
        if answer is not None and entry in answer:
            yield f"assistant response contains forbidden substring: {entry}"
    for entry in expected.assistant_matches_regex:
        # The pattern is looked at even without an answer: an invalid one is an error in any case.
        if not is_found(entry, answer or "") or answer is None:
            yield f"assistant response does not match regex: {entry}"


def _judge_events(expected: Expectations, event_types: tuple[str, ...]) -> Iterator[str]:
    counts = Counter(event_types)
    for entry in expected.event_types:
        if not counts[entry]:
            yield f"missing event type: {entry}"
    for entry in expected.forbidden_event_types:
        if counts[entry]:
            yield f"forbidden event type present: {entry}"
    for type, least in expected.min_events_of_type.items():
        if counts[type] < least:
            yield f"event type `{type}` count below minimum: expected at least {least}, got {counts[type]}"
    for type, most in expected.max_events_of_type.items():
        if counts[type] > most:
            yield f"event type `{type}` count above maximum: expected at most {most}, got {counts[type]}"


def _judge_figures(expected: Expectations, observed: Observed) -> Iterator[str]:
    least = expected.min_tool_invocations
    if least is not None and observed.tool_invocations < least:
        yield f"tool invocations below minimum: expected at least {least}, got {observed.tool_invocations}"
    yield from _over("tool failures", expected.max_tool_failures, observed.tool_failures)
    yield from _over("elapsed time", expected.max_elapsed_ms, observed.elapsed_ms, " ms")
    if expected.max_context_input_tokens is not None and observed.context_input_tokens is None:
        yield "context input tokens unavailable"
    else:
        yield from _over("context input tokens", expected.max_context_input_tokens, observed.context_input_tokens or 0)
    yield from _over("turns", expected.max_turns, observed.turns_count)


def _judge_trajectory(expected: Expectations, actions: tuple[str, ...]) -> Iterator[str]:
    """Compare a prefix: more recorded actions than listed are fine."""
    for step, entry in enumerate(expected.trajectory_actions):
        begin = f"trajectory action at step {step}: expected `{entry}`"
        if step >= len(actions):
            yield f"{begin}, but only {len(actions)} steps recorded"
        elif actions[step] != entry:
            yield f"{begin}, got `{actions[step]}`"
    yield from _over("trajectory steps", expected.max_trajectory_steps, len(actions))


def _over(what: str, limit: int | None, figure: int, unit: str = "") -> Iterator[str]:
    if limit is not None and figure > limit:
        yield f"{what} above maximum: expected at most {limit}{unit}, got {figure}{unit}"
