import pytest
from evalrunner.compare import Repetition, TurnDifference, ignore_rules, turn_difference, typical_pair

from tests.factories import LETTERS, turn


def repetitions(letters: str, *, signatures: str = "") -> list[Repetition]:
    return [
        Repetition(rank, LETTERS[letter], signatures[rank - 1 : rank], turns=2)
        for rank, letter in enumerate(letters, start=1)
    ]


def ranks(baseline: str, candidate: str) -> tuple[int | None, int | None]:
    left, right = typical_pair(repetitions(baseline), repetitions(candidate))
    return left.rank if left else None, right.rank if right else None


def test_two_runs_of_the_same_turn_differ_in_nothing() -> None:
    assert turn_difference(turn(), turn(durationMs=7, turnId="other")) == TurnDifference()


def test_ignored_members_do_not_count_at_any_depth() -> None:
    left = turn(observation={"response": {"threadId": "a", "text": "hi"}})
    right = turn(observation={"response": {"threadId": "b", "text": "hi"}})

    assert not turn_difference(left, right).is_any
    assert turn_difference(left, right, ignored=ignore_rules([])).observation


def test_paths_are_left_out_of_observations_alone() -> None:
    rules = ignore_rules(["text", "meta.at"])
    left = turn(input={"meta": {"at": 1}}, observation={"meta": {"at": 1}, "text": "a"})
    right = turn(input={"meta": {"at": 1}}, observation={"meta": {"at": 2}, "text": "b"})

    assert turn_difference(left, right, ignored=rules) == TurnDifference()
    other = right | {"input": {"meta": {"at": 2}}}
    assert turn_difference(left, other, ignored=rules) == TurnDifference(input=True)


def test_a_failed_turn_differs_in_status_observation_and_criteria() -> None:
    found = turn_difference(turn("passed"), turn("failed"))

    assert found == TurnDifference(status=True, observation=True, criteria=True, flipped=1)


def test_an_observation_on_one_side_only_is_a_difference() -> None:
    assert turn_difference(turn(), turn("error")).observation


def test_a_verdict_may_change_while_the_conversation_does_not() -> None:
    left = turn("passed")
    right = left | {"status": "failed", "assertions": [left["assertions"][0] | {"passed": False}]}

    assert (turn_difference(left, right).is_any, turn_difference(left, right).is_conversation) == (True, False)


@pytest.mark.parametrize(
    ("baseline", "candidate", "expected"),
    [
        ("PPP", "PPF", (1, 3)),
        ("FPP", "PPP", (1, 1)),
        ("PFF", "PPF", (2, 1)),
        ("PPF", "PFF", (1, 2)),
        ("FFP", "E", (3, 1)),
        ("PPP", "PPP", (1, 1)),
        ("FEF", "FFF", (1, 1)),
        ("PP", "NN", (1, 1)),
        ("SP", "S", (1, 1)),
        ("", "P", (None, 1)),
    ],
)
def test_a_typical_pass_stands_against_a_typical_failure(
    baseline: str, candidate: str, expected: tuple[int | None, int | None]
) -> None:
    assert ranks(baseline, candidate) == expected


def test_typical_is_the_most_common_way_to_fail() -> None:
    failures = repetitions("FFF", signatures="abb")

    _left, right = typical_pair(repetitions("P"), failures)

    assert right is not None
    assert right.rank == 2
