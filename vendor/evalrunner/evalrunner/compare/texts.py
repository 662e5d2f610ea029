"""The difference of two texts word by word, of bounded cost."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from typing import Final

MOST_WORDS: Final = 3_000  # of the part that differs; longer texts are compared line by line
CONTEXT: Final = 160  # characters of an equal stretch that stay beside a change
_WORDS: Final = re.compile(r"\S+\s*|\s+")
_LINES: Final = re.compile(r"[^\n]*\n|[^\n]+")


class PieceKind(StrEnum):
    EQUAL = "equal"
    CHANGED = "changed"
    FOLDED = "folded"


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of one text. Of a folded one, equal on both sides, only the length is told: its text is left out."""

    kind: PieceKind
    text: str
    length: int


Pieces = tuple[Piece, ...]


def text_difference(left: str, right: str) -> tuple[Pieces, Pieces]:
    """Return both texts as pieces: what the other side has too, and what it does not.

    The unit is the word; in texts where more than ``MOST_WORDS`` words differ it is the line, and in texts of more
    lines than that the whole differing middle. Pieces joined give the text again, but for folded ones.
    """
    start = _common_prefix(left, right)
    end = _common_suffix(left[start:], right[start:])
    middle = left[start : len(left) - end], right[start : len(right) - end]
    head, tail = (PieceKind.EQUAL, left[:start]), (PieceKind.EQUAL, left[len(left) - end :])
    before, after = _middle(*middle)
    return _pieces([head, *before, tail]), _pieces([head, *after, tail])


_Marked = tuple[PieceKind, str]


def _common_prefix(left: str, right: str) -> int:
    """Return the length of what both begin with, cut back to the end of a word."""
    length = _common_length(left, right)
    if all(not side[length : length + 1].strip() for side in (left, right)):
        return length  # what goes on with a blank, or not at all, has had its word
    while length > 0 and not left[length - 1].isspace():
        length -= 1
    return length


def _common_suffix(left: str, right: str) -> int:
    length = _common_length(left[::-1], right[::-1])
    while 0 < length < max(len(left), len(right)) and not left[len(left) - length].isspace():
        length -= 1
    return length


def _common_length(left: str, right: str) -> int:
    """Return the length of the common beginning by halving: slices compare in C."""
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _middle(left: str, right: str) -> tuple[list[_Marked], list[_Marked]]:
    for unit in (_WORDS, _LINES):
        parts = unit.findall(left), unit.findall(right)
        if max(len(parts[0]), len(parts[1])) <= MOST_WORDS:
            return _matched(*parts)
    return [(PieceKind.CHANGED, left)], [(PieceKind.CHANGED, right)]


def _matched(left: list[str], right: list[str]) -> tuple[list[_Marked], list[_Marked]]:
    before: list[_Marked] = []
    after: list[_Marked] = []
    for tag, i, i_end, j, j_end in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        kind = PieceKind.EQUAL if tag == "equal" else PieceKind.CHANGED
        before.append((kind, "".join(left[i:i_end])))
        after.append((kind, "".join(right[j:j_end])))
    return before, after


def _pieces(marked: list[_Marked]) -> Pieces:
    """Join what is of one kind. Where only the other side has something, an equal stretch ends all the same: both sides
    then show what stands around that place.
    """
    joined: list[list[str]] = []
    kinds: list[PieceKind] = []
    is_cut = False
    for kind, text in marked:
        if text and kinds and kinds[-1] is kind and not is_cut:
            joined[-1].append(text)
        elif text:
            kinds.append(kind)
            joined.append([text])
        is_cut = kind is PieceKind.CHANGED and not text
    texts = ["".join(parts) for parts in joined]
    last = len(texts) - 1
    return tuple(
        piece
        for place, (kind, text) in enumerate(zip(kinds, texts, strict=True))
        for piece in _folded(kind, text, is_first=place == 0, is_last=place == last)
    )


def _folded(kind: PieceKind, text: str, *, is_first: bool, is_last: bool) -> list[Piece]:
    """Leave out the middle of a long equal stretch; at the ends of the text only what is beside a change stays."""
    head = 0 if is_first and not is_last else CONTEXT
    tail = 0 if is_last and not is_first else CONTEXT
    left_out = len(text) - head - tail
    if kind is not PieceKind.EQUAL or left_out <= 2 * CONTEXT:
        return [Piece(kind, text, len(text))]
    parts = [Piece(kind, text[:head], head), Piece(PieceKind.FOLDED, "", left_out)]
    parts.append(Piece(kind, text[len(text) - tail :] if tail else "", tail))
    return [part for part in parts if part.length]
