"""TOML text from outside: one error for everything that ``tomllib`` may raise."""

from __future__ import annotations

import tomllib
from typing import Any


class TomlTextError(ValueError):
    """Text that is no TOML, or more than can be read; the text says what is wrong and where."""


def parse_toml(text: str) -> dict[str, Any]:
    """Read a TOML document; TomlTextError also for numbers of thousands of digits and for what is nested too deeply."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise TomlTextError(str(error)) from None
    except RecursionError:
        raise TomlTextError("lists and tables are nested too deeply") from None
    except ValueError:  # int() refuses very long texts
        raise TomlTextError("a number has too many digits") from None
