"""Differences of texts and JSON values, ready to be shown in two columns."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from evalrunner.compare import (
    DifferenceKind,
    IgnoreRules,
    Node,
    PieceKind,
    member_path,
    path_text,
    same_value,
    structural_difference,
    text_difference,
    without,
)

from reports.domain.anchors import path_anchor
from reports.domain.json_tree import Steps, at_path, scalar_text

_LONGEST_PIECE = 4_000  # characters of one changed stretch
_MOST_PIECES = 400
_WHOLE = "the whole value"


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
    """One path at which two JSON values differ. ``kind``: changed, added, removed or moved; texts are shortened.

    ``path`` is that of the side that ``anchor`` names: the candidate's, or the baseline's where the candidate has none.
    ``baseline_path`` is told where it is another. Of a path that was asked for, ``kind`` may also be same, left out (by
    an ignore rule), within (part of a difference above or around others), or absent on both sides.
    """

    path: str
    kind: str
    left: str
    right: str
    anchor: str
    baseline_path: str = ""
    is_asked: bool = False


@dataclass(frozen=True, slots=True)
class ValuePair:
    """Where two JSON values differ. ``equal`` counts members around that are the same, ``hidden`` unshown ones.

    ``asked`` is the line of a path that was asked for and is none of ``lines``.
    """

    lines: tuple[ValueLine, ...]
    equal: int
    hidden: int
    asked: ValueLine | None = None
    is_lone: bool = False

    @property
    def words(self) -> str:
        """Say how much differs: "2 paths differ, 5 more not shown"."""
        if self.is_lone:
            return "on one side only"
        if not self.lines:
            return "nothing differs"
        differ = "1 path differs" if len(self.lines) == 1 else f"{len(self.lines):,} paths differ"
        return f"{differ}, {self.hidden:,} more not shown" if self.hidden else differ


def value_pair(
    left: Any, right: Any, *, ignored: IgnoreRules, owners: tuple[str, str], asked: Steps | None = None
) -> ValuePair | None:
    """Compare two observations without the members to be ignored; None when they are the same.

    ``owners`` begin the anchors of the paths of either side. What was ``asked`` is among the lines, even when it is the
    same or left out.
    """
    cut = [without(value, ignored, is_observation=True) for value in (left, right)]
    node = structural_difference(*cut)
    lines = tuple(_asked_among(_lines(node, "", "", owners), asked)) if node is not None else ()
    line = None
    if asked is not None and not any(each.is_asked for each in lines):
        line = _asked_line((left, right), (cut[0], cut[1]), asked, owners[1])
    if node is None and line is None:
        return None
    inner = list(_inner(node)) if node is not None else []
    return ValuePair(lines, sum(each.equal for each in inner), sum(each.hidden for each in inner), line)


def lone_value(left: Any, right: Any, asked: Steps | None, owner: str) -> ValuePair | None:
    """Return the line of a path where only one side, or none, has an observation; None where no path was asked."""
    if asked is None:
        return None
    return ValuePair((), 0, 0, _asked_line((left, right), (left, right), asked, owner), is_lone=True)


def _inner(node: Node) -> Iterator[Node]:
    yield node
    for child in node.children:
        yield from _inner(child)


def _lines(node: Node, left: str, right: str, owners: tuple[str, str]) -> Iterator[ValueLine]:
    if node.kind is not DifferenceKind.INSIDE:
        yield _line(node, left, right, owners)
    for child in node.children:
        yield from _lines(child, _member(node, left, child.left_label), _member(node, right, child.label), owners)


def _member(node: Node, path: str, label: str) -> str:
    return member_path(path, int(label) if node.is_list else label)


def _line(node: Node, left: str, right: str, owners: tuple[str, str]) -> ValueLine:
    if node.kind is DifferenceKind.MOVED:
        return _of_baseline(node, left, owners[0], scalar_text(node.left), f"at [{node.moved_to}]")
    if node.kind is DifferenceKind.REMOVED:
        return _of_baseline(node, left, owners[0], _shown(node.left, node.right), "")
    return ValueLine(
        path=right or _WHOLE,
        kind=node.kind.value,
        left="" if node.kind is DifferenceKind.ADDED else _shown(node.left, node.right),
        right=_shown(node.right, node.left),
        anchor=path_anchor(owners[1], right),
        baseline_path=left if left != right and node.kind is DifferenceKind.CHANGED else "",
    )


def _of_baseline(node: Node, path: str, owner: str, left: str, right: str) -> ValueLine:
    return ValueLine(path or _WHOLE, node.kind.value, left, right, path_anchor(owner, path))


def _shown(value: Any, other: Any) -> str:
    """Show a value in one line; of long texts that begin alike, the part from their difference on."""
    if not (isinstance(value, str) and isinstance(other, str)):
        return scalar_text(value)
    start = next((at for at, (a, b) in enumerate(zip(value, other, strict=False)) if a != b), 0)
    return scalar_text(value) if start < 60 else f"…{scalar_text(value[start - 20 :])}"


# ----------------------------------------------------------------------------------------------- a path that was asked


def _asked_among(lines: Iterator[ValueLine], asked: Steps | None) -> Iterator[ValueLine]:
    text = None if asked is None else path_text(asked) or _WHOLE
    return (replace(line, is_asked=True) if line.path == text else line for line in lines)


def _asked_line(whole: tuple[Any, Any], cut: tuple[Any, Any], asked: Steps, owner: str) -> ValueLine:
    """Return the line of a path at which the comparison has none of its own."""
    values = [_found(value, asked) for value in whole]
    left, right = ("" if not found else scalar_text(found[0]) for found in values)
    path = path_text(asked)
    return ValueLine(path or _WHOLE, _kind(values, cut, asked), left, right, path_anchor(owner, path), is_asked=True)


def _kind(values: Sequence[tuple[Any, ...]], cut: tuple[Any, Any], asked: Steps) -> str:
    if not any(values):
        return "absent"
    if any(found and not _found(value, asked) for found, value in zip(values, cut, strict=True)):
        return "left out"
    return "same" if all(values) and same_value(values[0][0], values[1][0]) else "within"


def _found(value: Any, steps: Steps) -> tuple[Any, ...]:
    """Return the value at a path as a tuple of one; () where there is none."""
    try:
        return (at_path(value, steps),)
    except KeyError:
        return ()
