"""Which failures a note covers: by version, day, scenario variant and signature."""

from datetime import UTC, date, datetime
from typing import Any

import pytest

from reports.domain.attention import Attention, Found, NoteFacts, Standing, standing_of, standing_without_failure

TODAY = date(2026, 3, 10)


def place(day: int) -> tuple[datetime, datetime, int]:
    moment = datetime(2026, 3, day, tzinfo=UTC)
    return moment, moment, day


def note(**members: Any) -> NoteFacts:
    made: dict[str, Any] = {
        "pk": 1,
        "target": 1,
        "variant": None,
        "signature": None,
        "known": frozenset(),
        "state": "known_issue",
    }
    return NoteFacts(**made | members)


@pytest.mark.parametrize(
    ("members", "holds"),
    [
        ({}, True),
        ({"target": 2}, False),
        ({"expires_on": TODAY}, True),
        ({"expires_on": date(2026, 3, 9)}, False),
        ({"first": place(5)}, True),
        ({"first": place(6)}, False),
        ({"last": place(5)}, True),
        ({"last": place(4)}, False),
        ({"first": place(4), "last": place(6)}, True),
    ],
)
def test_a_note_holds_within_its_bounds(members: dict[str, Any], holds: bool) -> None:
    assert note(**members).holds(target=1, place=place(5), today=TODAY) is holds


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({"signature": 7}, Standing.COVERED),
        ({"signature": 8}, Standing.NEW),
        ({"variant": 3}, Standing.FAILS_DIFFERENTLY),
        ({"variant": 3, "knows_undecided": True}, Standing.FAILS_DIFFERENTLY),
        ({"variant": 3, "every_failure": True}, Standing.COVERED),
        ({"variant": 4, "every_failure": True}, Standing.NEW),
        ({"variant": 3, "known": frozenset({7, 9})}, Standing.COVERED),
        ({"variant": 3, "known": frozenset({9})}, Standing.FAILS_DIFFERENTLY),
        ({"variant": 3, "known": frozenset({7}), "state": "fixed_verify"}, Standing.STILL_FAILS),
        ({"variant": 3, "known": frozenset({9}), "state": "fixed_verify"}, Standing.FAILS_DIFFERENTLY),
        ({"signature": 7, "state": "fixed_verify"}, Standing.STILL_FAILS),
        *(({"signature": 7, "state": state}, Standing.COVERED) for state in ("investigating", "flaky")),
    ],
)
def test_a_failure_stands_as_its_note_says(members: dict[str, Any], expected: Standing) -> None:
    assert standing_of(3, 7, [note(**members)]).standing is expected


@pytest.mark.parametrize(
    ("members", "lost", "passing"),
    [
        ({"variant": 3, "knows_undecided": True}, Standing.COVERED, Standing.COVERED),
        ({"variant": 3, "every_failure": True}, Standing.COVERED, Standing.COVERED),
        ({"variant": 3, "known": frozenset({7})}, Standing.LOST, Standing.COVERED),
        ({"variant": 3, "knows_undecided": True, "state": "fixed_verify"}, Standing.LOST, Standing.PASSES),
        ({"variant": 4, "knows_undecided": True}, Standing.NEW, Standing.NEW),
        ({"signature": 7}, Standing.NEW, Standing.NEW),
    ],
)
def test_without_a_failure_only_what_was_lost_can_need_attention(
    members: dict[str, Any], lost: Standing, passing: Standing
) -> None:
    notes = [note(**members)]

    assert standing_without_failure(3, notes, is_lost=True).standing is lost
    assert standing_without_failure(3, notes, is_lost=False).standing is passing


def test_one_note_that_covers_is_enough() -> None:
    notes = [note(pk=1, variant=3, known=frozenset({9})), note(pk=2, signature=7)]

    assert standing_of(3, 7, notes) == Found(Standing.COVERED, 2)


def test_without_a_note_everything_needs_attention() -> None:
    assert standing_of(3, 7, []) == Found(Standing.NEW)
    assert standing_of(3, None, [note(signature=7)]).needs_attention


def test_attention_has_words() -> None:
    assert [Attention(*pair).words for pair in ((0, 0), (3, 3), (3, 2), (3, 0))] == [
        "",
        "none needs attention",
        "1 needs attention",
        "3 need attention",
    ]
