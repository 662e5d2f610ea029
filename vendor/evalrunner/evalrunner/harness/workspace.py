"""Checks of files in the workspace, after the turns (SPEC 3)."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from evalrunner.harness.files import os_text
from evalrunner.harness.scenarios import FileExpectation

LEAVES: Final = "symbolic link leaves the workspace"
_MOST_BYTES: Final = 64 * 1024 * 1024
_NOT_UTF8: Final = "stream did not contain valid UTF-8"


class UnreadableError(Exception):
    """A file is there and cannot be read as text; the text says why."""


def judge_files(expected: Sequence[FileExpectation], workspace: Path) -> list[str]:
    """Give the sentences of all entries, each judged on its own, in order."""
    return [sentence for entry in expected for sentence in _judge(entry, workspace)]


def path_fault(path: str, workspace: Path) -> str | None:
    """Say why a path of a scenario is refused, as written or for where it leads; ``.`` and doubled slashes are fine."""
    if path.startswith("/"):
        return "expected a relative path"
    if ".." in path.split("/"):
        return "parent traversal is not allowed"
    return _link_fault(path, workspace)


def _judge(entry: FileExpectation, workspace: Path) -> Iterator[str]:
    fault = path_fault(entry.path, workspace)
    if fault is not None:
        yield f"workspace file `{entry.path}` has invalid path: {fault}"
        return
    try:
        text = _read(os.path.join(workspace, entry.path))  # noqa: PTH118 (Path would drop a slash at the end)
    except FileNotFoundError:
        yield f"workspace file missing: {entry.path}"
    except UnreadableError as error:
        yield f"workspace file `{entry.path}` could not be read as UTF-8 text: {error}"
    else:
        yield from _judge_text(entry, text)


def _judge_text(entry: FileExpectation, text: str) -> Iterator[str]:
    for wanted in entry.contains:
        if wanted not in text:
            yield f"workspace file `{entry.path}` missing substring: {wanted}"
    for unwanted in entry.not_contains:
        if unwanted in text:
            yield f"workspace file `{entry.path}` contains forbidden substring: {unwanted}"


def _link_fault(path: str, workspace: Path) -> str | None:
    """Refuse a path whose links lead out of the workspace, also one to nothing; the root itself may be a link."""
    if "\0" in path:
        return None
    root = os.path.realpath(workspace)
    target = os.path.realpath(os.path.join(root, path))  # noqa: PTH118 (the path is judged as written)
    return None if target == root or target.startswith(root.rstrip("/") + "/") else LEAVES


def _read(path: str) -> str:
    """Read a file as it is; FileNotFoundError, or UnreadableError in the words of the operating system."""
    try:
        return _read_bytes(path).decode("utf-8")
    except FileNotFoundError:
        raise
    except OSError as error:
        raise UnreadableError(os_text(error)) from None
    except UnicodeDecodeError:
        raise UnreadableError(_NOT_UTF8) from None
    except ValueError:
        raise UnreadableError("file name contained an unexpected NUL byte") from None


def _read_bytes(path: str) -> bytes:
    """Open without waiting: a pipe that nobody writes to must not hold up the run, and a device has no end."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    with open(descriptor, "rb") as file:  # noqa: PTH123 (a descriptor)
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            raise UnreadableError("not a regular file")
        data = file.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise UnreadableError(f"larger than {_MOST_BYTES >> 20} MiB")
    return data
