"""The tools ``fs.read``, ``fs.list`` and ``fs.write``."""

from __future__ import annotations

import codecs
import contextlib
import json
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from threading import Event
from typing import Final

from evalrunner.data import JsonObject
from evalrunner.harness.errors import ToolError
from evalrunner.harness.runtime.model import ToolDefinition
from evalrunner.harness.runtime.tools.base import MOST_OUTPUT_BYTES, Arguments, ToolOutput, in_thread
from evalrunner.harness.runtime.tools.tree import MOST_FILE_BYTES, Spot, Tree, open_inner

_MOST_ENTRIES: Final = 20_000
_MOST_DEPTH: Final = 64


class ReadTool:
    """``fs.read``: the text of a file."""

    definition = ToolDefinition(
        "fs.read",
        "Read a UTF-8 text file of the workspace.",
        {
            "type": "object",
            "properties": {"path": {"type": "string", "description": "Path relative to the workspace"}},
            "required": ["path"],
        },
    )

    def __init__(self, tree: Tree) -> None:
        self._tree = tree

    async def invoke(self, arguments: JsonObject) -> ToolOutput:
        path = Arguments(arguments).text("path")
        return await in_thread(lambda _: self._read(path))

    def _read(self, path: str) -> ToolOutput:
        with self._tree.reading(path) as spot:
            data = spot.read(MOST_OUTPUT_BYTES + 1)
        is_cut = len(data) > MOST_OUTPUT_BYTES
        try:
            # A character that the limit cuts in two is left out, one that is broken in the file is not.
            text = codecs.getincrementaldecoder("utf-8")().decode(data[:MOST_OUTPUT_BYTES], final=not is_cut)
        except UnicodeDecodeError:
            raise ToolError(f"{path}: not UTF-8 text") from None
        return ToolOutput(text, truncated=is_cut)


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a listing; ``modified`` is in seconds since 1970."""

    name: str
    entry_type: str
    size_bytes: int
    modified: str


class ListTool:
    """``fs.list``: what lies in a folder."""

    definition = ToolDefinition(
        "fs.list",
        "List the files and folders of a folder of the workspace as JSON.",
        {
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "Folder relative to the workspace", "default": "."},
                "recursive": {"type": "boolean", "description": "List folders inside, too", "default": False},
            },
        },
    )

    def __init__(self, tree: Tree) -> None:
        self._tree = tree

    async def invoke(self, arguments: JsonObject) -> ToolOutput:
        given = Arguments(arguments)
        path, depth = given.text_or("path", "."), _MOST_DEPTH if given.flag("recursive", False) else 0
        return await in_thread(lambda stop: self._list(path, depth, stop))

    def _list(self, path: str, depth: int, stop: Event) -> ToolOutput:
        entries: list[Entry] = []
        with self._tree.reading(path) as spot:
            for entry in _walk(spot.open_folder(), "" if spot.path == "." else f"{spot.path}/", depth):
                if stop.is_set() or len(entries) == _MOST_ENTRIES:
                    break
                entries.append(entry)
        entries.sort(key=lambda entry: (entry.entry_type != "dir", entry.name))
        return _as_json(entries, is_cut=len(entries) == _MOST_ENTRIES)


def _as_json(entries: Sequence[Entry], is_cut: bool) -> ToolOutput:
    """Write entries as a JSON list, as many as the limit of outputs allows."""
    texts, size = list[str](), 2
    for entry in entries:
        text = json.dumps(asdict(entry), ensure_ascii=False, separators=(",", ":"))
        size += len(text.encode("utf-8", "replace")) + 1
        if size > MOST_OUTPUT_BYTES:
            is_cut = True
            break
        texts.append(text)
    return ToolOutput(f"[{','.join(texts)}]", truncated=is_cut)


def _walk(folder: int, prefix: str, depth: int) -> Iterator[Entry]:
    """Give the entries of an open folder, which is closed in the end, and of those inside; no link is followed.

    What vanishes meanwhile, and folders that may not be read, are left out.
    """
    try:
        with os.scandir(folder) as found:
            for item in found:
                with contextlib.suppress(OSError):
                    entry, is_folder = _entry(item, prefix)
                    yield entry
                    if depth and is_folder:
                        yield from _walk(open_inner(item.name, folder), f"{entry.name}/", depth - 1)
    finally:
        os.close(folder)


def _entry(item: os.DirEntry[str], prefix: str) -> tuple[Entry, bool]:
    status = item.stat(follow_symlinks=False)
    name = prefix + os.fsencode(item.name).decode("utf-8", "replace")
    is_folder = stat.S_ISDIR(status.st_mode)
    kind = "dir" if is_folder else "symlink" if stat.S_ISLNK(status.st_mode) else "file"
    return Entry(name, kind, status.st_size, str(int(status.st_mtime))), is_folder


class WriteTool:
    """``fs.write``: puts a file in its place in one step."""

    definition = ToolDefinition(
        "fs.write",
        "Write a text file of the workspace, replacing it whole.",
        {
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "Path relative to the workspace"},
                "content": {"type": "string", "description": "The new text of the file"},
                "create_dirs": {"type": "boolean", "description": "Make missing folders", "default": True},
                "backup": {"type": "boolean", "description": "Keep the old file as NAME.bak", "default": False},
            },
            "required": ["path", "content"],
        },
    )

    def __init__(self, tree: Tree) -> None:
        self._tree = tree

    async def invoke(self, arguments: JsonObject) -> ToolOutput:
        given = Arguments(arguments)
        path, data = given.text("path"), given.text("content").encode("utf-8", "replace")
        create_dirs, backup = given.flag("create_dirs", True), given.flag("backup", False)
        if len(data) > MOST_FILE_BYTES:
            raise ToolError(f"{path}: more than {MOST_FILE_BYTES} bytes")
        return await in_thread(lambda _: self._write(path, data, create_dirs, backup))

    def _write(self, path: str, data: bytes, create_dirs: bool, backup: bool) -> ToolOutput:
        with self._tree.writing(path, make_folders=create_dirs) as spot:
            if backup and spot.mode() is not None:
                _back_up(spot)
            spot.put(data)
        return ToolOutput(f"Wrote {len(data)} bytes to {path}")


def _back_up(spot: Spot) -> None:
    """Copy a file to the same name with ``.bak``."""
    data = spot.read(MOST_FILE_BYTES + 1)
    if len(data) > MOST_FILE_BYTES:
        raise ToolError(f"too large for a backup, more than {MOST_FILE_BYTES} bytes")
    spot.beside(f"{spot.name}.bak").put(data)
