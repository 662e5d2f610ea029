"""Two conversations side by side: what differs in a turn once the ignore rules are applied, and where they part.

Turns are plain data in the wire format.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from evalrunner.compare.ignoring import DEFAULT_IGNORED, IgnoreRules, ignore_rules, without
from evalrunner.compare.structures import same_value
from evalrunner.compare.tally import DECIDED


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


def turn_difference(
    left: Mapping[str, Any], right: Mapping[str, Any], *, ignored: IgnoreRules | None = None
) -> TurnDifference:
    """Compare two turns without what is ``ignored``, the usual members where it is None.

    An observation on one side only is a difference; so is another error code.
    """
    rules = ignore_rules(DEFAULT_IGNORED) if ignored is None else ignored
    return TurnDifference(
        status=(left["status"], left.get("errorCode")) != (right["status"], right.get("errorCode")),
        input=not same_value(without(left["input"], rules), without(right["input"], rules)),
        observation=_is_observed_differently(left, right, rules),
        criteria=not same_value(without(left["assertions"], rules), without(right["assertions"], rules)),
        flipped=flipped(left["assertions"], right["assertions"]),
    )


def _is_observed_differently(left: Mapping[str, Any], right: Mapping[str, Any], rules: IgnoreRules) -> bool:
    if ("observation" in left) != ("observation" in right):
        return True
    before, after = (without(turn.get("observation"), rules, is_observation=True) for turn in (left, right))
    return not same_value(before, after)


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
