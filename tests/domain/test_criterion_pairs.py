from typing import Any

import pytest

from reports.domain.criterion_pairs import CriterionPair, criterion_pairs
from reports.domain.expressions import expressions


def result(id: str, passed: bool = True, **members: Any) -> dict[str, Any]:
    return {"id": id, "passed": passed} | members


def pairs(left: list[dict[str, Any]], right: list[dict[str, Any]]) -> tuple[CriterionPair, ...]:
    return criterion_pairs(expressions(left, None), expressions(right, None))


def told(found: tuple[CriterionPair, ...]) -> list[tuple[str, str]]:
    return [(pair.shown.id, pair.change) for pair in found]


def test_flipped_criteria_come_first_and_the_same_last() -> None:
    left = [result("same"), result("seen", actual={"present": True, "value": 1}), result("flips")]
    right = [result("same"), result("seen", actual={"present": True, "value": 2}), result("flips", False)]

    assert told(pairs(left, right)) == [("flips", "flipped"), ("seen", "changed"), ("same", "same")]


def test_a_criterion_of_one_side_has_none_on_the_other() -> None:
    (gone, new) = pairs([result("gone")], [result("new")])

    assert (gone.change, gone.right, new.change, new.left) == ("only-left", None, "only-right", None)


def test_ids_that_repeat_are_paired_in_order_and_none_is_lost() -> None:
    found = pairs([result("a")], [result("a"), result("a"), result("a", False)])

    assert sorted(pair.change for pair in found) == ["only-right", "only-right", "same"]


def test_only_branches_with_a_flip_stand_open() -> None:
    left = result("all", children=[result("x"), result("any", children=[result("p", False), result("q")])])
    right = result("all", children=[result("x"), result("any", children=[result("p"), result("q")])])

    (whole,) = pairs([left], [right])

    assert (whole.change, whole.is_open) == ("inside", True)
    assert {child.shown.id: child.is_open for child in whole.children} == {"any": True, "x": False}


def test_an_error_is_another_verdict_than_a_failure() -> None:
    (pair,) = pairs([result("a", False)], [result("a", False, errorCode="EVALUATOR_FAILED")])

    assert pair.change == "flipped"


@pytest.mark.parametrize(("left", "right", "change"), [(1, True, "changed"), (1, 1.0, "same"), (None, 0, "changed")])
def test_values_of_another_type_are_other_evidence(left: object, right: object, change: str) -> None:
    (pair,) = pairs(
        [result("a", actual={"present": True, "value": left})], [result("a", actual={"present": True, "value": right})]
    )

    assert pair.change == change
