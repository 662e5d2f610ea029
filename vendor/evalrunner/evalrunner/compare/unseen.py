"""Text from outside on one line, with nothing in it that a reader cannot see.

Control characters could move a terminal's cursor, line ends could begin a new row, bidi overrides could turn a sentence
round, and unpaired surrogates cannot be written as UTF-8. Each becomes the ASCII text that stands for it.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_SUSPECT: Final = re.compile(r"[^\x20-\x7e]")
_INVISIBLE: Final = frozenset({"Cc", "Cf", "Cs", "Cn", "Co", "Zl", "Zp"})
_BLANK_BUT_FILLED: Final = frozenset("\u115f\u1160\u2800\u3164\uffa0")
_SHORT: Final = {"\0": "\\0", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def on_one_line(text: str, longest: int = 0) -> str:
    """Return a text with what is invisible written out, cut to ``longest`` characters (0 for no limit)."""
    shown = _SUSPECT.sub(_mark, text[: longest + 1] if longest else text)
    return shown if not longest or len(shown) <= longest else f"{shown[: longest - 1]}…"


def _mark(found: re.Match[str]) -> str:
    character = found.group()
    category = unicodedata.category(character)
    if character in _SHORT:
        return _SHORT[character]
    is_unseen = category in _INVISIBLE or character in _BLANK_BUT_FILLED
    if not is_unseen and (category != "Zs" or character == "\u3000"):
        return character
    code = ord(character)
    return f"\\u{code:04x}" if category == "Cs" else f"U+{code:04X}"
