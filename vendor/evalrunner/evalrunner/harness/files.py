"""Reading and writing files as the harness does: UTF-8, no translation of line ends, texts of the operating system."""

from __future__ import annotations

import os
from pathlib import Path


def read_text(path: Path) -> str:
    """Read a whole file as UTF-8, keeping line ends and a byte order mark; OSError or UnicodeDecodeError."""
    return path.read_bytes().decode("utf-8")


def write_text(path: Path, text: str) -> None:
    """Replace a file, making its parent folders; OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("utf-8", "backslashreplace"))


def os_text(error: OSError) -> str:
    """Give the system's text of an error and its number, in the original's form: ``… (os error 2)``."""
    if error.errno is None:
        return str(error)
    return f"{os.strerror(error.errno)} (os error {error.errno})"
