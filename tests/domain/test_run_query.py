"""The text form of the filters of the runs list."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.domain.run_query import NAMES, ORIGINS, OUTCOMES, STATUSES, RunQuery, parse_run_query

TEXTS = st.text(min_size=1, max_size=20)
TERMS = st.fixed_dictionaries(
    {},
    optional={
        "target": st.lists(TEXTS, min_size=1, max_size=3, unique=True).map(tuple),
        "suite": st.tuples(TEXTS),
        "version": st.tuples(TEXTS),
        "status": st.tuples(st.sampled_from(STATUSES)),
        "outcome": st.tuples(st.sampled_from(OUTCOMES)),
        "origin": st.tuples(st.sampled_from(ORIGINS)),
        "from": st.tuples(st.dates().map(str)),
    },
)


@given(TERMS, st.lists(TEXTS, max_size=4).map(tuple))
def test_the_text_form_reads_back_as_the_same_query(terms: dict[str, tuple[str, ...]], words: tuple[str, ...]) -> None:
    query = RunQuery(terms, words)

    assert parse_run_query(query.text) == query


@given(st.text(max_size=200))
def test_every_text_is_answered(text: str) -> None:
    query = parse_run_query(text)

    assert set(query.terms) <= set(NAMES)


def test_names_values_and_words_are_told_apart() -> None:
    query = parse_run_query('target:desk.agent status:completed  "two words" sha256:ab suite:"a \\"b\\" \\\\c"')

    assert query.values("target") == ("desk.agent",)
    assert query.values("status") == ("completed",)
    assert query.values("suite") == ('a "b" \\c',)
    assert query.words == ("two words", "sha256:ab")
    assert query.faults == ()


def test_a_backslash_outside_quotes_is_itself() -> None:
    assert parse_run_query(r"target:c\d").values("target") == ("c\\d",)


@pytest.mark.parametrize(
    "text", ["status:gone", "outcome:good", "origin:moon", "from:yesterday", "to:2026-02-30", "from:٢٠٢٦-٠١-٠١"]
)
def test_what_cannot_be_understood_is_named_and_narrows_nothing(text: str) -> None:
    query = parse_run_query(text)

    assert len(query.faults) == 1
    assert text.partition(":")[2] in query.faults[0]
    assert not query.is_narrow


def test_only_so_many_terms_are_used() -> None:
    query = parse_run_query(" ".join(f"word{number}" for number in range(100)))

    assert len(query.words) == 40
    assert query.faults == ("Only the first 40 terms are used.",)


def test_a_chip_replaces_and_removes_its_own_values() -> None:
    query = parse_run_query("status:failed-not status:queued hello").with_value("status", "running")

    assert query.text == "status:running hello"
    assert query.without("status").text == "hello"
