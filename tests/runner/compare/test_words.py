import pytest
from evalrunner.compare import Difference, compare, difference_in_words, in_words, sentence

from tests.runner.compare.test_engine import side


def said(before: dict[str, str], after: dict[str, str]) -> str:
    return in_words(compare(side(**before), side(**after)))


def test_what_got_worse_comes_first_and_the_rates_with_their_counts_last() -> None:
    words = said({"a": "PP", "b": "PP", "c": "F", "d": "P"}, {"a": "FF", "b": "PF", "c": "P", "e": "P"})

    assert words == (
        "1 scenario variant broke, 1 became unstable; 1 was fixed; 1 was added, 1 was removed. "
        "Pass rate 83.3% (5 of 6 decided) → 50% (3 of 6 decided)."
    )


def test_nothing_worse_is_said_too() -> None:
    assert said({"a": "P"}, {"a": "P"}).startswith(
        "No scenario variant broke, was lost or got worse. 1 scenario variant is steady."
    )


def test_several_are_counted_in_the_plural() -> None:
    assert said({"a": "P", "b": "P"}, {"a": "C", "b": "N"}).startswith("2 scenario variants were lost.")


def test_what_was_never_decided_stands_beside_the_rate() -> None:
    assert said({"a": "PPPP"}, {"a": "PPSS"}).endswith(
        "Pass rate 100% (4 of 4 decided) → 100% (2 of 2 decided, 2 undecided); 2 fewer decided."
    )


def test_two_empty_sides_have_nothing_to_say() -> None:
    assert said({}, {}).startswith("Neither side has a case.")


def test_each_number_names_the_rows_it_counts() -> None:
    phrases = sentence(compare(side(a="P", b="F"), side(a="F", b="P")))

    assert [(phrase.text, phrase.selects) for phrase in phrases if phrase.selects] == [
        ("1 scenario variant broke", "broken"),
        ("1 was fixed", "fixed"),
    ]


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("target", "Different targets: x → y."),
        ("repetitions", "Different repetitions: x → y cases a scenario variant."),
        ("unfinished", "Not every run is completed: x → y."),
        ("option", "Different time-out: x → y."),
    ],
)
def test_what_does_not_compare_is_a_sentence(kind: str, words: str) -> None:
    assert difference_in_words(Difference(kind, "time-out", "x", "y")) == words
