from typing import Any

import pytest
from evalrunner.compare import CaseOutcome, RunOutcomes, Sample, VariantId, case_outcome, run_outcomes, samples_of

from tests.factories import LETTERS, case, report
from tests.runner.compare.strategies import facts

GREET = VariantId("greet", ())


def run(letters: str, run_id: str, **members: Any) -> RunOutcomes:
    """Make a run of one scenario variant, one repetition for each letter; a dot leaves a repetition out."""
    cases = [
        CaseOutcome(GREET, repetition, repetition, LETTERS[letter], f"{run_id}-failed" if letter == "F" else "")
        for repetition, letter in enumerate(letters)
        if letter != "."
    ]
    return RunOutcomes(facts(run_id, **members), cases)


def statuses(*runs: RunOutcomes) -> str:
    letters = {word: letter for letter, word in LETTERS.items()}
    return "".join(letters[status] for status in samples_of(runs)[GREET].statuses)


def test_two_runs_of_one_version_pool_their_repetitions() -> None:
    assert statuses(run("P", "a"), run("F", "b")) == "PF"


def test_ranks_follow_the_start_of_the_run_then_its_id() -> None:
    early = run("F", "z", started_at="2026-03-02T10:00:00+02:00")
    late = run("P", "a", started_at="2026-03-02T09:00:00Z")

    assert statuses(late, early) == "FP"
    assert statuses(run("F", "b"), run("P", "a")) == "PF"


@pytest.mark.parametrize("text", ["someday", "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59"])
def test_a_start_that_is_no_moment_still_has_its_place(text: str) -> None:
    assert sorted(statuses(run("P", "a", started_at=text), run("F", "b"))) == ["F", "P"]


def test_a_retry_never_replaces_a_decided_attempt() -> None:
    first = run("FPC", "first", started_at="2026-03-02T09:00:00Z")
    retry = run("PPP", "retry", resumed_from="first", started_at="2026-03-02T10:00:00Z")

    assert statuses(retry, first) == "FPP"


def test_of_undecided_attempts_the_last_stands() -> None:
    first = run("C", "first", started_at="2026-03-02T09:00:00Z")
    retry = run("B", "retry", resumed_from="first", started_at="2026-03-02T10:00:00Z")

    assert statuses(first, retry) == "B"


def test_a_resumed_run_of_a_resumed_run_belongs_to_one_lineage() -> None:
    chain = [
        run("CC", "one", started_at="2026-03-02T09:00:00Z"),
        run("PC", "two", resumed_from="one", started_at="2026-03-02T10:00:00Z"),
        run("PF", "three", resumed_from="two", started_at="2026-03-02T11:00:00Z"),
    ]

    assert statuses(*chain) == "PF"


def test_runs_that_claim_to_resume_each_other_do_not_hang() -> None:
    assert len(statuses(run("P", "a", resumed_from="b"), run("P", "b", resumed_from="a"))) in (1, 2)


def test_repeated_cases_of_one_run_all_count() -> None:
    twice = [CaseOutcome(GREET, 0, place, "passed") for place in range(2)]

    assert samples_of([RunOutcomes(facts(), twice)])[GREET].statuses == ("passed", "passed")


def test_failures_are_counted_by_signature_and_undecided_cases_are_not() -> None:
    sample = samples_of([run("FFPC", "a")])[GREET]

    assert sample == Sample(("failed", "failed", "passed", "cancelled"), (("a-failed", 2),))


def test_a_case_is_read_with_its_variants_in_order() -> None:
    read = case_outcome(case("failed", variants={"b": "x", "a": "y"}, repetition=2), 7)

    assert (read.variant, read.repetition, read.place) == (VariantId("greet", (("a", "y"), ("b", "x"))), 2, 7)
    assert len(read.signature) == 32


def test_a_report_is_read_with_its_facts() -> None:
    whole = report("PF", resumedFrom="earlier")

    read = run_outcomes(whole)

    assert (read.facts.target_id, read.facts.suite_id, read.facts.resumed_from) == ("desk.agent", "desk", "earlier")
    assert set(read.facts.definitions) == {"greet"}
    assert [each.status for each in read.cases] == ["passed", "failed"]
