"""The tools for reading, listing and writing files."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from evalrunner.harness.runtime.tools.base import MOST_OUTPUT_BYTES
from evalrunner.harness.runtime.tools.files import ListTool, ReadTool, WriteTool
from evalrunner.harness.runtime.tools.tree import MOST_FILE_BYTES, Tree

from tests.runner.harness.runtime.tools.calling import call, failure, names

pytestmark = pytest.mark.asyncio


async def test_a_file_is_read_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("\ufeffZeile\r\nzwei".encode())

    output = await call(ReadTool(Tree(tmp_path)), path="a.txt")

    assert (output.text, output.truncated, output.exit_code) == ("\ufeffZeile\r\nzwei", False, None)


async def test_a_large_file_is_cut_between_characters(tmp_path: Path) -> None:
    (tmp_path / "large.txt").write_bytes(b"x" + "é".encode() * MOST_OUTPUT_BYTES)

    output = await call(ReadTool(Tree(tmp_path)), path="large.txt")

    assert output.truncated
    assert output.text == "x" + "é" * ((MOST_OUTPUT_BYTES - 1) // 2)


@pytest.mark.parametrize("content", [b"\xff\xfe", b"ends in half \xc3"])
async def test_bytes_that_are_no_text_are_a_failure(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.bin").write_bytes(content)

    assert await failure(ReadTool(Tree(tmp_path)), path="a.bin") == "a.bin: not UTF-8 text"


async def test_faults_of_a_reading_call_name_their_place(tmp_path: Path) -> None:
    tool = ReadTool(Tree(tmp_path))

    assert await failure(tool) == "missing argument: path"
    assert await failure(tool, path=7) == "argument path: a string expected"
    assert await failure(tool, path="no") == "no: No such file or directory"
    assert await failure(tool, path=".") == ".: Is a directory"


async def test_a_listing_has_folders_first_then_names(tmp_path: Path) -> None:
    (tmp_path / "z").mkdir()
    (tmp_path / "z" / "inner.txt").write_text("12345")
    (tmp_path / "b.txt").write_text("")
    (tmp_path / "a").symlink_to("z")
    os.utime(tmp_path / "b.txt", (0, 1_700_000_000.9))

    flat = json.loads((await call(ListTool(Tree(tmp_path)))).text)
    deep = json.loads((await call(ListTool(Tree(tmp_path)), path="a", recursive=True)).text)

    assert [(entry["name"], entry["entry_type"]) for entry in flat] == [
        ("z", "dir"),
        ("a", "symlink"),
        ("b.txt", "file"),
    ]
    assert flat[2]["modified"] == "1700000000"
    assert [(entry["name"], entry["size_bytes"]) for entry in deep] == [("z/inner.txt", 5)]


async def test_a_deep_listing_shows_everything_but_follows_no_link(tmp_path: Path) -> None:
    (tmp_path / "ws" / "one" / "two").mkdir(parents=True)
    (tmp_path / "ws" / "one" / "two" / "x").write_text("")
    (tmp_path / "ws" / "one" / "out").symlink_to(tmp_path)

    output = await call(ListTool(Tree(tmp_path / "ws")), recursive=True)

    assert [entry["name"] for entry in json.loads(output.text)] == ["one", "one/two", "one/out", "one/two/x"]


async def test_a_listing_that_is_too_long_is_cut_between_entries(tmp_path: Path) -> None:
    for number in range(2000):
        (tmp_path / f"{number:04}-é").touch()

    output = await call(ListTool(Tree(tmp_path)))

    assert output.truncated
    assert MOST_OUTPUT_BYTES - 200 < len(output.text.encode()) <= MOST_OUTPUT_BYTES
    assert json.loads(output.text)[0]["name"] == "0000-é"


async def test_a_file_cannot_be_listed(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("")

    assert await failure(ListTool(Tree(tmp_path)), path="a.txt") == "a.txt: Not a directory"


async def test_a_file_is_written_with_its_folders(tmp_path: Path) -> None:
    output = await call(WriteTool(Tree(tmp_path)), path="new/a.txt", content="é\r\n")

    assert (tmp_path / "new" / "a.txt").read_bytes() == "é\r\n".encode()
    assert output.text == "Wrote 4 bytes to new/a.txt"
    assert names(tmp_path / "new") == ["a.txt"]


async def test_folders_are_not_made_when_the_call_says_so(tmp_path: Path) -> None:
    error = await failure(WriteTool(Tree(tmp_path)), path="new/a.txt", content="", create_dirs=False)

    assert error == "new/a.txt: No such file or directory"
    assert names(tmp_path) == []


async def test_a_backup_is_made_only_when_asked_for_and_of_what_is_there(tmp_path: Path) -> None:
    tool = WriteTool(Tree(tmp_path))

    await call(tool, path="a.txt", content="1", backup=True)
    await call(tool, path="a.txt", content="2")
    assert names(tmp_path) == ["a.txt"]
    await call(tool, path="a.txt", content="3", backup=True)

    assert (tmp_path / "a.txt.bak").read_text() == "2"


async def test_a_backup_never_goes_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "outside").write_text("kept")
    (tmp_path / "ws").mkdir()
    (tmp_path / "ws" / "a.txt").write_text("old")
    (tmp_path / "ws" / "a.txt.bak").symlink_to(tmp_path / "outside")

    await call(WriteTool(Tree(tmp_path / "ws")), path="a.txt", content="new", backup=True)

    assert (tmp_path / "outside").read_text() == "kept"
    assert (tmp_path / "ws" / "a.txt.bak").read_text() == "old"


async def test_an_oversized_content_is_refused(tmp_path: Path) -> None:
    error = await failure(WriteTool(Tree(tmp_path)), path="a.txt", content="x" * (MOST_FILE_BYTES + 1))

    assert "more than" in error
    assert names(tmp_path) == []


async def test_faults_of_a_writing_call_name_their_place(tmp_path: Path) -> None:
    tool = WriteTool(Tree(tmp_path))

    assert await failure(tool, path="a.txt") == "missing argument: content"
    assert await failure(tool, path="a.txt", content="", backup="yes") == "argument backup: true or false expected"
    assert await failure(tool, path="../a.txt", content="") == "../a.txt: parent traversal is not allowed"
