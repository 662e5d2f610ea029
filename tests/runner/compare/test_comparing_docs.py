"""The document on comparisons names what there is."""

import re
from pathlib import Path

import evalrunner
import pytest
from evalrunner.compare import Change
from evalrunner.compare.judging import judge_files
from evalrunner.compare.policy import Policy, parse_policy
from evalrunner.compare.prediction import LADDER

from tests.runner.compare.files import family

DOCS = Path(evalrunner.__file__).parents[1] / "docs"
COMPARING = (DOCS / "comparing.md").read_text("utf-8")
IN_WORDS = {"schemaVersion", "kind", "rates", "size"}


def test_the_table_of_the_document_names_every_member() -> None:
    table = COMPARING.split("## The document")[1].split("\n## ")[0]
    first_cells = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    named = {name for cell in first_cells for name in re.findall(r"`(\w+)`", cell)}

    made = judge_files([family("flights", 1)], [family("flights", 2)])

    assert named | IN_WORDS == set(made)


def test_the_policy_of_the_document_is_read_and_sets_every_member() -> None:
    [text] = re.findall(r"```toml\n(.*?)```", COMPARING, re.DOTALL)

    read = parse_policy(text)

    assert read == Policy(
        max_errors=0,
        critical_scenarios=frozenset({"refund-paid"}),
        critical_tags=frozenset({"smoke"}),
        accepted_definitions=frozenset({"search-flight"}),
    )


@pytest.mark.parametrize("change", list(Change))
def test_every_class_of_change_is_explained(change: Change) -> None:
    assert f"*{str(change).replace('_', ' ')}*" in COMPARING


def test_the_ladder_of_repetitions_is_the_one_that_is_named() -> None:
    *few, last = map(str, LADDER)

    assert f"{', '.join(few)} and {last} repetitions" in COMPARING.replace("\n  ", " ")


def test_every_link_leads_to_a_document() -> None:
    links = re.findall(r"\]\(([^)#]+)", COMPARING)

    assert links
    assert [link for link in links if not (DOCS / link).is_file()] == []
