"""A persistent sequence of fixed length.

Replacing one item gives a new sequence that shares all but one path with the old one: a tree of tuples with 32
branches, as in Clojure's vectors (Bagwell, "Ideal Hash Trees", 2001). For 100,000 items that is four short tuples,
whatever else the sequence holds. So each snapshot of a run costs what changed and stays as it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, Final, Generic, TypeVar, overload

BITS: Final = 5
WIDTH: Final = 1 << BITS
MASK: Final = WIDTH - 1

T = TypeVar("T")
Node = tuple[Any, ...]


class PersistentSequence(Sequence[T], Generic[T]):
    """An immutable sequence; ``replaced`` gives a changed copy at the cost of the change."""

    __slots__ = ("_length", "_root", "_shift")

    def __init__(self, items: Iterable[T] = ()) -> None:
        nodes: list[Any] = list(items)
        self._length = len(nodes)
        self._shift = 0
        nodes = _grouped(nodes)
        while len(nodes) > 1:
            nodes = _grouped(nodes)
            self._shift += BITS
        self._root: Node = nodes[0] if nodes else ()

    def replaced(self, index: int, item: T) -> PersistentSequence[T]:
        """Give a sequence with another item at ``index`` (0 to length - 1, else IndexError)."""
        if not 0 <= index < self._length:
            raise IndexError(index)
        copy: PersistentSequence[T] = object.__new__(type(self))
        copy._length, copy._shift = self._length, self._shift
        copy._root = _replaced(self._root, self._shift, index, item)
        return copy

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[T, ...]: ...
    def __getitem__(self, index: int | slice) -> T | tuple[T, ...]:
        if isinstance(index, slice):
            return self._slice(index)
        if index < 0:
            index += self._length
        if not 0 <= index < self._length:
            raise IndexError(index)
        node: Any = self._root
        for shift in range(self._shift, -1, -BITS):
            node = node[(index >> shift) & MASK]
        item: T = node
        return item

    def _slice(self, part: slice) -> tuple[T, ...]:
        start, stop, step = part.indices(self._length)
        if start == 0 and step == 1:
            return tuple(islice(self, stop))
        return tuple(self[index] for index in range(start, stop, step))

    def __iter__(self) -> Iterator[T]:
        nodes: Iterable[Any] = self._root
        for _ in range(self._shift // BITS):
            nodes = chain.from_iterable(nodes)
        return iter(nodes)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, PersistentSequence | tuple):
            return NotImplemented
        return len(self) == len(other) and all(mine == theirs for mine, theirs in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"<PersistentSequence of {self._length}>"  # asyncio.run writes out the result of its task


def _grouped(nodes: list[Any]) -> list[Any]:
    return [tuple(nodes[start : start + WIDTH]) for start in range(0, len(nodes), WIDTH)]


def _replaced(node: Node, shift: int, index: int, item: Any) -> Node:
    slot = (index >> shift) & MASK
    if shift:
        item = _replaced(node[slot], shift - BITS, index, item)
    branches = list(node)
    branches[slot] = item
    return tuple(branches)
