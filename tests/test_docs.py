"""The documents name every setting and command, and no more; their first code block is the one command."""

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import get_commands

ROOT = Path(settings.BASE_DIR)
README = (ROOT / "README.md").read_text()
OPERATING = (ROOT / "docs" / "operating.md").read_text()
VARIABLE = re.compile(r"\b(?:EVALSITE_[A-Z_]+|DATABASE_URL|CELERY_BROKER_URL)\b")
# dj_database_url reads this one by its own default.
READ_BY_LIBRARIES = {"DATABASE_URL"}


def read_in_settings() -> set[str]:
    source = (ROOT / "evalsite" / "settings.py").read_text()
    read = re.findall(r"(?:environ\.get\(|environ\[|_flag\(|_words\()\s*\"([A-Z_]+)\"", source)
    return set(read) | READ_BY_LIBRARIES


def own_commands() -> set[str]:
    return {name for name, app in get_commands().items() if app in {"reports", "evalsite"}}


def test_the_table_of_the_readme_holds_exactly_the_variables_that_settings_read() -> None:
    rows = re.findall(r"^\| `([A-Z_]+)` \|", README, re.MULTILINE)

    assert set(rows) == read_in_settings()
    assert len(rows) == len(set(rows))


def test_every_command_has_a_heading_and_every_heading_a_command() -> None:
    headings = re.findall(r"^### `(\w+)`$", OPERATING, re.MULTILINE)

    assert sorted(headings) == sorted(own_commands())


@pytest.mark.parametrize("path", ["README.md", "docs/operating.md", "docs/deployment.md"])
def test_every_command_and_variable_that_is_named_exists(path: str) -> None:
    text = (ROOT / path).read_text()

    assert set(re.findall(r"manage\.py ([a-z]\w*)", text)) <= set(get_commands())
    assert set(VARIABLE.findall(text)) - read_in_settings() <= {"EVALSITE_TEST_REQUIRE", "EVALSITE_TOKEN"}


def test_the_first_code_block_is_the_one_command() -> None:
    first = re.search(r"^```\w*\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)

    assert first is not None
    assert first[1] == "python3 manage.py quickstart\n"


@pytest.mark.parametrize("path", [ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md")], ids=str)
def test_every_link_to_a_file_leads_to_one(path: Path) -> None:
    targets = re.findall(r"\]\((?!https?://|#)([^)#]+)", path.read_text())

    assert [target for target in targets if not (path.parent / target).exists()] == []


def test_every_benchmark_is_named_in_the_readme_and_every_named_one_exists() -> None:
    there = {path.stem for path in (ROOT / "tests" / "benchmarks").glob("bench_*.py")}

    assert set(re.findall(r"tests\.benchmarks\.(bench_\w+)", README)) == there
