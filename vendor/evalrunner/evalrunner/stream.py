"""Read one report of any length in bounded memory: its members whole, its cases one at a time.

The text is decoded in chunks into a buffer, and the standard library's C scanner reads one item at a time from it. An
item that ends beyond the buffer makes the scanner fail near the buffer's end; then the buffer grows geometrically, so
an item is scanned twice on average at the very most. Members may come in any order. Before the scanner may build
anything, the buffer's brackets and commas are counted (C-level counting that also counts those inside of texts); only
when they exceed the limit are texts taken out and the rest counted exactly.

What is read here is JSON, no more: whether the members make a report is for ``evalrunner.reports`` to say.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, Final, NamedTuple, NoReturn

from evalrunner.errors import JsonTextError

CASES: Final = "cases"
_CHUNK: Final = 1 << 17  # bytes
_PIECE: Final = 1 << 20  # bytes that are decoded at once
_NEAR_END: Final = 16  # characters; no number, literal or escape that was cut off fails earlier before the end
_LONGEST_WHOLE: Final = 309  # digits; no finite double has more before its point
_BRACKETED: Final = frozenset('{["')
_MAX_BLANKS: Final = 1 << 24  # characters in one run

_blanks = re.compile(r"[ \t\n\r]*").match
_negative_zero = re.compile(r"-0[\s,}\]]").search
_without_texts = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL).sub


@dataclass(frozen=True, slots=True)
class StreamLimits:
    """What one item (a case, or a member other than ``cases``) may cost before it is parsed.

    ``case_characters`` and ``member_characters`` bound their text, ``item_values`` the values in either. Bounds of the
    format itself are narrower for each part of a case and are checked after parsing.
    """

    case_characters: int = 1 << 27
    member_characters: int = 1 << 25
    item_values: int = 4_000_000


class Member(NamedTuple):
    """A member of the report, or with a ``position`` one of the items of its long list (its cases)."""

    name: str
    position: int | None
    value: Any


class ReportTextError(JsonTextError):
    """A report's text cannot be read; ``code`` is stable, ``path`` the item at fault, ``byte`` counts from 0.

    Codes: ``empty``, ``not_utf8``, ``not_json`` (also text that ends early or goes on), ``not_object``,
    ``member_twice``, ``item_too_large``, ``too_many_values``, ``too_deep``.
    """

    def __init__(self, code: str, reason: str, path: str, byte: int | None = None) -> None:
        super().__init__(reason)
        self.code, self.path, self.byte = code, path, byte


def read_members(source: BinaryIO, limits: StreamLimits | None = None, *, listed: str = CASES) -> Iterator[Member]:
    """Give the members of the one JSON object that ``source`` holds as UTF-8, each as soon as it is read.

    The member ``listed`` comes item by item when it is a list; an empty list comes as one member with the value ``[]``.
    Raises ReportTextError, also for a member of the top object that comes twice and for anything after the object.
    """
    return _Reader(source, limits or StreamLimits(), listed).members()


class _ConstantError(Exception):
    """NaN or an infinity was written as a bare word."""


def _refuse_constant(name: str) -> NoReturn:
    raise _ConstantError(name)


def _whole_number(digits: str) -> int | float:
    if digits == "-0":
        return -0.0
    return int(digits) if len(digits) <= _LONGEST_WHOLE else float(digits)


_fast = json.JSONDecoder(parse_constant=_refuse_constant)
_exact = json.JSONDecoder(parse_constant=_refuse_constant, parse_int=_whole_number)


class _Constant:
    """Stands for a bare word while its place is looked for."""


_marking = json.JSONDecoder(parse_constant=lambda name: _Constant(), parse_int=_whole_number)


class _Reader:
    def __init__(self, source: BinaryIO, limits: StreamLimits, listed: str) -> None:
        self.listed = listed
        self.source = source
        self.limits = limits
        self.decoder = codecs.getincrementaldecoder("utf-8")("strict")
        self.buffer = ""
        self.position = 0
        self.bytes_decoded = 0
        self.is_complete = self.is_broken = False
        self.path = ""

    # ---------------------------------------------------------------------------------------------------- structure

    def members(self) -> Iterator[Member]:
        self._begin()
        seen: set[str] = set()
        if self._next() == "}":
            self._take()
        else:
            while True:
                name = self._member_name(seen)
                yield from self._items() if name == self.listed and self._next() == "[" else self._whole_member(name)
                self.path = ""
                if self._separator("}"):
                    break
        self._end()

    def _begin(self) -> None:
        if self._next(may_end=True) is None:
            raise ReportTextError("empty", "the file is empty; a report is a JSON object", "", 0)
        if self.buffer.startswith("\ufeff"):
            self._fail("not_json", "it starts with a byte order mark, which JSON does not allow")
        if self._next() != "{":
            if self.buffer[self.position] in '["tfn-0123456789':
                self._fail("not_object", "a report is a JSON object, but this text begins with something else")
            self._fail("not_json", f"not JSON: it begins with {self.buffer[self.position]!a}")
        self._take()

    def _member_name(self, seen: set[str]) -> str:
        if self._next() != '"':
            self._fail("not_json", "not JSON: expected the name of a member in double quotes")
        name: str = self._value(self.limits.member_characters)
        if name in seen:
            self.path = name
            self._fail("member_twice", "this member comes twice")
        seen.add(name)
        if self._next() != ":":
            self._fail("not_json", "not JSON: expected ':' after the name of a member")
        self._take()
        self.path = name
        return name

    def _whole_member(self, name: str) -> Iterator[Member]:
        yield Member(name, None, self._value(self.limits.member_characters))

    def _items(self) -> Iterator[Member]:
        self._take()
        if self._next() == "]":
            self._take()
            yield Member(self.listed, None, [])
            return
        index = 0
        while True:
            self.path = f"{self.listed}.{index}"
            yield Member(self.listed, index, self._value(self.limits.case_characters))
            if self._separator("]"):
                return
            index += 1

    def _separator(self, closing: str) -> bool:
        """Take ',' (False) or the closing bracket (True)."""
        found = self._next()
        if found != closing and found != ",":
            self._fail("not_json", f"not JSON: expected ',' or '{closing}'")
        self._take()
        return found == closing

    def _end(self) -> None:
        if self._next(may_end=True) is not None:
            self._fail("not_json", "the report has ended, but the text goes on")

    # ---------------------------------------------------------------------------------------------------- characters

    def _next(self, *, may_end: bool = False) -> str | None:
        """Give the next character that is no blank without taking it; None at the end, where that is allowed."""
        blanks = 0
        while True:
            match = _blanks(self.buffer, self.position)
            assert match is not None
            blanks += match.end() - self.position
            self.position = match.end()
            if self.position < len(self.buffer):
                return self.buffer[self.position]
            if blanks > _MAX_BLANKS:
                self._fail("item_too_large", f"more than {_MAX_BLANKS:,} blanks in a row")
            if not self._read(_CHUNK):
                if may_end:
                    return None
                self._fail("not_json", "the text ends before the report does; is the file cut off?")

    def _take(self) -> None:
        self.position += 1

    def _read(self, size: int) -> bool:
        """Drop what is done with and append about ``size`` bytes of text; False at the end of the source."""
        if self.is_broken:
            byte = self.bytes_decoded
            raise ReportTextError("not_utf8", f"not UTF-8 text: byte {byte}", self.path, byte)
        if self.is_complete:
            return False
        parts = [self.buffer[self.position :]]
        while size > 0 and not (self.is_complete or self.is_broken):
            chunk = self.source.read(min(size, _PIECE))
            self.is_complete = not chunk
            parts.append(self._decoded(chunk))
            size -= len(chunk)
        self.buffer = "".join(parts)
        self.position = 0
        return True

    def _decoded(self, chunk: bytes) -> str:
        """Decode up to the first fault, so that it is met, and raised, in the item in which it lies."""
        try:
            text = self.decoder.decode(chunk, final=self.is_complete)
        except UnicodeDecodeError as error:
            self.bytes_decoded += error.start - len(self.decoder.getstate()[0])
            self.decoder.reset()
            if error.reason != "unexpected end of data":
                self.is_broken, self.is_complete = True, False
            return error.object[: error.start].decode("utf-8")
        self.bytes_decoded += len(chunk)
        return text

    # --------------------------------------------------------------------------------------------------------- values

    def _value(self, most_characters: int) -> Any:
        first = self._next()
        while True:
            self._check_count()
            try:
                value, end = self._scan(_fast)
                # A bare number may go on in the next chunk, also "1." and "1e-".
                if self.is_complete or first in _BRACKETED or end < len(self.buffer) - _NEAR_END:
                    if self.buffer.find("-0", self.position, end) >= 0 and _negative_zero(
                        self.buffer, self.position, end + 1
                    ):
                        value, end = self._scan(_exact)
                    self.position = end
                    return value
            except json.JSONDecodeError as error:
                self._refuse_unless_cut_off(error)
            have = len(self.buffer) - self.position
            if have > most_characters:
                self._fail("item_too_large", f"longer than {most_characters:,} characters")
            self._read(max(_CHUNK, min(have, most_characters + 1 - have)))

    def _scan(self, decoder: json.JSONDecoder) -> tuple[Any, int]:
        try:
            return decoder.raw_decode(self.buffer, self.position)
        except _ConstantError as error:
            path = self._path_of_constant()
            raise ReportTextError("not_json", f"{error} is not JSON", path, self._byte(self.position)) from None
        except RecursionError:
            self._fail("too_deep", "lists and objects are nested too deeply")
        except json.JSONDecodeError:
            raise
        except ValueError:  # int() refuses very long texts; the exact decoder reads them as infinities
            if decoder is _exact:
                raise
            return self._scan(_exact)

    def _refuse_unless_cut_off(self, error: json.JSONDecodeError) -> None:
        is_near_end = error.pos >= len(self.buffer) - _NEAR_END or error.msg.startswith("Unterminated")
        if is_near_end and not self.is_complete:
            return
        if is_near_end:
            self._fail("not_json", "the text ends before the report does; is the file cut off?", error.pos)
        self._fail("not_json", f"not JSON: {error.msg[0].lower()}{error.msg[1:]}", error.pos)

    def _check_count(self) -> None:
        """Refuse a buffer that may cost too much once it is objects; it exceeds the limit for one long item only."""
        limit = self.limits.item_values
        if len(self.buffer) - self.position <= limit or _structure(self.buffer) <= limit:
            return
        if _structure(_without_texts("", self.buffer[self.position :])) > limit:
            self._fail("too_many_values", f"more than {limit:,} values in one item")

    # --------------------------------------------------------------------------------------------------------- faults

    def _fail(self, code: str, reason: str, position: int | None = None) -> NoReturn:
        byte = self._byte(self.position if position is None else position)
        raise ReportTextError(code, f"{reason} (byte {byte})", self.path, byte)

    def _byte(self, position: int) -> int:
        """Give the place of a character of the buffer in the source, in bytes."""
        pending = len(self.decoder.getstate()[0])
        return self.bytes_decoded - pending - len(self.buffer[position:].encode("utf-8"))

    def _path_of_constant(self) -> str:
        """Find the first bare word; only the item's own path where the rest of the item is no JSON or not read yet."""
        try:
            value, _ = _marking.raw_decode(self.buffer, self.position)
        except (ValueError, RecursionError):
            return self.path
        return next(_constants(value, self.path), self.path)


def _structure(text: str) -> int:
    return text.count(",") + text.count("[") + text.count("{")


def _constants(value: object, path: str) -> Iterator[str]:
    if isinstance(value, _Constant):
        yield path
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from _constants(item, f"{path}.{name}")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _constants(item, f"{path}.{index}")
