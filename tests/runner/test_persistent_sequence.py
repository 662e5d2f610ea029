"""The sequence behind ``report.cases``: it reads like a tuple, and copies share what did not change."""

from typing import Any

import pytest
from evalrunner.runner.sequence import WIDTH, PersistentSequence
from hypothesis import given
from hypothesis import strategies as st

lengths = st.one_of(st.integers(0, 70), st.sampled_from([WIDTH**2 - 1, WIDTH**2, WIDTH**2 + 1, WIDTH**3 + 5]))


@given(lengths, st.data())
def test_it_reads_like_a_tuple(length: int, data: st.DataObject) -> None:
    plain = tuple(range(length))
    sequence = PersistentSequence(plain)
    part = data.draw(st.slices(max(length, 1)))

    assert len(sequence) == length
    assert list(sequence) == list(plain)
    assert sequence[part] == plain[part]
    assert sequence == plain
    assert plain == sequence
    assert hash(sequence) == hash(plain)
    assert list(reversed(sequence[:50])) == list(reversed(plain[:50]))
    if length:
        index = data.draw(st.integers(-length, length - 1))
        assert sequence[index] == plain[index]


@given(lengths.filter(bool), st.data())
def test_every_version_stays_as_it_was(length: int, data: st.DataObject) -> None:
    changes = data.draw(st.lists(st.tuples(st.integers(0, length - 1), st.integers(-9, -1)), max_size=8))
    versions = [(PersistentSequence(range(length)), list(range(length)))]

    for index, item in changes:
        sequence, model = versions[-1]
        model = model.copy()
        model[index] = item
        versions.append((sequence.replaced(index, item), model))

    assert all(list(sequence) == model for sequence, model in versions)


@pytest.mark.parametrize("length", [1_000, 100_000])
def test_a_change_makes_few_new_nodes_however_many_items_there_are(length: int) -> None:
    sequence = PersistentSequence(range(length))

    changed = sequence.replaced(length // 2, -1)

    new = _nodes(changed) - _nodes(sequence)
    assert 1 <= len(new) <= 4


def _nodes(sequence: PersistentSequence[int]) -> set[int]:
    found: set[int] = set()
    pending: list[Any] = [sequence._root]
    while pending:
        node = pending.pop()
        found.add(id(node))
        pending.extend(child for child in node if isinstance(child, tuple))
    return found


def test_places_that_do_not_exist_are_refused() -> None:
    sequence = PersistentSequence("abc")

    for index in (3, -4):
        with pytest.raises(IndexError):
            sequence[index]
    for index in (3, -1):
        with pytest.raises(IndexError):
            sequence.replaced(index, "x")


def test_it_differs_from_other_items_and_other_kinds() -> None:
    sequence = PersistentSequence("abc")

    assert sequence != PersistentSequence("abd")
    assert sequence != ("a", "b")
    assert sequence != ["a", "b", "c"]


def test_it_is_written_out_short() -> None:
    assert len(repr(PersistentSequence(range(100_000)))) < 50
