"""Numbers, durations and moments in words."""

import math
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.domain.wording import (
    about,
    count_in_words,
    counted,
    day_in_words,
    duration_in_words,
    exact_moment,
    moment_in_words,
    percent_in_words,
)

NOW = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("milliseconds", "words"),
    [
        (None, "–"),
        (-1, "–"),
        (math.inf, "–"),
        (math.nan, "–"),
        (0, "0 ms"),
        (0.42, "0.42 ms"),
        (123, "120 ms"),
        (1_234, "1.2 s"),
        (12_900, "13 s"),
        (83_000, "1.4 min"),
        (5_400_000, "1.5 h"),
        (86_400_000, "1 d"),
        (1e300, "over 9,999 d"),
    ],
)
def test_durations_have_a_unit_and_two_digits(milliseconds: float | None, words: str) -> None:
    assert duration_in_words(milliseconds) == words


@pytest.mark.parametrize(
    ("ago", "words"),
    [
        (timedelta(seconds=10), "just now"),
        (timedelta(seconds=-10), "just now"),
        (timedelta(minutes=1), "1 minute ago"),
        (timedelta(minutes=59), "59 minutes ago"),
        (timedelta(hours=3), "3 hours ago"),
        (timedelta(days=2), "2 days ago"),
        (timedelta(hours=-5), "in 5 hours"),
        (timedelta(days=40), "21 Jan 2026"),
    ],
)
def test_moments_are_relative_for_a_month(ago: timedelta, words: str) -> None:
    assert moment_in_words(NOW - ago, NOW) == words


@pytest.mark.parametrize("year", [1, 9999])
def test_the_ends_of_the_calendar_have_words(year: int) -> None:
    edge = datetime(year, 12, 31, 23, 59, 59, tzinfo=UTC)

    assert moment_in_words(edge, NOW) == f"31 Dec {year:04d}"
    assert exact_moment(edge) == f"{year:04d}-12-31 23:59:59 UTC"


def test_days_and_exact_moments_are_in_utc() -> None:
    evening = datetime(2026, 3, 1, 23, 30, tzinfo=timezone(timedelta(hours=-2)))

    assert day_in_words(evening) == "2 Mar 2026"
    assert exact_moment(evening) == "2026-03-02 01:30:00 UTC"


@pytest.mark.parametrize(
    ("fraction", "words"),
    [(None, "–"), (0, "0%"), (1, "100%"), (0.875, "87.5%"), (0.99999, "99.9%"), (0.00001, "0.1%"), (0.4, "40%")],
)
def test_percentages_reach_their_ends_only_exactly(fraction: float | None, words: str) -> None:
    assert percent_in_words(fraction) == words


def test_counts_have_separators() -> None:
    assert (count_in_words(None), count_in_words(12_400), about(12_431)) == ("–", "12,400", "about 12,400")


def test_one_is_written_in_the_singular() -> None:
    assert [counted(number, "case") for number in (0, 1, 1200)] == ["0 cases", "1 case", "1,200 cases"]


@given(st.datetimes(timezones=st.just(UTC)))
def test_every_moment_has_words(moment: datetime) -> None:
    assert moment_in_words(moment, NOW)
