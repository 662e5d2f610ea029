"""Longest common subsequences of bounded cost, and the alignment of two conversations by their steps."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from operator import itemgetter
from typing import Final, TypeAlias

Pairing: TypeAlias = tuple[int | None, int | None]

LARGEST_TABLE: Final = 250_000  # cells; 500 turns against 500 turns


def common_subsequence(left: Sequence[Hashable], right: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Return the places of a longest common subsequence, in order.

    What is equal at both ends is taken first. In a middle whose table would exceed ``LARGEST_TABLE`` only items that
    occur once on each side are aligned, so that the cost stays bounded; the result is common and in order all the same.
    """
    start = _equal_length(zip(left, right, strict=False))
    shorter = min(len(left), len(right)) - start
    end = min(shorter, _equal_length(zip(reversed(left), reversed(right), strict=False)))
    head = [(place, place) for place in range(start)]
    middle = _middle(left[start : len(left) - end], right[start : len(right) - end])
    tail = [(len(left) - place, len(right) - place) for place in range(end, 0, -1)]
    return [*head, *((start + i, start + j) for i, j in middle), *tail]


def _equal_length(pairs: Iterator[tuple[Hashable, Hashable]]) -> int:
    length = 0
    for left, right in pairs:
        if left != right:
            break
        length += 1
    return length


def _middle(left: Sequence[Hashable], right: Sequence[Hashable]) -> list[tuple[int, int]]:
    if len(left) * len(right) > LARGEST_TABLE:
        return _of_unique_items(left, right)
    lengths = _lengths(left, right)
    found, i, j = [], 0, 0
    while i < len(left) and j < len(right):
        if left[i] == right[j]:
            found.append((i, j))
            i, j = i + 1, j + 1
        elif lengths[i + 1][j] >= lengths[i][j + 1]:
            i += 1
        else:
            j += 1
    return found


def _of_unique_items(left: Sequence[Hashable], right: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Align items that occur once on each side: the longest run of them that rises on both (patience sorting)."""
    places = _unique_places(right)
    pairs = [(i, places[item]) for item, i in sorted(_unique_places(left).items(), key=itemgetter(1)) if item in places]
    ends: list[int] = []  # the smallest right place at which a run of each length can end
    last: list[int] = []  # the pair at which it ends
    before: list[int] = []  # for each pair, the pair before it in its run
    for number, (_i, j) in enumerate(pairs):
        length = bisect_left(ends, j)
        before.append(last[length - 1] if length else -1)
        ends[length : length + 1] = [j]
        last[length : length + 1] = [number]
    run: list[tuple[int, int]] = []
    number = last[-1] if last else -1
    while number >= 0:
        run.append(pairs[number])
        number = before[number]
    return run[::-1]


def _unique_places(items: Sequence[Hashable]) -> dict[Hashable, int]:
    counts = Counter(items)
    return {item: place for place, item in enumerate(items) if counts[item] == 1}


def _lengths(left: Sequence[Hashable], right: Sequence[Hashable]) -> list[list[int]]:
    """Return the length of the longest common subsequence from each pair of places on."""
    rows = [[0] * (len(right) + 1)]
    for item in reversed(left):
        below, row = rows[-1], [0] * (len(right) + 1)
        for j in range(len(right) - 1, -1, -1):
            row[j] = below[j + 1] + 1 if item == right[j] else max(below[j], row[j + 1])
        rows.append(row)
    rows.reverse()
    return rows


def align(left: Sequence[tuple[str, Hashable]], right: Sequence[tuple[str, Hashable]]) -> list[Pairing]:
    """Align two conversations, each turn given as its step id and something that stands for its input.

    Turns of the same step belong together. Where ids do not match, those with the same input do, in order. Every turn
    appears once; None stands for a turn that the other side does not have.
    """
    by_step = common_subsequence([step for step, _input in left], [step for step, _input in right])
    aligned: list[Pairing] = []
    i = j = 0
    for anchor in [*by_step, (len(left), len(right))]:
        between = _aligned_by_input(left[i : anchor[0]], right[j : anchor[1]])
        aligned += [(_shifted(a, i), _shifted(b, j)) for a, b in between]
        if anchor != (len(left), len(right)):
            aligned.append(anchor)
        i, j = anchor[0] + 1, anchor[1] + 1
    return aligned


def _aligned_by_input(left: Sequence[tuple[str, Hashable]], right: Sequence[tuple[str, Hashable]]) -> list[Pairing]:
    aligned: list[Pairing] = []
    i = j = 0
    same = common_subsequence([text for _step, text in left], [text for _step, text in right])
    for a, b in [*same, (len(left), len(right))]:
        aligned += [(place, None) for place in range(i, a)]
        aligned += [(None, place) for place in range(j, b)]
        if (a, b) != (len(left), len(right)):
            aligned.append((a, b))
        i, j = a + 1, b + 1
    return aligned


def _shifted(place: int | None, by: int) -> int | None:
    return None if place is None else place + by
