"""One visual grammar: every sign can be drawn, said and told apart."""

import re
from pathlib import Path

import pytest
from evalrunner.compare import STATUS_ORDER, Change, Group

from reports.domain.grammar import (
    CASE_STATUSES,
    CHANGES,
    MISSING,
    REDEFINED,
    RUN_OUTCOMES,
    RUN_STATUSES,
    outcome_of,
    sign_of,
)
from reports.models import RUN_STATUSES as STORED_RUN_STATUSES

ROOT = Path(__file__).resolve().parents[2]
SIGNS = [*CASE_STATUSES.values(), MISSING, *RUN_STATUSES.values(), *RUN_OUTCOMES.values(), *CHANGES.values(), REDEFINED]


def test_each_sign_has_its_symbol_in_the_sprite() -> None:
    symbols = set(re.findall(r'id="icon-([a-z-]+)"', (ROOT / "templates/components/sprite.html").read_text()))

    assert {sign.key for sign in SIGNS} <= symbols


def test_each_tone_has_its_text_fill_and_ground() -> None:
    tokens = (ROOT / "static/css/tokens.css").read_text()

    for tone in {sign.tone for sign in SIGNS}:
        assert tokens.count(f"--{tone}:") == tokens.count(f"--{tone}-fill:") == tokens.count(f"--{tone}-soft:") == 3


def test_statuses_stand_in_the_order_of_the_comparison() -> None:
    assert list(CASE_STATUSES) == [str(status) for status in STATUS_ORDER]


def test_every_change_class_of_the_comparison_is_known() -> None:
    assert {sign_of(str(change), "change").tone for change in Change} <= {sign.tone for sign in CHANGES.values()}
    assert all(sign_of(str(change), "change").meaning for change in Change)


def test_every_group_of_rows_has_a_sign_of_its_own() -> None:
    signs = {group: sign_of(str(group), "change") for group in Group if group is not Group.UNSTABLE_AND_WORSE}

    assert all(sign in SIGNS and sign.meaning for sign in signs.values())
    assert len({sign.key for sign in signs.values()}) == len(signs)


def test_every_stored_run_status_is_known() -> None:
    assert set(RUN_STATUSES) == set(STORED_RUN_STATUSES)


@pytest.mark.parametrize("word", ["failing_differently", "failing-differently", "failing differently"])
def test_a_change_class_is_found_however_it_is_joined(word: str) -> None:
    assert sign_of(word, "change").word == "failing differently"


def test_an_unknown_word_is_shown_as_itself() -> None:
    assert (sign_of("novel").word, sign_of("novel").tone) == ("novel", "pending")


@pytest.mark.parametrize(
    ("status", "is_passing", "is_executed", "word"),
    [
        ("completed", True, False, "passed"),
        ("completed", False, False, "not passed"),
        ("running", False, True, "running"),
        ("running", False, False, "unfinished"),
        ("queued", False, True, "queued"),
        ("limited", False, False, "limited"),
        ("interrupted", False, True, "interrupted"),
    ],
)
def test_the_outcome_of_a_run(status: str, is_passing: bool, is_executed: bool, word: str) -> None:
    assert outcome_of(status, is_passing=is_passing, is_executed=is_executed).word == word
