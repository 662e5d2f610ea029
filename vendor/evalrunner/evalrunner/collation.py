"""The order of texts in the ICU root collation, as far as it decides the order of object keys.

A text is compared in three rounds: by the primary weights of all its characters (which letter), then by the secondary
ones (which accents), then by the tertiary ones (small or capital, and other variants). ASCII, which is nearly every
key, needs two small tables; for everything else ``collation.txt`` is read once (its format and origin are told in
``tools/collation.mjs``). Reference: Unicode Technical Standard 10.

Not exact, all among characters that are hardly ever keys: contractions in the scripts of South and Southeast Asia, and
ideographs beyond the basic plane, which are sorted by code point behind the others.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from typing import Final, NamedTuple, TypeAlias

# Punctuation and symbols of ASCII in the order of their primary weights; digits, then letters follow.
ASCII_ORDER: Final = "\t\n\v\f\r _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789abcdefghijklmnopqrstuvwxyz"


class CollationKey(NamedTuple):
    """The weights of one text by round; each character stands for one weight."""

    primary: str = ""
    secondary: str = ""
    tertiary: str = ""


def collation_key(text: str, *, ascii_only: bool) -> CollationKey:
    """Give the sort key of a text; texts with equal keys are equal for the collation.

    Keys made with ``ascii_only`` (for ASCII texts alone) are cheaper and compare only among themselves.
    """
    return _ascii_key(text) if ascii_only else _full_key(text)


# --------------------------------------------------------------------------------------------------------------- ASCII

_ASCII_PRIMARY: Final[dict[int, str | None]] = dict.fromkeys(range(128))
_ASCII_PRIMARY.update({ord(character): chr(rank + 1) for rank, character in enumerate(ASCII_ORDER)})
_ASCII_PRIMARY.update({code: _ASCII_PRIMARY[code + 32] for code in range(ord("A"), ord("Z") + 1)})
_ASCII_TERTIARY: Final[dict[int, str | None]] = {
    code: None if primary is None else "\2" if chr(code).isupper() else "\1" for code, primary in _ASCII_PRIMARY.items()
}


def _ascii_key(text: str) -> CollationKey:
    return CollationKey(text.translate(_ASCII_PRIMARY), "", text.translate(_ASCII_TERTIARY))


# ---------------------------------------------------------------------------------------------------------- everything

Weights: TypeAlias = Mapping[str, CollationKey]

_COMMON: Final = "\1"
_FIRST_MARK: Final = 0x100
_FIRST_SPECIAL: Final = 0x8000  # secondary weights behind all marks
_SPECIAL_ITEM: Final = "\ufffe"
_TERTIARY_STEP: Final = 2  # leaves a place behind each variant for what is only compatible with it
_PREPOSED_VOWEL: Final = re.compile("([\u0e40-\u0e44](?=[\u0e01-\u0e2e])|[\u0ec0-\u0ec4](?=[\u0e81-\u0eae]))(.)")
_OTHER_IDEOGRAPH: Final = "\U00100000"
_UNKNOWN: Final = "\U00100001"


def _full_key(text: str) -> CollationKey:
    weights = _weights()
    decomposed = _in_logical_order(unicodedata.normalize("NFD", text))
    recomposed = _letters_of_their_own().sub(lambda found: unicodedata.normalize("NFC", found[0]), decomposed)
    return _joined([_character_key(character, weights) for character in recomposed])


def _in_logical_order(text: str) -> str:
    """Put Thai and Lao vowels that are written before their consonant behind it."""
    return _PREPOSED_VOWEL.sub(r"\2\1", text)


@cache
def _letters_of_their_own() -> re.Pattern[str]:
    """Find what the table lists as one letter although it decomposes into several characters."""
    spelled = {unicodedata.normalize("NFD", letter) for letter in _weights()} - _weights().keys()
    return re.compile("|".join(sorted(map(re.escape, spelled), key=len, reverse=True)))


def _joined(parts: list[CollationKey]) -> CollationKey:
    return CollationKey(*("".join(weights) for weights in zip(*parts, strict=True))) if parts else CollationKey()


def _character_key(character: str, weights: Weights) -> CollationKey:
    known = weights.get(character)
    return known if known is not None else _derived_key(character, weights)


def _derived_key(character: str, weights: Weights) -> CollationKey:
    """Give the weights of a character that the table leaves out."""
    compatible = unicodedata.normalize("NFKD", character)
    if compatible != character:
        return _joined([_less_plain(_character_key(item, weights)) for item in compatible])
    is_ideograph = unicodedata.name(character, "").startswith("CJK UNIFIED IDEOGRAPH")
    return CollationKey((_OTHER_IDEOGRAPH if is_ideograph else _UNKNOWN) + character, _COMMON, _COMMON)


def _less_plain(key: CollationKey) -> CollationKey:
    return key._replace(tertiary="".join(chr(ord(weight) + 1) for weight in key.tertiary))


@cache
def _weights() -> Weights:
    sections = _sections()
    weights: dict[str, CollationKey] = {}
    for character in _characters(sections["ignorable"]):
        weights[character] = CollationKey()
    for rank, line in enumerate(_lines_of_ranges(sections["marks"]), start=_FIRST_MARK):
        weights.update(_variants(line, "", chr(rank)))
    for rank, line in enumerate(_lines_of_ranges(sections["letters"]), start=1):
        for place, variants in enumerate(line.split(";")):
            weights.update(_variants(variants, chr(rank), chr(_FIRST_SPECIAL + place) if place else _COMMON))
    weights[_SPECIAL_ITEM] = CollationKey("", chr(_FIRST_SPECIAL), _COMMON)
    for line in sections["sequences"]:
        character, _, items = line.partition(":")
        parts = [_character_key(chr(int(item, 16)), weights) for item in items.split(",")]
        weights[chr(int(character, 16))] = _joined(parts)
    return weights


def _sections() -> dict[str, list[str]]:
    """Read the table into its four sections of lines."""
    sections: dict[str, list[str]] = {}
    for line in resources.files("evalrunner").joinpath("collation.txt").read_text("ascii").splitlines():
        if line in ("ignorable", "marks", "letters", "sequences"):
            lines = sections[line] = []
        elif not line.startswith("#"):
            lines.append(line)
    return sections


def _lines_of_ranges(lines: list[str]) -> Iterator[str]:
    """Spell out ``first-last`` as one line for each character."""
    for line in lines:
        first, is_range, last = line.partition("-")
        if is_range:
            yield from (f"{code:x}" for code in range(int(first, 16), int(last, 16) + 1))
        else:
            yield line


def _characters(lines: list[str]) -> Iterator[str]:
    for line in _lines_of_ranges(lines):
        yield chr(int(line, 16))


def _variants(line: str, primary: str, secondary: str) -> Iterator[tuple[str, CollationKey]]:
    for place, equal in enumerate(line.split(" ")):
        key = CollationKey(primary, secondary, chr(1 + place * _TERTIARY_STEP))
        yield from ((chr(int(code, 16)), key) for code in equal.split("="))
