from itertools import pairwise

from evalrunner.compare import align, common_subsequence
from hypothesis import given
from hypothesis import strategies as st

words = st.lists(st.sampled_from("abcd"), max_size=12)
turns = st.lists(st.tuples(st.sampled_from(["ask", "pay", "end"]), st.sampled_from(["x", "y"])), max_size=10)


def slow_length(left: list[str], right: list[str]) -> int:
    if not (left and right):
        return 0
    if left[0] == right[0]:
        return 1 + slow_length(left[1:], right[1:])
    return max(slow_length(left[1:], right), slow_length(left, right[1:]))


@given(st.lists(st.sampled_from("abc"), max_size=6), st.lists(st.sampled_from("abc"), max_size=6))
def test_no_common_subsequence_is_longer(left: list[str], right: list[str]) -> None:
    assert len(common_subsequence(left, right)) == slow_length(left, right)


@given(words, words)
def test_common_places_hold_equal_items_in_order(left: list[str], right: list[str]) -> None:
    places = common_subsequence(left, right)

    assert all(left[i] == right[j] for i, j in places)
    assert all(a[0] < b[0] and a[1] < b[1] for a, b in pairwise(places))


def test_two_long_sequences_without_anything_in_common_cost_little() -> None:
    assert common_subsequence(range(5_000), range(5_000, 10_000)) == []


@given(turns, turns)
def test_every_turn_is_aligned_once_and_in_order(left: list[tuple[str, str]], right: list[tuple[str, str]]) -> None:
    aligned = align(left, right)

    assert [i for i, _j in aligned if i is not None] == list(range(len(left)))
    assert [j for _i, j in aligned if j is not None] == list(range(len(right)))
    assert (None, None) not in aligned


def test_turns_of_the_same_step_belong_together() -> None:
    assert align([("ask", "x"), ("pay", "y")], [("ask", "x"), ("confirm", "z"), ("pay", "w")]) == [
        (0, 0),
        (None, 1),
        (1, 2),
    ]


def test_without_common_ids_turns_are_aligned_by_their_input() -> None:
    assert align([("a1", "hello"), ("a2", "bye")], [("b1", "bye")]) == [(0, None), (1, 0)]


def test_long_sequences_are_aligned_by_what_occurs_once() -> None:
    left = [0, 0, *range(1, 2_000), 0]
    right = [*range(3, 2_002), 0, 0, 1]

    places = common_subsequence(left, right)

    assert len(places) == 1_997
    assert all(left[i] == right[j] for i, j in places)
    assert all(a[0] < b[0] and a[1] < b[1] for a, b in pairwise(places))
