"""Unified diffs: reading one, and applying its hunks to a text.

Lines are counted exactly as ``evalrunner.harness.tool_effects`` counts them when it decides whether a patch adds or
deletes files: a diff that one of the two reads differently would get past the approval. So a hunk must hold the lines
that its head announces, and is applied exactly where the head says.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from evalrunner.harness.errors import ToolError

_NOTHING: Final = "/dev/null"
_head: Final = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")


@dataclass(frozen=True, slots=True)
class Hunk:
    """A run of lines and what takes its place; ``start`` counts the lines before it."""

    start: int
    old: tuple[str, ...]
    new: tuple[str, ...]


@dataclass(slots=True)
class FilePatch:
    """What a diff does to one file."""

    path: str
    adds: bool
    deletes: bool
    hunks: list[Hunk] = field(default_factory=list)


def parse_patch(patch: str) -> list[FilePatch]:
    """Read a unified diff; ToolError. Lines outside of hunks that are no file headers are passed over."""
    lines, files, at = patch.split("\n"), list[FilePatch](), 0
    while at < len(lines):
        if lines[at].startswith("--- "):
            files.append(_file(lines, at))
            at += 2
        elif (head := _head.match(lines[at])) is not None:
            if not files:
                raise ToolError("a hunk stands before the names of its file")
            hunk, at = _hunk(lines, at, head)
            files[-1].hunks.append(hunk)
        elif lines[at].startswith(("+++ ", "@@")):
            raise ToolError(f"line {at + 1} of the patch is out of place")
        else:
            at += 1
    if not files:
        raise ToolError("no unified diff: there are no file headers")
    return files


def _file(lines: Sequence[str], at: int) -> FilePatch:
    if at + 1 == len(lines) or not lines[at + 1].startswith("+++ "):
        raise ToolError(f"line {at + 1} of the patch: `+++` expected after `---`")
    old, new = (_name(line[4:]) for line in lines[at : at + 2])
    if old == new == _NOTHING:
        raise ToolError("the patch names no file")
    if _NOTHING not in (old, new) and _bare(old) != _bare(new):
        raise ToolError(f"the patch renames {_bare(old)} to {_bare(new)}, which is not supported")
    return FilePatch(_bare(new if old == _NOTHING else old), adds=old == _NOTHING, deletes=new == _NOTHING)


def _name(header: str) -> str:
    return header.split("\t")[0].rstrip()


def _bare(name: str) -> str:
    """Take off the prefix that git puts before names."""
    return name[2:] if name.startswith(("a/", "b/")) else name


def _hunk(lines: Sequence[str], at: int, head: re.Match[str]) -> tuple[Hunk, int]:
    """Read one hunk; gives it and where the next line stands."""
    start, old_left, _, new_left = (1 if number is None else int(number) for number in head.groups())
    # A hunk without old lines stands after the line that it names.
    before = start if old_left == 0 else start - 1
    where, old, new = at + 1, list[str](), list[str]()
    at += 1
    while old_left > 0 or new_left > 0:
        mark, text = (lines[at][:1], lines[at][1:]) if at < len(lines) else ("end", "")
        if mark not in ("", " ", "-", "+", "\\"):
            raise ToolError(f"the hunk in line {where} of the patch has not the lines that it announces")
        if mark in ("", " ", "-"):
            old.append(text)
            old_left -= 1
        if mark in ("", " ", "+"):
            new.append(text)
            new_left -= 1
        at += 1
    if old_left < 0 or new_left < 0:
        raise ToolError(f"the hunk in line {where} of the patch has more lines than it announces")
    return Hunk(max(before, 0), tuple(old), tuple(new)), at


def apply_hunks(text: str, hunks: Sequence[Hunk]) -> str:
    """Apply hunks to a text, which keeps its last newline or the lack of one; ToolError if one does not fit."""
    lines, done, at = text.removesuffix("\n").split("\n") if text else [], list[str](), 0
    for number, hunk in enumerate(hunks, 1):
        end = hunk.start + len(hunk.old)
        if hunk.start < at or tuple(lines[hunk.start : end]) != hunk.old or hunk.start > len(lines):
            raise ToolError(f"hunk {number} does not fit at line {hunk.start + 1}")
        done += [*lines[at : hunk.start], *hunk.new]
        at = end
    done += lines[at:]
    return "\n".join(done) + ("\n" if text.endswith("\n") and done else "")
