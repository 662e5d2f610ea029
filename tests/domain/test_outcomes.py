"""Outcomes of runs: gathered from cases, kept as a value, pooled."""

import json

from evalrunner.compare import Sample
from hypothesis import given
from hypothesis import strategies as st

from reports.domain.outcomes import Outcomes, gathered, names_in_order, outcomes_of_data, pooled
from tests.factories import LETTERS

NAMES = {7: ("refund", "{}"), 3: ("search", '{"ask": "polite"}'), 5: ("search", "{}"), 9: ("greet", "{}")}
CASES = st.lists(
    st.tuples(st.sampled_from(sorted(NAMES)), st.sampled_from(sorted(LETTERS.values())), st.none() | st.integers(1, 4))
)


def of(*cases: tuple[int, str, int | None]) -> Outcomes:
    return gathered(cases, NAMES)


def test_statuses_keep_their_order_and_failures_are_counted_by_signature() -> None:
    found = of((5, "passed", None), (7, "failed", 2), (5, "failed", 1), (5, "error", 1), (7, "blocked", 4))

    assert found.variants == [7, 5]
    assert found.names == [("refund", "{}"), ("search", "{}")]
    assert found.samples == [
        Sample(("failed", "blocked"), (("2", 1),)),
        Sample(("passed", "failed", "error"), (("1", 2),)),
    ]


def test_failures_and_variants_stand_in_an_order_that_no_store_decides() -> None:
    names = {1: ("a", '{"ask": "x"}'), 2: ("a", "{}"), 3: ("a", '{"b": "x", "ask": "x!"}'), 4: ("A", "{}")}

    found = gathered([(1, "failed", 9), (1, "failed", 2), *((key, "passed", None) for key in (2, 3, 4))], names)

    assert list(found.variants) == [4, 2, 1, 3]
    assert found.samples[2].signatures == (("9", 1), ("2", 1))


def test_variants_that_look_alike_share_one_sample() -> None:
    first, second = of((7, "passed", None), (5, "passed", None)).samples

    assert first is second


@given(CASES)
def test_outcomes_come_back_from_the_value_that_is_kept(cases: list[tuple[int, str, int | None]]) -> None:
    found = of(*cases)

    assert outcomes_of_data(json.loads(json.dumps(found.to_data()))) == found


def test_a_value_of_another_shape_is_not_read() -> None:
    assert outcomes_of_data(of((7, "passed", None)).to_data() | {"shape": 0}) is None


@given(CASES, CASES)
def test_runs_pool_like_their_cases_one_after_the_other(
    first: list[tuple[int, str, int | None]], second: list[tuple[int, str, int | None]]
) -> None:
    whole = of(*first, *second)

    assert pooled([of(*first), of(*second)]) == pooled([whole])
    assert list(names_in_order([of(*first), of(*second)]).items()) == list(
        zip(whole.variants, whole.names, strict=True)
    )
