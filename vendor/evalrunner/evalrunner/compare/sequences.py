"""Longest common subsequences of bounded cost, and the alignment of two conversations by their steps."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Final, TypeAlias

Pairing: TypeAlias = tuple[int | None, int | None]

LARGEST_TABLE: Final = 250_000  # cells; 500 turns against 500 turns


def common_subsequence(left: Sequence[Hashable], right: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Return the places of a longest common subsequence, in order.

    What is equal at both ends is taken first. A middle whose table would exceed ``LARGEST_TABLE`` is only compared
    place by place, so that the cost stays bounded; the result is common and in order all the same.
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
        return [(place, place) for place, pair in enumerate(zip(left, right, strict=False)) if pair[0] == pair[1]]
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
