"""The difference of two JSON values as a tree that holds only what changed.

Objects are compared member by member. Lists are aligned by their longest common subsequence; an equal item that stands
elsewhere on the other side has moved; what is left over inside a gap is compared pair by pair, as far as the items look
alike. The tree is bounded: what exceeds the budget is counted, not built.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from evalrunner.compare.sequences import common_subsequence

MOST_NODES: Final = 300
_IDENTIFYING: Final = ("id", "key", "name", "type")


class DifferenceKind(StrEnum):
    CHANGED = "changed"
    ADDED = "added"
    REMOVED = "removed"
    MOVED = "moved"
    INSIDE = "inside"


@dataclass(slots=True)
class Node:
    """One place where the values differ. ``label`` is a member name or an index ("" at the top).

    INSIDE: the difference is among ``children``; ``equal`` counts the members that are the same on both sides and
    ``hidden`` those that differ and are not shown. CHANGED has both values, ADDED only ``right``, REMOVED only
    ``left``; MOVED has its place on each side in ``label`` and ``moved_to``. Of items that stand at different places
    ``label`` is the right one and ``left_label`` the left one; elsewhere both are the same.
    """

    label: str
    kind: DifferenceKind
    left: Any = None
    right: Any = None
    is_list: bool = False
    moved_to: str = ""
    left_label: str = ""
    equal: int = 0
    hidden: int = 0
    children: list[Node] = field(default_factory=list)


class _Budget:
    def __init__(self, nodes: int) -> None:
        self.left = nodes

    def take(self) -> bool:
        self.left -= 1
        return self.left >= 0


def structural_difference(left: Any, right: Any, *, nodes: int = MOST_NODES) -> Node | None:
    """Return where two JSON values differ, in at most ``nodes`` nodes; None when they are the same value."""
    return None if same_value(left, right) else _compare("", left, right, _Budget(nodes))


def same_value(left: Any, right: Any) -> bool:
    """Tell whether two JSON values are the same: numbers compare as doubles, true is not 1, key order is nothing."""
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(same_value(left[name], right[name]) for name in left)
    if _is_list(left) and _is_list(right):
        return len(left) == len(right) and all(map(same_value, left, right))
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, int | float) and isinstance(right, int | float):
        return left == right or _as_double(left) == _as_double(right)
    return type(left) is type(right) and bool(left == right)


def _as_double(number: int | float) -> float:
    try:
        return float(number)
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")


def _is_list(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _compare(label: str, left: Any, right: Any, budget: _Budget) -> Node:
    """Return the node of two values that differ."""
    budget.take()
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return _filled(Node(label, DifferenceKind.INSIDE), _members(left, right), budget)
    if _is_list(left) and _is_list(right):
        return _filled(Node(label, DifferenceKind.INSIDE, is_list=True), _items(left, right), budget)
    return Node(label, DifferenceKind.CHANGED, left, right)


@dataclass(frozen=True, slots=True)
class _Part:
    """A member or item: its label, and what is known of it. ``kind`` None: both sides have it, alike or not."""

    label: str
    kind: DifferenceKind | None
    left: Any = None
    right: Any = None
    moved_to: str = ""
    left_label: str = ""
    is_same: bool = False


def _filled(node: Node, parts: Iterator[_Part], budget: _Budget) -> Node:
    for part in parts:
        if part.is_same or (part.kind is None and same_value(part.left, part.right)):
            node.equal += 1
        elif budget.left <= 0:
            node.hidden += 1
        elif part.kind is None:
            child = _compare(part.label, part.left, part.right, budget)
            child.left_label = part.left_label or part.label
            node.children.append(child)
        else:
            budget.take()
            child = Node(part.label, part.kind, part.left, part.right, moved_to=part.moved_to, left_label=part.label)
            node.children.append(child)
    return node


def _members(left: Mapping[str, Any], right: Mapping[str, Any]) -> Iterator[_Part]:
    for name in [*left, *(name for name in right if name not in left)]:
        if name not in right:
            yield _Part(name, DifferenceKind.REMOVED, left=left[name])
        elif name not in left:
            yield _Part(name, DifferenceKind.ADDED, right=right[name])
        else:
            yield _Part(name, None, left[name], right[name])


def _items(left: Sequence[Any], right: Sequence[Any]) -> Iterator[_Part]:
    keys = [_key(item) for item in left], [_key(item) for item in right]
    same = common_subsequence(*keys)
    moved = _moved(keys, same)
    taken = set(moved.values())
    i = j = 0
    for a, b in [*same, (len(left), len(right))]:
        for place in range(i, a):
            if place in moved:
                yield _Part(str(place), DifferenceKind.MOVED, left[place], left[place], str(moved[place]))
        gap_left = [place for place in range(i, a) if place not in moved]
        gap_right = [place for place in range(j, b) if place not in taken]
        yield from _gap(left, right, gap_left, gap_right)
        if a < len(left) and b < len(right):
            yield _Part(str(a), None, is_same=True)
        i, j = a + 1, b + 1


def _key(item: Any) -> str:
    return json.dumps(item, sort_keys=True)


def _moved(keys: tuple[list[str], list[str]], same: Sequence[tuple[int, int]]) -> dict[int, int]:
    """Return where equal items went that are no part of the common subsequence."""
    kept = {i for i, _j in same}, {j for _i, j in same}
    places: dict[str, list[int]] = {}
    for j in range(len(keys[1]) - 1, -1, -1):
        if j not in kept[1]:
            places.setdefault(keys[1][j], []).append(j)
    return {i: places[key].pop() for i, key in enumerate(keys[0]) if i not in kept[0] and places.get(key)}


def _gap(left: Sequence[Any], right: Sequence[Any], lefts: Sequence[int], rights: Sequence[int]) -> Iterator[_Part]:
    """Pair what is left between two equal items: by what identifies them, else in order while they look alike."""
    pairs = common_subsequence([_identity(left[i]) for i in lefts], [_identity(right[j]) for j in rights])
    at = to = 0
    for a, b in [*pairs, (len(lefts), len(rights))]:
        yield from (_Part(str(i), DifferenceKind.REMOVED, left=left[i]) for i in lefts[at:a])
        yield from (_Part(str(j), DifferenceKind.ADDED, right=right[j]) for j in rights[to:b])
        if a < len(lefts) and b < len(rights):
            yield _Part(str(rights[b]), None, left[lefts[a]], right[rights[b]], left_label=str(lefts[a]))
        at, to = a + 1, b + 1


def _identity(item: Any) -> str:
    """Return what tells an item from its neighbours though its content changed: its id, else its shape."""
    if isinstance(item, Mapping):
        named = next((name for name in _IDENTIFYING if isinstance(item.get(name), str | int)), None)
        return json.dumps(sorted(map(str, item)) if named is None else [named, item[named]])
    return "list" if _is_list(item) else type(item).__name__
