"""Unified diffs and the tool that applies them."""

from __future__ import annotations

import difflib
from pathlib import Path

import pytest
from evalrunner.harness.errors import ToolError
from evalrunner.harness.runtime.tools.diffs import apply_hunks, parse_patch
from evalrunner.harness.runtime.tools.patch import PatchTool
from evalrunner.harness.runtime.tools.tree import Tree
from evalrunner.harness.tool_effects import classify_tool
from hypothesis import given
from hypothesis import strategies as st

from tests.runner.harness.runtime.tools.calling import call, failure, names

CHANGE = "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n"
ADD = "--- /dev/null\n+++ b/new/b.txt\n@@ -0,0 +1,2 @@\n+x\n+y\n"
DELETE = "--- a/a.txt\n+++ /dev/null\n@@ -1,3 +0,0 @@\n-one\n-two\n-three\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "a.txt").write_text("one\ntwo\nthree\n")
    return tmp_path


@pytest.mark.asyncio
async def test_a_changed_file_keeps_its_last_newline_or_the_lack_of_one(root: Path) -> None:
    (root / "bare.txt").write_text("one\ntwo\nthree")
    bare = CHANGE.replace("a.txt", "bare.txt") + "\\ No newline at end of file\n"

    await call(PatchTool(Tree(root)), patch=f"diff --git a/a.txt b/a.txt\nindex 1..2\n{CHANGE}{bare}")

    assert (root / "a.txt").read_text() == "one\nTWO\nthree\n"
    assert (root / "bare.txt").read_text() == "one\nTWO\nthree"


@pytest.mark.asyncio
async def test_an_added_file_has_no_last_newline_and_its_folders_are_made(root: Path) -> None:
    await call(PatchTool(Tree(root)), patch=ADD)

    assert (root / "new" / "b.txt").read_text() == "x\ny"


@pytest.mark.asyncio
async def test_a_file_is_deleted(root: Path) -> None:
    await call(PatchTool(Tree(root)), patch=DELETE)

    assert names(root) == []


@pytest.mark.asyncio
async def test_two_patches_of_one_file_come_one_after_the_other(root: Path) -> None:
    again = "--- a/a.txt\n+++ b/a.txt\n@@ -2 +2 @@\n-TWO\n+2\n"

    await call(PatchTool(Tree(root)), patch=CHANGE + again)

    assert (root / "a.txt").read_text() == "one\n2\nthree\n"


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "second",
    [
        "--- a/no.txt\n+++ b/no.txt\n@@ -1 +1 @@\n-a\n+b\n",
        "--- a/../out.txt\n+++ b/../out.txt\n@@ -1 +1 @@\n-a\n+b\n",
        "--- /dev/null\n+++ b/../out.txt\n@@ -0,0 +1 @@\n+b\n",
        "--- /dev/null\n+++ /etc/out.txt\n@@ -0,0 +1 @@\n+b\n",
        "--- /dev/null\n+++ b/a.txt/inner\n@@ -0,0 +1 @@\n+b\n",
        CHANGE,
        DELETE,
    ],
)
async def test_when_one_file_cannot_be_patched_none_is(root: Path, second: str) -> None:
    await failure(PatchTool(Tree(root)), patch=CHANGE + second)

    assert (root / "a.txt").read_text() == "one\ntwo\nthree\n"
    assert names(root) == ["a.txt"]


@pytest.mark.asyncio
async def test_files_written_before_a_fault_are_put_back(root: Path) -> None:
    """The folder of the second file is a file by the time it is written: the first patch adds it."""
    blocks = "--- /dev/null\n+++ b/c\n@@ -0,0 +1 @@\n+x\n--- /dev/null\n+++ b/c/d\n@@ -0,0 +1 @@\n+y\n"

    error = await failure(PatchTool(Tree(root)), patch=CHANGE + blocks)

    assert error.startswith("c/d: ")
    assert (root / "a.txt").read_text() == "one\ntwo\nthree\n"
    assert names(root) == ["a.txt"]


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        ("", "no unified diff"),
        ("not a patch", "no unified diff"),
        ("@@ -1 +1 @@\n-a\n+b\n", "before the names"),
        ("--- a/x\n", "`\\+\\+\\+` expected"),
        ("--- a/x\nx\n", "`\\+\\+\\+` expected"),
        ("--- /dev/null\n+++ /dev/null\n", "names no file"),
        ("--- a/x\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n", "renames x to y"),
        ("--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n-a\n+b\n", "has not the lines|has more lines"),
        ("--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n a\n", "has not the lines"),
        ("--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n a\n*b\n", "has not the lines"),
        ("--- a/x\n+++ b/x\n@@ nonsense\n", "out of place"),
        ("--- a/x\n+++ b/x\n+++ b/y\n", "out of place"),
    ],
)
def test_what_is_no_unified_diff_is_told(patch: str, message: str) -> None:
    with pytest.raises(ToolError, match=message):
        parse_patch(patch)


def test_a_hunk_is_applied_where_it_says_and_nowhere_else() -> None:
    [file] = parse_patch("--- a/x\n+++ b/x\n@@ -2 +2 @@\n-a\n+b\n")

    assert apply_hunks("a\na\na\n", file.hunks) == "a\nb\na\n"
    with pytest.raises(ToolError, match="hunk 1 does not fit at line 2"):
        apply_hunks("a\nx\na\n", file.hunks)


lines = st.lists(st.sampled_from(["a", "b", "", "--- x", "+++ /dev/null", "-- /dev/null", "@@ -1 +1 @@"]), max_size=8)


@given(lines, lines, st.integers(0, 3))
def test_every_diff_of_two_texts_turns_the_one_into_the_other(old: list[str], new: list[str], context: int) -> None:
    diff = difflib.unified_diff(old, new, "a/x", "b/x", lineterm="", n=context)
    patch = "".join(f"{line}\n" for line in diff)
    text = "".join(f"{line}\n" for line in old)

    hunks = parse_patch(patch)[0].hunks if patch else []

    # An empty file has no last newline, and keeps that.
    assert apply_hunks(text, hunks) == "\n".join(new) + ("\n" if old and new else "")


headers = [
    "--- a/x",
    "+++ b/x",
    "--- /dev/null",
    "+++ /dev/null",
    "--- /dev/null\t2020",
    "+++ /dev/null ",
    "diff --git",
]
contents = ["@@ -1 +1 @@", "@@ -1,2 +1,3 @@", "@@ -0,0 +1 @@", "-a", "+b", " c", "", "\\ No newline", "rubbish"]
pieces = st.sampled_from([*headers, *contents])


@given(st.lists(pieces, max_size=14))
def test_no_patch_adds_or_deletes_a_file_without_being_judged_destructive(parts: list[str]) -> None:
    patch = "\n".join(parts)

    try:
        files = parse_patch(patch)
    except ToolError:
        return

    is_destructive = classify_tool("patch.apply", {"patch": patch}) == "destructive"
    assert is_destructive == any(file.adds or file.deletes for file in files)
