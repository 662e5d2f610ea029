"""Reading reports, and what the stored comparisons leave open."""

from __future__ import annotations

import json
from typing import Any

import pytest
from evalrunner.harness import ReportParseError, compare_reports, parse_report, summarize
from hypothesis import given
from hypothesis import strategies as st

ROW: dict[str, Any] = {"scenario_id": "a", "profile": "p", "passed": True, "elapsed_ms": 100}


def report(*rows: dict[str, Any], **summary: Any) -> dict[str, Any]:
    return {"summary": summarize(rows) | summary, "results": list(rows)}


def without(data: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in data.items() if name != key}


def kinds(before: dict[str, Any], after: dict[str, Any]) -> tuple[list[str], list[str]]:
    comparison = compare_reports(report(ROW | before), report(ROW | after))
    regressions, improvements = (
        [entry["kind"] for entry in comparison[key]] for key in ("regressions", "improvements")
    )
    return regressions, improvements


@pytest.mark.parametrize("key", ["scenario_id", "profile", "passed", "elapsed_ms"])
def test_a_row_needs_four_keys(key: str) -> None:
    with pytest.raises(ReportParseError, match=rf"^json error: results\[0\]: missing field `{key}`$"):
        parse_report(json.dumps({"summary": summarize([ROW]), "results": [without(ROW, key)]}))


@pytest.mark.parametrize("key", [*summarize([ROW])])
def test_a_summary_needs_all_keys_but_the_optional_totals(key: str) -> None:
    given = report(ROW)

    with pytest.raises(ReportParseError, match=f"missing field `{key}`"):
        parse_report(json.dumps(given | {"summary": without(given["summary"], key)}))


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"elapsed_ms": 1.5}, "results[0].elapsed_ms: invalid type: floating point `1.5`, expected u64"),
        ({"elapsed_ms": -1}, "expected u64"),
        ({"passed": 1}, "results[0].passed: invalid type: integer `1`, expected a boolean"),
        ({"failures": None}, "results[0].failures: invalid type: null, expected a sequence"),
        ({"context_input_tokens": "9"}, "results[0].context_input_tokens"),
        ({"model_usage": {"input_tokens": -1}}, "results[0].model_usage.input_tokens"),
    ],
)
def test_a_wrong_type_is_named(change: dict[str, Any], text: str) -> None:
    with pytest.raises(ReportParseError) as caught:
        parse_report(json.dumps({"results": [ROW | change], "summary": summarize([ROW])}))

    assert text in str(caught.value)


@pytest.mark.parametrize("text", ["", "[]", "null", "{", '{"summary": NaN, "results": []}', "\ufeff{}", "[" * 100_000])
def test_what_is_no_report_is_refused(text: str) -> None:
    with pytest.raises(ReportParseError, match=r"^json error: "):
        parse_report(text)


def test_everything_else_defaults_and_unknown_keys_are_ignored() -> None:
    given = report(ROW | {"context_input_tokens": None, "new": {"a": 1}}) | {"extra": []}

    assert parse_report(json.dumps(given)) == given


@pytest.mark.parametrize(
    ("before", "after", "regressions", "improvements"),
    [
        (100, 150, [], []),
        (1000, 1504, ["slower_by_50%"], []),
        (8, 13, ["slower_by_62%"], []),
        (200, 327, ["slower_by_64%"], []),
        (100, 50, [], []),
        (1000, 496, [], ["faster_by_50%"]),
        (0, 900, [], []),
        (900, 0, [], ["faster_by_100%"]),
        (1, 2**64 - 1, ["slower_by_1844674407370955161600%"], []),
    ],
)
def test_time_counts_from_more_than_half(
    before: int, after: int, regressions: list[str], improvements: list[str]
) -> None:
    assert kinds({"elapsed_ms": before}, {"elapsed_ms": after}) == (regressions, improvements)


def test_one_id_may_carry_several_kinds() -> None:
    better = {"passed": True, "elapsed_ms": 10, "context_input_tokens": 10}
    worse = {"passed": False, "elapsed_ms": 100, "context_input_tokens": 100}

    assert kinds(better, worse) == (["passed_to_failed", "slower_by_900%", "more_tokens_900%"], [])
    assert kinds(worse, better) == ([], ["failed_to_passed", "faster_by_90%"])
    assert kinds(better, worse | {"context_input_tokens": None})[0] == ["passed_to_failed", "slower_by_900%"]


def test_ids_come_in_the_order_of_the_candidate_and_the_last_row_counts() -> None:
    rows = [ROW | {"scenario_id": id, "passed": passed} for id, passed in [("b", False), ("a", False), ("b", True)]]
    baseline = report(*(ROW | {"scenario_id": id} for id in "abc"))

    comparison = compare_reports(baseline, report(*rows, ROW | {"scenario_id": "z", "passed": False}))

    assert comparison["regressions"] == [{"scenario_id": "a", "kind": "passed_to_failed"}]
    comparison = compare_reports(baseline, report(*reversed(rows)))
    assert [entry["scenario_id"] for entry in comparison["regressions"]] == ["b", "a"]


def test_deltas_come_from_the_summaries_as_written() -> None:
    baseline = report(success_rate=0.1, avg_elapsed_ms=3, total_context_input_tokens=5)
    candidate = report(success_rate=0.3, avg_elapsed_ms=1.5, total_context_input_tokens=2)

    comparison = compare_reports(baseline, candidate)

    assert comparison["pass_rate_delta"] == 0.3 - 0.1
    assert (comparison["avg_elapsed_delta_ms"], comparison["total_token_delta"]) == (-1.5, -3)
    assert compare_reports(baseline, report())["total_token_delta"] is None


numbers = st.none() | st.integers(0, 10**6)
rows = st.lists(
    st.fixed_dictionaries(
        {
            "scenario_id": st.sampled_from("abc"),
            "profile": st.just("p"),
            "passed": st.booleans(),
            "elapsed_ms": st.integers(0, 10**6),
            "context_input_tokens": numbers,
        }
    ),
    max_size=6,
)


@given(rows, rows)
def test_the_mirror_of_a_comparison_swaps_verdicts_and_signs(left: list[Any], right: list[Any]) -> None:
    there, back = (compare_reports(report(*a), report(*b)) for a, b in ((left, right), (right, left)))

    lost = {entry["scenario_id"] for entry in there["regressions"] if entry["kind"] == "passed_to_failed"}
    won = {entry["scenario_id"] for entry in back["improvements"] if entry["kind"] == "failed_to_passed"}
    assert lost == won
    assert there["pass_rate_delta"] == -back["pass_rate_delta"]
    same = compare_reports(report(*left), report(*left))
    assert (same["regressions"], same["improvements"], same["pass_rate_delta"]) == ([], [], 0.0)
