"""Finding what a reader could not see in a text: controls, bidi overrides, zero-width characters, lone surrogates."""

import re
import unicodedata
from collections.abc import Iterator

from reports.text import ESCAPE

# Everything that is not ASCII text or line structure is looked at; most texts end here, in C.
_SUSPECT = re.compile(r"[^\x20-\x7e]")
# Stored texts carry these escapes (reports.text); other digits after U+FFFE are just digits.
_STORED = re.compile(f"{ESCAPE}(0000|d[89a-f][0-9a-f]{{2}}|fffe)")
_INVISIBLE = {"Cc", "Cf", "Cs", "Cn", "Co", "Zl", "Zp"}
_BLANK_BUT_FILLED = frozenset("\u115f\u1160\u2800\u3164\uffa0")
_SHORT = {"\0": "\\0", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def unstored(text: str) -> str:
    """Return a text with the escapes of its stored form resolved, for showing."""
    return _STORED.sub(lambda found: chr(int(found.group(1), 16)), text) if ESCAPE in text else text


def is_unseen(character: str) -> bool:
    """Tell whether a character leaves no mark of its own on a page."""
    category = unicodedata.category(character)
    if category in _INVISIBLE or character in _BLANK_BUT_FILLED:
        return True
    return category == "Zs" and character not in " \u3000"


def mark_of(character: str) -> str:
    """Return the ASCII text that stands for an invisible character: \\n, \\x1b, \\ud83d or U+202E."""
    if character in _SHORT:
        return _SHORT[character]
    code = ord(character)
    if 0xD800 <= code <= 0xDFFF:
        return f"\\u{code:04x}"
    return f"\\x{code:02x}" if code < 0x20 or code == 0x7F else f"U+{code:04X}"


def name_of(character: str) -> str:
    """Return the name of an invisible character for its tooltip."""
    code = f"U+{ord(character):04X}"
    if unicodedata.category(character) == "Cs":
        return f"{code} half of a surrogate pair"
    name = unicodedata.name(character, "").lower()
    return f"{code} {name}".strip() if name else f"{code} control character"


def pieces(text: str, *, keep: str = "") -> Iterator[tuple[str, bool]]:
    """Cut a text into (piece, is_unseen): visible stretches, and single invisible characters not in ``keep``."""
    start = 0
    for found in _SUSPECT.finditer(text):
        character = found.group()
        if character in keep or not is_unseen(character):
            continue
        if found.start() > start:
            yield text[start : found.start()], False
        yield character, True
        start = found.end()
    if start < len(text):
        yield text[start:], False
