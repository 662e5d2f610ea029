"""The cards of home: each target with its newest versions on the suite it ran last."""

import pytest

from reports.models import Team
from reports.selectors.home import VERSIONS_SHOWN, list_target_cards
from tests.factories import outcomes, suite
from tests.factories import stored as store

pytestmark = pytest.mark.django_db


def run_at(team: Team, number: int, *, target: str = "desk", suite_id: str = "desk", day: int = 0) -> None:
    made = outcomes(f"v{number}", target_id=target, greet="PF")
    made |= {"startedAt": f"2026-01-{day or number + 1:02d}T08:00:00Z", "suite": suite("greet", suite_id=suite_id)}
    store(team, made)


def test_only_the_newest_versions_of_a_target_are_read_and_all_are_counted(team: Team) -> None:
    for number in range(VERSIONS_SHOWN + 3):
        run_at(team, number)
    run_at(team, 3, day=28)  # one that is old by its first run

    (card,), has_more = list_target_cards(team=team)

    assert [row.fingerprint for row in card.versions] == [f"v{number}" for number in range(22, 2, -1)]
    assert (card.version_count, has_more) == (VERSIONS_SHOWN + 3, False)
    assert card.versions[-1].runs == 2


def test_each_target_counts_the_versions_of_the_suite_that_it_ran_last(team: Team) -> None:
    run_at(team, 1, target="a", suite_id="old")
    run_at(team, 2, target="a", suite_id="new")
    run_at(team, 3, target="b", suite_id="old")

    cards, _has_more = list_target_cards(team=team)

    assert [(card.target_id, card.suite_id, card.version_count) for card in cards] == [("b", "old", 1), ("a", "new", 1)]
    assert [[row.fingerprint for row in card.versions] for card in cards] == [["v3"], ["v2"]]
