"""Assertion expressions of two cases side by side: what flipped first, and only changed branches unfolded."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from evalrunner.compare import same_value

from reports.domain.expressions import Expression

Change = Literal["flipped", "inside", "changed", "only-left", "only-right", "same"]
_ORDER: Mapping[Change, int] = {"flipped": 0, "only-left": 1, "only-right": 1, "inside": 2, "changed": 3, "same": 4}


@dataclass(frozen=True, slots=True)
class CriterionPair:
    """One criterion on both sides; a side that does not have it is None.

    ``flipped``: another verdict. ``inside``: the same verdict, but a child flipped. ``changed``: the same verdicts on
    other evidence. ``is_open``: the branch holds a flip.
    """

    left: Expression | None
    right: Expression | None
    change: Change
    children: tuple["CriterionPair", ...]

    @property
    def shown(self) -> Expression:
        """The side that names the criterion."""
        side = self.right or self.left
        assert side is not None  # a pair is made of at least one
        return side

    @property
    def path(self) -> str:
        """The ids from the top, for its anchor."""
        return self.shown.path

    @property
    def is_open(self) -> bool:
        return any(child.change in ("flipped", "inside", "only-left", "only-right") for child in self.children)


def criterion_pairs(left: Sequence[Expression], right: Sequence[Expression]) -> tuple[CriterionPair, ...]:
    """Pair the criteria of two lists by id, repeated ids in order; what flipped stands first."""
    waiting: dict[str, list[Expression]] = {}
    for each in right:
        waiting.setdefault(each.id, []).append(each)
    pairs = [_pair(each, waiting[each.id].pop(0) if waiting.get(each.id) else None) for each in left]
    pairs += [_pair(None, each) for unpaired in waiting.values() for each in unpaired]
    return tuple(sorted(pairs, key=lambda pair: _ORDER[pair.change]))


def _pair(left: Expression | None, right: Expression | None) -> CriterionPair:
    children = criterion_pairs(left.children if left else (), right.children if right else ())
    return CriterionPair(left, right, _change(left, right, children), children)


def _change(left: Expression | None, right: Expression | None, children: Sequence[CriterionPair]) -> Change:
    if left is None or right is None:
        return "only-right" if left is None else "only-left"
    if left.status != right.status:
        return "flipped"
    if any(child.change in ("flipped", "inside", "only-left", "only-right") for child in children):
        return "inside"
    is_same = _is_judged_alike(left, right) and all(each.change == "same" for each in children)
    return "same" if is_same else "changed"


def _is_judged_alike(left: Expression, right: Expression) -> bool:
    """Tell whether both verdicts rest on the same facts."""
    if (left.error_code, left.has_actual) != (right.error_code, right.has_actual):
        return False
    members = ((left.actual, right.actual), (left.expected, right.expected), (left.evidence, right.evidence))
    return all(same_value(before, after) for before, after in members)
