"""Two conversations side by side: what differs in a turn once the ignore rules are applied, and where they part.

Turns are plain data in the wire format.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from evalrunner.compare.structures import same_value
from evalrunner.compare.tally import DECIDED

DEFAULT_IGNORED: Final[frozenset[str]] = frozenset(
    {
        "checkpointId",
        "checkpoint_id",
        "completionTokens",
        "completion_tokens",
        "createdAt",
        "created_at",
        "durationMs",
        "duration_ms",
        "elapsedMs",
        "elapsed_ms",
        "finishedAt",
        "finished_at",
        "inputTokens",
        "input_tokens",
        "latencyMs",
        "latency_ms",
        "messageId",
        "message_id",
        "outputTokens",
        "output_tokens",
        "promptTokens",
        "prompt_tokens",
        "requestId",
        "request_id",
        "responseId",
        "response_id",
        "runId",
        "run_id",
        "spanId",
        "span_id",
        "startedAt",
        "started_at",
        "threadId",
        "thread_id",
        "timestamp",
        "timestamps",
        "tokens",
        "totalTokens",
        "total_tokens",
        "traceId",
        "trace_id",
        "turnId",
        "turn_id",
        "updatedAt",
        "updated_at",
    }
)
"""Ids, times and token counts: members that differ from run to run whatever the agent does. They are left out at any
depth."""


class TurnMark(StrEnum):
    """What the rail shows of a pair of turns. UNREAD: too much was read already to look at it."""

    EQUAL = "equal"
    CHANGED = "changed"
    ONLY_LEFT = "only_left"
    ONLY_RIGHT = "only_right"
    UNREAD = "unread"


@dataclass(frozen=True, slots=True)
class TurnDifference:
    """Which parts of two turns of one step differ. ``flipped`` counts top-level criteria with another verdict."""

    status: bool = False
    input: bool = False
    observation: bool = False
    criteria: bool = False
    flipped: int = 0

    @property
    def is_any(self) -> bool:
        return self.status or self.input or self.observation or self.criteria

    @property
    def is_conversation(self) -> bool:
        """Tell whether what was said differs, not only how it was judged."""
        return self.input or self.observation


def without(value: Any, ignored: frozenset[str]) -> Any:
    """Return a JSON value without the members to be ignored, at any depth."""
    if isinstance(value, Mapping):
        return {name: without(item, ignored) for name, item in value.items() if name not in ignored}
    if isinstance(value, list | tuple):
        return [without(item, ignored) for item in value]
    return value


def turn_difference(
    left: Mapping[str, Any], right: Mapping[str, Any], *, ignored: frozenset[str] = DEFAULT_IGNORED
) -> TurnDifference:
    """Compare two turns. An observation on one side only is a difference; so is another error code."""
    return TurnDifference(
        status=(left["status"], left.get("errorCode")) != (right["status"], right.get("errorCode")),
        input=not same_value(without(left["input"], ignored), without(right["input"], ignored)),
        observation=_differs(left, right, "observation", ignored),
        criteria=not same_value(without(left["assertions"], ignored), without(right["assertions"], ignored)),
        flipped=flipped(left["assertions"], right["assertions"]),
    )


def _differs(left: Mapping[str, Any], right: Mapping[str, Any], member: str, ignored: frozenset[str]) -> bool:
    if (member in left) != (member in right):
        return True
    return not same_value(without(left.get(member), ignored), without(right.get(member), ignored))


def flipped(left: Sequence[Mapping[str, Any]], right: Sequence[Mapping[str, Any]]) -> int:
    """Count assertions, by id, whose verdict is another on the other side."""
    verdicts = {result["id"]: _verdict(result) for result in left}
    return sum(result["id"] in verdicts and verdicts[result["id"]] != _verdict(result) for result in right)


def _verdict(result: Mapping[str, Any]) -> str:
    return "error" if "errorCode" in result else "passed" if result["passed"] else "failed"


# ------------------------------------------------------------------------------------------- which repetitions to show


@dataclass(frozen=True, slots=True)
class Repetition:
    """One case of a scenario variant: its rank from 1, and what makes it typical or not."""

    rank: int
    status: str
    signature: str
    turns: int


def typical_pair(
    baseline: Sequence[Repetition], candidate: Sequence[Repetition]
) -> tuple[Repetition | None, Repetition | None]:
    """Choose a typical pass against a typical failure where the sides allow it, else the most alike pair.

    The side with the higher pass rate shows its pass. None for a side without cases.
    """
    left, right = _kinds(baseline), _kinds(candidate)
    if "passed" in left and "failing" in right and _rate(baseline) >= _rate(candidate):
        wanted = ("passed", "failing")
    elif "failing" in left and "passed" in right:
        wanted = ("failing", "passed")
    else:
        common = [kind for kind in ("failing", "passed", "undecided") if kind in left and kind in right]
        wanted = (common[0], common[0]) if common else ("", "")
    return _typical(baseline, wanted[0]), _typical(candidate, wanted[1])


def _kind(status: str) -> str:
    if status not in DECIDED:
        return "undecided"
    return "passed" if status == "passed" else "failing"


def _kinds(repetitions: Iterable[Repetition]) -> set[str]:
    return {_kind(each.status) for each in repetitions}


def _rate(repetitions: Sequence[Repetition]) -> float:
    decided = [each for each in repetitions if each.status in DECIDED]
    return sum(each.status == "passed" for each in decided) / len(decided) if decided else 0.0


def _typical(repetitions: Sequence[Repetition], kind: str) -> Repetition | None:
    """Return the first of the most common sort: the same signature and number of turns as most others of the kind."""
    fitting = [each for each in repetitions if _kind(each.status) == kind] or list(repetitions)
    sorts = Counter((each.signature, each.turns) for each in fitting)
    return max(fitting, key=lambda each: (sorts[each.signature, each.turns], -each.rank), default=None)
