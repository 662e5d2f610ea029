"""Strict JSON text: what JSON allows and nothing more, with the place of the first fault.

``json.loads`` accepts NaN and Infinity, loses the sign of -0 and answers deep nesting with a RecursionError; text from
outside is therefore read here.
"""

from __future__ import annotations

import json
import re
from typing import Final, NoReturn

from evalrunner.errors import JsonTextError

# No finite double has more digits before its point; int() refuses very long texts anyway.
_LONGEST_WHOLE: Final = 309
_next_token = re.compile(r'"(?:[^"\\]|\\.)*"|NaN|-?Infinity', re.DOTALL).finditer


def parse_json(content: bytes) -> object:
    """Read one JSON value from UTF-8 text; JsonTextError says what is wrong and where.

    Numbers too large for a double become infinities (which no free data accepts), repeated members keep the last
    value, unpaired surrogates written as escapes are kept.
    """
    text = _decoded(content)
    try:
        return json.loads(text, parse_int=_whole_number, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise JsonTextError(_reason(text, error.msg), error.lineno, error.colno) from None
    except _ConstantError as error:
        raise JsonTextError(f"{error} is not JSON", *_place(text, _constant_position(text))) from None
    except RecursionError:
        raise JsonTextError("lists and objects are nested too deeply") from None


def _decoded(content: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        column = error.start - content.rfind(b"\n", 0, error.start)
        raise JsonTextError(f"not UTF-8 text (byte {error.start})", line, column) from None


def _reason(text: str, message: str) -> str:
    if not text.strip():
        return "empty, no JSON value"
    if text.startswith("\ufeff"):
        return "starts with a byte order mark, which JSON does not allow"
    return f"not JSON: {message[0].lower()}{message[1:]}"


class _ConstantError(Exception):
    """NaN or an infinity was written as a bare word."""


def _refuse_constant(name: str) -> NoReturn:
    raise _ConstantError(name)


def _constant_position(text: str) -> int:
    return next(token.start() for token in _next_token(text) if not token[0].startswith('"'))


def _place(text: str, position: int) -> tuple[int, int]:
    return text.count("\n", 0, position) + 1, position - text.rfind("\n", 0, position)


def _whole_number(digits: str) -> int | float:
    if digits == "-0":
        return -0.0
    return int(digits) if len(digits) <= _LONGEST_WHOLE else float(digits)
