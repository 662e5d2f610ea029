"""How often open pages ask for news."""

import pytest

from reports.domain.polling import MOST_A_SECOND, STEPS_S, PollPace


def simulated(pages: int, seconds: int, pace: PollPace, begin_s: float = 0.0) -> tuple[float, int]:
    """Let pages poll as they are told; return the polls a second of the last half and the pace at the end."""
    due = [(begin_s + number / pages, number) for number in range(pages)]
    late = 0
    while due[0][0] < begin_s + seconds:
        now_s, number = due.pop(0)
        interval_s = pace.note(now_s)
        late += now_s >= begin_s + seconds / 2
        due.append((now_s + interval_s, number))
        due.sort()
    return late / (seconds / 2), pace.interval_s


@pytest.mark.parametrize(("pages", "interval_s"), [(1, 1), (20, 1), (100, 5), (200, 8)])
def test_pages_ask_every_second_while_they_are_few(pages: int, interval_s: int) -> None:
    rate, settled_s = simulated(pages, 60, PollPace())

    assert settled_s == interval_s
    assert rate <= MOST_A_SECOND * 1.4


def test_the_pace_quickens_again_when_pages_are_closed() -> None:
    pace = PollPace()
    simulated(200, 60, pace)
    assert pace.interval_s > 5

    simulated(5, 120, pace, begin_s=1_000)

    assert pace.interval_s == STEPS_S[0]
