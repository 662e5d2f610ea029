from dataclasses import replace
from typing import Any

import pytest
from evalrunner.compare import SideFacts, differences, redefined, usual_repetitions

FACTS = SideFacts(
    suite_ids=("desk",),
    suite_revisions=("r1",),
    target_ids=("agent",),
    statuses=("completed",),
    repetitions=(3,),
    options={"concurrency": 2},
)


def test_sides_alike_compare_without_reservation() -> None:
    assert differences(FACTS, FACTS) == ()


@pytest.mark.parametrize(
    ("members", "kind", "values"),
    [
        ({"suite_ids": ("other",)}, "suite", ("desk", "other")),
        ({"suite_revisions": ("r2",)}, "suite_revision", ("r1", "r2")),
        ({"target_ids": ("robot",)}, "target", ("agent", "robot")),
        ({"repetitions": (5, 3)}, "repetitions", ("3", "5")),
        ({"repetitions": ()}, "repetitions", ("3", "none")),
        ({"statuses": ("completed", "limited")}, "unfinished", ("completed", "completed, limited")),
        ({"is_follow_up": True}, "follow_up", ("", "chosen by outcome")),
        ({"options": {"concurrency": 8}}, "option", ("2", "8")),
        ({"options": {"concurrency": 2, "seed": "x"}}, "option", ("not stated", '"x"')),
    ],
)
def test_what_differs_is_named_with_both_values(members: dict[str, Any], kind: str, values: tuple[str, str]) -> None:
    (found,) = differences(FACTS, replace(FACTS, **members))

    assert (found.kind, found.baseline, found.candidate) == (kind, *values)


def test_options_are_compared_only_where_both_sides_state_some() -> None:
    assert differences(FACTS, replace(FACTS, options=None)) == ()


def test_a_variant_with_fewer_repetitions_here_or_there_is_no_difference() -> None:
    assert differences(FACTS, replace(FACTS, repetitions=(3, 1))) == ()


def test_usual_is_what_most_variants_have() -> None:
    assert usual_repetitions([3, 3, 1, 3, 2]) == (3, 1, 2)


def test_only_scenarios_of_both_sides_can_be_redefined() -> None:
    assert redefined({"a": "1", "b": "1", "gone": "1"}, {"a": "1", "b": "2", "new": "1"}) == {"b"}
