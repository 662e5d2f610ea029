"""Differences of texts and JSON values, ready to be shown in two columns."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from evalrunner.compare import (
    DifferenceKind,
    IgnoreRules,
    Node,
    PieceKind,
    member_path,
    structural_difference,
    text_difference,
    without,
)

from reports.domain.json_tree import scalar_text

_LONGEST_PIECE = 4_000  # characters of one changed stretch
_MOST_PIECES = 400


@dataclass(frozen=True, slots=True)
class PieceView:
    """A stretch of a text. ``kind`` is equal, changed, folded or cut; of the last two only ``length`` is told."""

    kind: Literal["equal", "changed", "folded", "cut"]
    text: str
    length: int


@dataclass(frozen=True, slots=True)
class TextPair:
    """Two texts with their differing words marked; a side without text has none."""

    left: tuple[PieceView, ...] | None
    right: tuple[PieceView, ...] | None
    is_equal: bool


def text_pair(left: str | None, right: str | None) -> TextPair:
    if left is None or right is None or left == right:
        sides = (_whole(left), _whole(right))
        return TextPair(*sides, is_equal=left == right)
    before, after = text_difference(left, right)
    return TextPair(
        tuple(_views((piece.kind, piece.text, piece.length) for piece in before)),
        tuple(_views((piece.kind, piece.text, piece.length) for piece in after)),
        is_equal=False,
    )


def _whole(text: str | None) -> tuple[PieceView, ...] | None:
    return None if text is None else tuple(_views(iter([(PieceKind.EQUAL, text, len(text))])))


def _views(pieces: Iterator[tuple[PieceKind, str, int]]) -> Iterator[PieceView]:
    """Cut what is too long for a page, and what comes after too many pieces."""
    left_out = 0
    for number, (kind, text, length) in enumerate(pieces):
        if number >= _MOST_PIECES:
            left_out += length
        elif kind is PieceKind.FOLDED:
            yield PieceView("folded", "", length)
        else:
            yield PieceView("equal" if kind is PieceKind.EQUAL else "changed", text[:_LONGEST_PIECE], length)
            if length > _LONGEST_PIECE:
                yield PieceView("cut", "", length - _LONGEST_PIECE)
    if left_out:
        yield PieceView("cut", "", left_out)


# ---------------------------------------------------------------------------------------------------------------- JSON


@dataclass(frozen=True, slots=True)
class ValueLine:
    """One path at which two JSON values differ. ``kind``: changed, added, removed or moved; texts are shortened."""

    path: str
    kind: str
    left: str
    right: str


@dataclass(frozen=True, slots=True)
class ValuePair:
    """Where two JSON values differ. ``equal`` counts members around that are the same, ``hidden`` unshown ones."""

    lines: tuple[ValueLine, ...]
    equal: int
    hidden: int


def value_pair(left: Any, right: Any, *, ignored: IgnoreRules) -> ValuePair | None:
    """Compare two observations without the members to be ignored; None when they are the same."""
    before, after = (without(value, ignored, is_observation=True) for value in (left, right))
    node = structural_difference(before, after)
    if node is None:
        return None
    lines = tuple(_lines(node, ""))
    inner = list(_inner(node))
    return ValuePair(lines, sum(each.equal for each in inner), sum(each.hidden for each in inner))


def _inner(node: Node) -> Iterator[Node]:
    yield node
    for child in node.children:
        yield from _inner(child)


def _lines(node: Node, path: str) -> Iterator[ValueLine]:
    if node.kind is not DifferenceKind.INSIDE:
        yield _line(node, path)
    for child in node.children:
        yield from _lines(child, member_path(path, int(child.label) if node.is_list else child.label))


def _line(node: Node, path: str) -> ValueLine:
    where = path or "the whole value"
    if node.kind is DifferenceKind.MOVED:
        return ValueLine(where, "moved", scalar_text(node.left), f"at [{node.moved_to}]")
    left = "" if node.kind is DifferenceKind.ADDED else _shown(node.left, node.right)
    right = "" if node.kind is DifferenceKind.REMOVED else _shown(node.right, node.left)
    return ValueLine(where, node.kind.value, left, right)


def _shown(value: Any, other: Any) -> str:
    """Show a value in one line; of long texts that begin alike, the part from their difference on."""
    if not (isinstance(value, str) and isinstance(other, str)):
        return scalar_text(value)
    start = next((at for at, (a, b) in enumerate(zip(value, other, strict=False)) if a != b), 0)
    return scalar_text(value) if start < 60 else f"…{scalar_text(value[start - 20 :])}"
