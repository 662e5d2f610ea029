"""The order of texts in the ICU root collation, as far as it decides the order of object keys."""

from __future__ import annotations

from typing import Final, TypeAlias

CollationKey: TypeAlias = tuple[str, str, str]

# Punctuation and symbols of ASCII in the order of their primary weights; digits, then letters follow.
ASCII_ORDER: Final = "\t\n\v\f\r _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789abcdefghijklmnopqrstuvwxyz"


def collation_key(text: str) -> CollationKey:
    return _ascii_key(text)


_ASCII_PRIMARY: Final[dict[int, str | None]] = dict.fromkeys(range(128))
_ASCII_PRIMARY.update({ord(character): chr(rank + 1) for rank, character in enumerate(ASCII_ORDER)})
_ASCII_PRIMARY.update({code: _ASCII_PRIMARY[code + 32] for code in range(65, 91)})
_ASCII_CASE: Final[dict[int, str | None]] = {
    code: None if primary is None else ("B" if 65 <= code <= 90 else "A") for code, primary in _ASCII_PRIMARY.items()
}


def _ascii_key(text: str) -> CollationKey:
    return text.translate(_ASCII_PRIMARY), "", text.translate(_ASCII_CASE)
