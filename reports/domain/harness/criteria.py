"""Expectations of a scenario as criteria: what each asks, and which sentences of the harness speak of it.

The harness reports sentences, not verdicts on single expectations. Each sentence begins in a way that names its
expectation (SPEC of the harness, section 3), so the two can be put together again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from evalrunner.harness.commands import NOT_ALLOWED
from evalrunner.harness.scenarios import Expectations

from reports.domain.harness.names import cut

MOST_CRITERIA = 190  # a scenario has at most 200 assertions; what is beyond is judged in the row as a whole
_LONGEST_LABEL = 300


@dataclass(frozen=True, slots=True)
class Criterion:
    """One expectation. ``sentences`` are the exact texts, ``beginnings`` the first parts of those that speak of it."""

    id: str
    key: str
    label: str
    value: Any
    sentences: tuple[str, ...] = ()
    beginnings: tuple[str, ...] = ()

    def definition(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "label": cut(self.label, _LONGEST_LABEL),
            "kind": "custom",
            "evaluator": f"harness.{self.key}",
            "parameters": {"value": self.value},
        }

    def spoken_of(self, sentences: Iterable[str]) -> list[str]:
        return [each for each in sentences if each in self.sentences or each.startswith(self.beginnings or ("\0",))]


def criteria_of(expected: Expectations) -> tuple[Criterion, ...]:
    """Return the criteria of a scenario in the order in which the harness judges them."""
    made: list[Criterion] = []
    counts: dict[str, int] = {}
    for key, label, value, sentences, beginnings in _entries(expected):
        counts[key] = counts.get(key, 0) + 1
        id = key if counts[key] == 1 else f"{key}-{counts[key]}"
        made.append(Criterion(id, key, label, value, sentences, beginnings))
    return tuple(made[:MOST_CRITERIA])


_Entry = tuple[str, str, Any, tuple[str, ...], tuple[str, ...]]
_TEXTS = (
    ("assistant_contains", "the answer contains", "assistant response missing substring: "),
    ("assistant_not_contains", "the answer does not contain", "assistant response contains forbidden substring: "),
    ("assistant_matches_regex", "the answer matches", "assistant response does not match regex: "),
    ("event_types", "there is an event", "missing event type: "),
    ("forbidden_event_types", "there is no event", "forbidden event type present: "),
)
_COUNTS = (
    ("min_events_of_type", "at least", "below minimum: expected at least"),
    ("max_events_of_type", "at most", "above maximum: expected at most"),
)
_LIMITS = (
    ("min_tool_invocations", "tools are called at least {} times", ("tool invocations below minimum: ",)),
    ("max_tool_failures", "at most {} tool calls fail", ("tool failures above maximum: ",)),
    ("max_elapsed_ms", "it takes at most {} ms", ("elapsed time above maximum: ",)),
    (
        "max_context_input_tokens",
        "the context has at most {} tokens",
        ("context input tokens above maximum: ", "context input tokens unavailable"),
    ),
    ("max_turns", "at most {} answers are given", ("turns above maximum: ",)),
)
_MOST_STEPS = ("max_trajectory_steps", "at most {} tools are called", ("trajectory steps above maximum: ",))


def _entries(expected: Expectations) -> Iterator[_Entry]:
    for key, label, beginning in _TEXTS:
        for text in getattr(expected, key):
            yield key, f"{label}: {text}", text, (f"{beginning}{text}",), ()
    for key, label, middle in _COUNTS:
        for type, count in getattr(expected, key).items():
            beginning = f"event type `{type}` count {middle} {count}, got "
            yield key, f"{label} {count} events {type}", {type: count}, (), (beginning,)
    for key, words, beginnings in _LIMITS:
        yield from _limit(expected, key, words, beginnings)
    for place, tool in enumerate(expected.trajectory_actions):
        beginning = f"trajectory action at step {place}: "
        yield "trajectory_actions", f"call {place + 1} is of {tool}", tool, (), (beginning,)
    yield from _limit(expected, *_MOST_STEPS)
    yield from _workspace_entries(expected)


def _limit(expected: Expectations, key: str, words: str, beginnings: tuple[str, ...]) -> Iterator[_Entry]:
    limit = getattr(expected, key)
    if limit is not None:
        yield key, words.format(limit), limit, (), beginnings


def _workspace_entries(expected: Expectations) -> Iterator[_Entry]:
    for file in expected.workspace_files:
        value = {"path": file.path, "contains": list(file.contains), "not_contains": list(file.not_contains)}
        missing = f"workspace file missing: {file.path}"
        yield "workspace_files", f"file {file.path}", value, (missing,), (f"workspace file `{file.path}` ",)
    for place, command in enumerate(expected.post_run_commands):
        argv = [command.program, *command.args]
        beginnings = (f"post-run command {place} ",)
        yield "post_run_commands", f"afterwards: {' '.join(argv)}", argv, (NOT_ALLOWED,), beginnings


# ----------------------------------------------------------------------------------------------- sentences on their own

_KEYS: tuple[tuple[str, str], ...] = (
    ("runtime error: ", "runtime_error"),
    ("multi-turn error: ", "multi_turn_error"),
    ("scenario timed out after ", "scenario_timeout"),
    *((beginning, key) for key, _, beginning in _TEXTS),
    *((beginning, key) for key, _, beginnings in (*_LIMITS, _MOST_STEPS) for beginning in beginnings),
    ("trajectory action at step ", "trajectory_actions"),
    ("workspace file ", "workspace_files"),
    ("post-run command ", "post_run_commands"),
)


def key_of_sentence(sentence: str) -> str:
    """Name what a sentence speaks of: an expectation's key, a kind of error, or "other"."""
    if sentence.startswith("event type `"):
        return "min_events_of_type" if " count below minimum: " in sentence else "max_events_of_type"
    return next((key for beginning, key in _KEYS if sentence.startswith(beginning)), "other")


def results_of(criteria: Sequence[Criterion], sentences: Sequence[str], *, was_judged: bool) -> list[dict[str, Any]]:
    """Return results in the wire format: those of the criteria, if the row came so far, then what else was said.

    A result that did not hold has the harness's sentence for a label and all that were said of it as evidence.
    """
    results = [_result_of(each, each.spoken_of(sentences)) for each in criteria] if was_judged else []
    said = {text for each in criteria for text in each.spoken_of(sentences)} if was_judged else set()
    taken = {each.id for each in criteria}
    for sentence in sentences:
        if sentence not in said and len(results) < MOST_CRITERIA:
            results.append(failed_result(_free_id(key_of_sentence(sentence), taken), [sentence]))
    return results


def failed_result(id: str, sentences: Sequence[str]) -> dict[str, Any]:
    label = cut(sentences[0], _LONGEST_LABEL) or "(an empty sentence)"
    return {"id": id, "label": label, "passed": False, "evidence": {"sentences": list(sentences)}}


def _result_of(criterion: Criterion, said: Sequence[str]) -> dict[str, Any]:
    if said:
        return failed_result(criterion.id, said)
    return {"id": criterion.id, "label": cut(criterion.label, _LONGEST_LABEL), "passed": True}


def _free_id(key: str, taken: set[str]) -> str:
    number, id = 1, key
    while id in taken:
        number += 1
        id = f"{key}-{number}"
    taken.add(id)
    return id
