"""Failing since, last good and flips, as tables."""

import pytest
from evalrunner.compare import Tally
from hypothesis import given
from hypothesis import strategies as st

from reports.domain.history import history_of

LETTERS = {"P": Tally(3, 3), "F": Tally(0, 3), "M": Tally(2, 3), "U": Tally(0, 0, 3), "-": None}


@pytest.mark.parametrize(
    ("versions", "failing_since", "last_good", "flips"),
    [
        ("PPP", None, 2, 0),
        ("PPF", 2, 1, 1),
        ("PFFF", 1, 0, 1),
        ("PFUF", 1, 0, 1),
        ("PF-U", 1, 0, 1),
        ("PMF", 1, 0, 1),
        ("PFP", None, 2, 2),
        ("PFPF", 3, 2, 3),
        ("FFF", 0, None, 0),
        ("UU-", None, None, 0),
        ("", None, None, 0),
        ("P-", None, 0, 0),
    ],
)
def test_the_words_mean_one_thing(versions: str, failing_since: int | None, last_good: int | None, flips: int) -> None:
    found = history_of([LETTERS[letter] for letter in versions])

    assert (found.failing_since, found.last_good, found.flips) == (failing_since, last_good, flips)


@pytest.mark.parametrize(
    ("versions", "changed"), [("PPP", False), ("FFF", False), ("PMP", True), ("P-P", True), ("UU", False)]
)
def test_a_row_is_changed_where_rates_or_presence_differ(versions: str, changed: bool) -> None:
    assert history_of([LETTERS[letter] for letter in versions]).is_changed is changed


@given(st.text(alphabet="PFMU-", max_size=12))
def test_open_versions_change_nothing(versions: str) -> None:
    found = history_of([LETTERS[letter] for letter in versions])
    decided = history_of([LETTERS[letter] for letter in versions if letter not in "U-"])

    assert found.flips == decided.flips
    assert (found.failing_since is None) == (decided.failing_since is None)
    assert (found.last_good is None) == (decided.last_good is None)
