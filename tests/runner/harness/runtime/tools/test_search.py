"""The tool that searches files."""

from __future__ import annotations

from pathlib import Path

import pytest
from evalrunner.harness.runtime.tools.search import SearchTool
from evalrunner.harness.runtime.tools.tree import Tree

from tests.runner.harness.runtime.tools.calling import call, failure

pytestmark = pytest.mark.asyncio


@pytest.fixture
def tool(tmp_path: Path) -> SearchTool:
    root = tmp_path / "ws"
    (root / "src").mkdir(parents=True)
    (root / "src" / "app.py").write_text("def main():\r\n    return 1\r\n\r\ndef other():\n    pass\n")
    (root / "notes.txt").write_text("def in notes\n")
    (root / "broken.bin").write_bytes(b"def \xff")
    for folder in (".git", "node_modules"):
        (root / folder).mkdir()
        (root / folder / "x.py").write_text("def hidden\n")
    (tmp_path / "outside.py").write_text("def outside\n")
    (root / "link.py").symlink_to("../outside.py")
    return SearchTool(Tree(root))


async def test_matching_lines_are_shown_with_file_and_number(tool: SearchTool) -> None:
    output = await call(tool, pattern="def")

    assert output.text.split("\n") == [
        "3 matching lines in 2 files:",
        "notes.txt:1:def in notes",
        "src/app.py:1:def main():",
        "src/app.py:4:def other():",
    ]
    assert not output.truncated


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ({"path": "src"}, ["src/app.py:1:def main():", "src/app.py:4:def other():"]),
        ({"path": "notes.txt"}, ["notes.txt:1:def in notes"]),
        ({"file_glob": "*.txt"}, ["notes.txt:1:def in notes"]),
        ({"file_glob": "src/*"}, ["src/app.py:1:def main():", "src/app.py:4:def other():"]),
        ({"pattern": "^def m.*:$"}, ["src/app.py:1:def main():"]),
        ({"pattern": "(?i)DEF IN"}, ["notes.txt:1:def in notes"]),
        ({"pattern": "nowhere"}, []),
    ],
)
async def test_a_search_can_be_narrowed(tool: SearchTool, arguments: dict[str, str], found: list[str]) -> None:
    output = await call(tool, **({"pattern": "def"} | arguments))

    assert output.text.split("\n")[1:] == found


async def test_neighbours_are_shown_once_and_gaps_are_marked(tool: SearchTool) -> None:
    output = await call(tool, pattern="return|other", context_lines=1, path="src")

    assert output.text.split("\n")[1:] == [
        "src/app.py-1-def main():",
        "src/app.py:2:    return 1",
        "src/app.py-3-",
        "src/app.py:4:def other():",
        "src/app.py-5-    pass",
    ]


async def test_a_search_stops_at_its_limit_and_says_so(tool: SearchTool) -> None:
    output = await call(tool, pattern="def", max_results=2)

    assert output.text.split("\n")[0] == "2 matching lines in 2 files, cut off:"
    assert output.truncated


async def test_a_pattern_that_needs_backtracking_is_invalid_and_none_can_hang(tool: SearchTool, tmp_path: Path) -> None:
    (tmp_path / "ws" / "long.txt").write_text("a" * 100_000 + "b")

    assert "invalid regex" in await failure(tool, pattern=r"(?=x)")
    assert "invalid regex" in await failure(tool, pattern="(")
    assert (await call(tool, pattern="(a+)+$")).text.startswith("0 matching")


async def test_faults_of_a_search_name_their_place(tool: SearchTool) -> None:
    assert await failure(tool) == "missing argument: pattern"
    assert await failure(tool, pattern="x", path="no") == "no: No such file or directory"
    assert await failure(tool, pattern="x", path="link.py") == "link.py: path leads out of the workspace"
    assert await failure(tool, pattern="x", max_results="all") == "argument max_results: a whole number expected"
