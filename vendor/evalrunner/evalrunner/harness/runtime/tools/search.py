"""The tool ``search.ripgrep``: lines of files that a pattern is found in.

Always our own search, in the dialect of ripgrep (the same crate, see ``evalrunner.harness.patterns``): what a scenario
finds must not depend on what is installed, and an external program would have to be trusted with the paths.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from threading import Event
from typing import Final

from evalrunner.data import JsonObject
from evalrunner.harness.errors import HarnessError, ToolError
from evalrunner.harness.patterns import is_found
from evalrunner.harness.runtime.model import ToolDefinition
from evalrunner.harness.runtime.tools.base import MOST_OUTPUT_BYTES, Arguments, ToolOutput, cut, in_thread
from evalrunner.harness.runtime.tools.tree import MOST_FILE_BYTES, Tree, open_inner, read_regular

_MOST_FILES: Final = 20_000
_MOST_DEPTH: Final = 64
_MOST_RESULTS: Final = 1000
_MOST_CONTEXT: Final = 5
_LIMIT_S: Final = 60.0
_PASSED_OVER: Final = ("node_modules", "target")


@dataclass(frozen=True, slots=True)
class Query:
    """What is looked for; ``file_glob`` is matched with the name of a file, or with its path if it has a slash."""

    pattern: str
    file_glob: str | None
    max_results: int
    context_lines: int

    def wants(self, path: str) -> bool:
        if self.file_glob is None:
            return True
        return fnmatchcase(path if "/" in self.file_glob else path.rpartition("/")[2], self.file_glob)


@dataclass(slots=True)
class Findings:
    """Lines found so far, as they are shown."""

    lines: list[str] = field(default_factory=list)
    matches: int = 0
    files: int = 0
    size: int = 0
    is_cut: bool = False

    def add(self, line: str) -> None:
        self.lines.append(line)
        self.size += len(line)

    def to_output(self) -> ToolOutput:
        remark = ", cut off" if self.is_cut else ""
        shown = cut("\n".join([f"{self.matches} matching lines in {self.files} files{remark}:", *self.lines]))
        return ToolOutput(shown.text, truncated=shown.truncated or self.is_cut)


class SearchTool:
    """Searches all files below a folder; hidden folders and those of installed packages are passed over."""

    definition = ToolDefinition(
        "search.ripgrep",
        "Search text files of the workspace with a regular expression; gives file:line:text lines.",
        {
            "type": "object",
            "properties": {
                "pattern": {"type": "string", "description": "Regular expression, searched line by line"},
                "path": {"type": "string", "description": "File or folder relative to the workspace"},
                "file_glob": {"type": "string", "description": "Only files of this name, for instance *.py"},
                "max_results": {"type": "integer", "default": 50},
                "context_lines": {"type": "integer", "default": 0, "maximum": _MOST_CONTEXT},
            },
            "required": ["pattern"],
        },
    )

    def __init__(self, tree: Tree) -> None:
        self._tree = tree

    async def invoke(self, arguments: JsonObject) -> ToolOutput:
        given = Arguments(arguments)
        query = Query(
            given.text("pattern"),
            given.text_or("file_glob", "") or None,
            given.whole("max_results", 50, least=1, most=_MOST_RESULTS),
            given.whole("context_lines", 0, least=0, most=_MOST_CONTEXT),
        )
        try:
            is_found(query.pattern, "")
        except HarnessError as error:
            raise ToolError(str(error)) from None
        path = given.text_or("path", ".")
        return await in_thread(lambda stop: self._search(path, query, stop))

    def _search(self, path: str, query: Query, stop: Event) -> ToolOutput:
        findings, ends = Findings(), time.monotonic() + _LIMIT_S
        for number, (name, data) in enumerate(self._files(path, query)):
            if stop.is_set() or findings.is_cut:
                break
            if number == _MOST_FILES or time.monotonic() > ends:
                findings.is_cut = True
                break
            _search_file(name, data, query, findings, stop)
        return findings.to_output()

    def _files(self, path: str, query: Query) -> Iterator[tuple[str, bytes]]:
        with self._tree.reading(path) as spot:
            mode = os.stat(spot.name, dir_fd=spot.folder, follow_symlinks=False).st_mode
            if stat.S_ISDIR(mode):
                yield from _walk(spot.open_folder(), "" if spot.path == "." else f"{spot.path}/", query, _MOST_DEPTH)
            else:
                yield spot.path, spot.read(MOST_FILE_BYTES)


def _walk(folder: int, prefix: str, query: Query, depth: int) -> Iterator[tuple[str, bytes]]:
    """Give the files below an open folder, by name; links are passed over, and what cannot be read or is too large."""
    try:
        for name in sorted(os.listdir(folder)):
            path = prefix + os.fsencode(name).decode("utf-8", "replace")
            with suppress(OSError, ToolError):
                status = os.stat(name, dir_fd=folder, follow_symlinks=False)
                if stat.S_ISREG(status.st_mode) and status.st_size <= MOST_FILE_BYTES and query.wants(path):
                    yield path, read_regular(name, folder, MOST_FILE_BYTES)
                elif stat.S_ISDIR(status.st_mode) and depth and not _is_passed_over(name):
                    yield from _walk(open_inner(name, folder), f"{path}/", query, depth - 1)
    finally:
        os.close(folder)


def _is_passed_over(folder: str) -> bool:
    return folder.startswith(".") or folder in _PASSED_OVER


def _search_file(name: str, data: bytes, query: Query, findings: Findings, stop: Event) -> None:
    """Add the lines of one file; one that is no text is passed over."""
    try:
        lines = [line.removesuffix("\r") for line in data.decode("utf-8").removesuffix("\n").split("\n")]
    except UnicodeDecodeError:
        return
    before, last = findings.matches, -1
    for number, line in enumerate(lines):
        if stop.is_set():
            return
        if not is_found(query.pattern, line):
            continue
        if findings.matches == query.max_results or findings.size > MOST_OUTPUT_BYTES:
            findings.is_cut = True
            break
        findings.matches += 1
        last = _show(name, lines, number, last, query, findings)
    findings.files += findings.matches > before


def _show(name: str, lines: list[str], number: int, last: int, query: Query, findings: Findings) -> int:
    """Show a matching line with its neighbours as grep does, none of them twice; gives the last line shown.

    A neighbour that matches, too, is shown as a match when its turn comes, so neighbours end before the next match.
    """
    first = max(last + 1, number - query.context_lines)
    if query.context_lines and findings.lines and (last < 0 or first > last + 1):
        findings.add("--")
    for near in range(first, number):
        findings.add(f"{name}-{near + 1}-{lines[near]}")
    findings.add(f"{name}:{number + 1}:{lines[number]}")
    end = number + 1
    while end < min(len(lines), number + 1 + query.context_lines) and not is_found(query.pattern, lines[end]):
        findings.add(f"{name}-{end + 1}-{lines[end]}")
        end += 1
    return end - 1
