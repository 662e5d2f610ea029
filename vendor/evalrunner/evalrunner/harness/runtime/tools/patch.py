"""The tool ``patch.apply``: a unified diff, all of its files or none."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Final

from evalrunner.data import JsonObject
from evalrunner.harness.errors import ToolError
from evalrunner.harness.runtime.model import ToolDefinition
from evalrunner.harness.runtime.tools.base import Arguments, ToolOutput, in_thread
from evalrunner.harness.runtime.tools.diffs import FilePatch, apply_hunks, parse_patch
from evalrunner.harness.runtime.tools.tree import MOST_FILE_BYTES, MissingError, Tree

_MOST_FILES: Final = 1000


class PatchTool:
    """Reads all files, works out what becomes of each, and only then writes."""

    definition = ToolDefinition(
        "patch.apply",
        "Apply a unified diff to files of the workspace. All files are changed, or none.",
        {
            "type": "object",
            "properties": {"patch": {"type": "string", "description": "Unified diff; /dev/null adds or deletes"}},
            "required": ["patch"],
        },
    )

    def __init__(self, tree: Tree) -> None:
        self._tree = tree

    async def invoke(self, arguments: JsonObject) -> ToolOutput:
        files = parse_patch(Arguments(arguments).text("patch"))
        if len(files) > _MOST_FILES:
            raise ToolError(f"the patch names more than {_MOST_FILES} files")
        return await in_thread(lambda _: self._apply(files))

    def _apply(self, files: list[FilePatch]) -> ToolOutput:
        before: dict[str, bytes | None] = {}
        after: dict[str, bytes | None] = {}
        for file in files:
            old = after[file.path] if file.path in after else before.setdefault(file.path, self._read(file.path))
            after[file.path] = _patched(file, old)
        self._write_all(before, after)
        return ToolOutput(f"Patched {len(after)} files: {', '.join(after)}")

    def _read(self, path: str) -> bytes | None:
        """Read a file as it is now; None when there is none."""
        try:
            with self._tree.writing(path) as spot:
                if spot.mode() is None:
                    return None
                data = spot.read(MOST_FILE_BYTES + 1)
        except MissingError:
            return None
        if len(data) > MOST_FILE_BYTES:
            raise ToolError(f"{path}: more than {MOST_FILE_BYTES} bytes")
        return data

    def _write_all(self, before: Mapping[str, bytes | None], after: Mapping[str, bytes | None]) -> None:
        """Write what becomes of each file; when one cannot be written, those before it are put back."""
        done: list[str] = []
        try:
            for path, data in after.items():
                done.append(path)
                self._write(path, data)
        except ToolError:
            for path in reversed(done):
                with contextlib.suppress(ToolError):
                    self._write(path, before[path])
            raise

    def _write(self, path: str, data: bytes | None) -> None:
        with self._tree.writing(path, make_folders=data is not None) as spot:
            if data is not None:
                spot.put(data)
            elif spot.mode() is not None:
                spot.remove()


def _patched(file: FilePatch, old: bytes | None) -> bytes | None:
    """Give the new content of a file, None when it is to go; ToolError when the patch does not fit."""
    if file.adds:
        return "\n".join(line for hunk in file.hunks for line in hunk.new).encode("utf-8", "replace")
    if old is None:
        raise ToolError(f"{file.path}: no such file")
    try:
        new = apply_hunks(old.decode("utf-8"), file.hunks)
    except UnicodeDecodeError:
        raise ToolError(f"{file.path}: not UTF-8 text") from None
    except ToolError as error:
        raise ToolError(f"{file.path}: {error}") from None
    return None if file.deletes else new.encode("utf-8", "replace")
