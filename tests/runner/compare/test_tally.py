import pytest
from evalrunner.compare import DECIDED, STATUS_ORDER, CaseStatus, Tally, percent_text, tally, tally_statuses


def test_every_status_has_one_place_in_the_order() -> None:
    assert sorted(STATUS_ORDER) == sorted(CaseStatus)


def test_skipped_cases_stand_beside_the_rate_and_never_in_it() -> None:
    counted = tally({"passed": 2, "failed": 3, "skipped": 5})

    assert (counted.rate, counted.words, counted.percent) == (0.4, "2 of 5 decided, 5 undecided", "40%")


@pytest.mark.parametrize("status", sorted(set(CaseStatus) - DECIDED))
def test_what_never_came_to_an_end_is_undecided(status: str) -> None:
    assert tally({status: 3}) == Tally(passed=0, decided=0, undecided=3)


def test_an_error_is_decided_and_no_pass() -> None:
    assert tally_statuses(["passed", "error", "error", "error"]).percent == "25%"


def test_nothing_decided_has_no_rate() -> None:
    nothing = tally({"pending": 2})

    assert (nothing.rate, nothing.words, nothing.percent) == (None, "none decided, 2 undecided", "–")


@pytest.mark.parametrize(
    ("part", "whole", "words"),
    [
        (0, 7, "0%"),
        (7, 7, "100%"),
        (1, 3, "33.3%"),
        (99999, 100000, "99.9%"),
        (1, 100000, "0.1%"),
        (9, 20, "45%"),
    ],
)
def test_rounding_never_makes_all_or_nothing_of_almost(part: int, whole: int, words: str) -> None:
    assert percent_text(part, whole) == words


def test_tallies_add_up() -> None:
    assert Tally(1, 2, 3) + Tally(1, 1, 0) == Tally(2, 3, 3)


@pytest.mark.parametrize(
    ("counted", "words"),
    [
        (Tally(2, 3), "2 of 3"),
        (Tally(2, 5, 5), "2 of 5, 5 undecided"),
        (Tally(0, 0, 3), "3 undecided"),
        (Tally(), "no case"),
    ],
)
def test_narrow_places_name_the_undecided_too(counted: Tally, words: str) -> None:
    assert counted.short_words == words
