"""The README of the runner core: its example runs, its names exist, its links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import evalrunner
import pytest

PROJECT = Path(evalrunner.__file__).parents[1]
README = (PROJECT / "README.md").read_text("utf-8")


def test_the_example_runs_and_prints_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    examples = re.findall(r"^```python\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    [example] = [text for text in examples if "expand_cases" in text]
    [promised] = re.findall(r"# (EVALUATION_.*)$", example, re.MULTILINE)

    exec(example, {})

    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == 6
    assert printed[-1] == promised


def test_the_table_of_names_lists_what_can_be_imported() -> None:
    section = README.split("## Public names")[1].split("\n## ")[0]
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    names = [name for row in rows for name in re.findall(r"`(\w+)`", row)]

    assert len(names) == 12
    assert [name for name in names if name not in evalrunner.__all__] == []


def test_every_link_leads_to_a_file() -> None:
    links = re.findall(r"\]\(([^)]+)\)", README)

    assert links
    assert [link for link in links if not (PROJECT / link).is_file()] == []
