"""Checks of files in the workspace."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest
from evalrunner.harness.scenarios import FileExpectation
from evalrunner.harness.workspace import judge_files


def judge(workspace: Path, path: str, contains: Sequence[str] = (), not_contains: Sequence[str] = ()) -> list[str]:
    return judge_files([FileExpectation(path, tuple(contains), tuple(not_contains))], workspace)


@pytest.mark.parametrize(
    ("path", "fault"),
    [
        ("/a.txt", "expected a relative path"),
        ("/../a.txt", "expected a relative path"),
        ("..", "parent traversal is not allowed"),
        ("dir/../a.txt", "parent traversal is not allowed"),
        ("a.txt/..", "parent traversal is not allowed"),
    ],
)
def test_a_path_is_judged_as_written(tmp_path: Path, path: str, fault: str) -> None:
    assert judge(tmp_path, path) == [f"workspace file `{path}` has invalid path: {fault}"]


@pytest.mark.parametrize("path", ["a..b", "..x", "./a..b", ".//a..b"])
def test_dots_in_names_and_single_dots_are_fine(tmp_path: Path, path: str) -> None:
    for name in ("a..b", "..x"):
        (tmp_path / name).write_text("x")

    assert judge(tmp_path, path) == []


def test_text_is_read_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("\ufeffone\r\ntwo".encode())

    assert judge(tmp_path, "a.txt", ["\ufeffone\r\ntwo", ""], ["one\n"]) == []
    assert judge(tmp_path, "a.txt", ["three"], ["two", "one"]) == [
        "workspace file `a.txt` missing substring: three",
        "workspace file `a.txt` contains forbidden substring: two",
        "workspace file `a.txt` contains forbidden substring: one",
    ]


def test_what_cannot_be_read_is_told_in_the_words_of_the_system(tmp_path: Path) -> None:
    (tmp_path / "dir").mkdir()
    (tmp_path / "latin").write_bytes(b"caf\xe9")
    (tmp_path / "loop").symlink_to("loop")
    os.mkfifo(tmp_path / "pipe")

    paths = ["", "dir", "dir/", "latin", "latin/x", "latin/", "loop", "pipe", "a\0b", "x" * 300]
    reasons = [sentence.split(" text: ")[1] for path in paths for sentence in judge(tmp_path, path)]

    assert reasons == [
        "Is a directory (os error 21)",
        "Is a directory (os error 21)",
        "Is a directory (os error 21)",
        "stream did not contain valid UTF-8",
        "Not a directory (os error 20)",
        "Not a directory (os error 20)",
        "Too many levels of symbolic links (os error 40)",
        "not a regular file",
        "file name contained an unexpected NUL byte",
        "File name too long (os error 36)",
    ]


def test_every_entry_is_judged_on_its_own(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")

    assert judge_files([FileExpectation(path) for path in ("gone", "/a", "a", "no/dir")], tmp_path) == [
        "workspace file missing: gone",
        "workspace file `/a` has invalid path: expected a relative path",
        "workspace file missing: no/dir",
    ]


def test_links_are_followed_inside_the_workspace_and_refused_outside(tmp_path: Path) -> None:
    inside, outside = tmp_path / "ws", tmp_path / "ws-beside"
    inside.mkdir()
    outside.mkdir()
    (outside / "secret").write_text("x")
    (inside / "a").write_text("x")
    (inside / "good").symlink_to("a")
    for name, target in {"file": outside / "secret", "dir": outside, "nowhere": Path("/no/such")}.items():
        (inside / name).symlink_to(target)
    link_to_inside = tmp_path / "link"
    link_to_inside.symlink_to(inside)

    assert judge(inside, "good") == judge(link_to_inside, "good") == []
    for path in ("file", "dir/secret", "nowhere"):
        assert judge(link_to_inside, path) == [
            f"workspace file `{path}` has invalid path: symbolic link leaves the workspace"
        ]


def test_a_file_too_large_for_memory_is_told_and_not_read(tmp_path: Path) -> None:
    (tmp_path / "huge").touch()
    os.truncate(tmp_path / "huge", 1 << 40)

    assert judge_files([FileExpectation("huge")], tmp_path) == [
        "workspace file `huge` could not be read as UTF-8 text: larger than 64 MiB"
    ]
