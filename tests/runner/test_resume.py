"""Continuing and retrying: what becomes of every case of an earlier report."""

from typing import Any

import pytest

from tests.runner.replay import Replay, read_corpus, replay

VECTORS = read_corpus("resume.json")
ACCEPTED = [vector for vector in VECTORS if "code" not in vector]


@pytest.mark.parametrize("vector", [v for v in VECTORS if "code" in v], ids=lambda vector: vector["name"])
def test_a_report_that_does_not_fit_is_refused(vector: dict[str, Any]) -> None:
    seen = replay(vector, vector["previous"])

    assert seen.error is not None
    assert seen.error.code == vector["code"]
    assert seen.log.opened == []
    assert seen.checkpoints == []


@pytest.mark.parametrize("vector", ACCEPTED, ids=lambda vector: vector["name"])
def test_cases_are_kept_blocked_continued_or_begun_afresh(vector: dict[str, Any]) -> None:
    previous = vector["previous"]

    seen = replay(vector, previous)

    report, expected = seen.data, vector["outcome"]
    actual = [_outcome(seen, old, new) for old, new in zip(previous["cases"], report["cases"], strict=True)]
    assert actual == expected["cases"]
    assert (report["status"], report["summary"]) == (expected["status"], expected["summary"])
    assert (report["resumedFrom"] == previous["runId"]) == expected["resumedFromIsPreviousRunId"]
    results = [{k: r[k] for k in ("id", "passed", "errorCode") if k in r} for r in report["assertions"]]
    assert results == expected["suiteAssertions"]


@pytest.mark.parametrize("vector", ACCEPTED, ids=lambda vector: vector["name"])
def test_what_is_taken_over_is_untouched(vector: dict[str, Any]) -> None:
    seen = replay(vector, vector["previous"])

    taken = 0
    for old, new in zip(vector["previous"]["cases"], seen.data["cases"], strict=True):
        if old["threadId"] == new["threadId"]:
            taken += 1
            assert new["turns"][: len(old["turns"])] == old["turns"]
            assert all(new[name] == old[name] for name in ("id", "name", "scenarioId", "variants", "repetition"))
    fresh = sum(case["origin"] == "fresh" for case in vector["outcome"]["cases"])
    assert taken == len(seen.data["cases"]) - fresh


@pytest.mark.parametrize("vector", ACCEPTED, ids=lambda vector: vector["name"])
def test_events_tell_of_the_work_done_now(vector: dict[str, Any]) -> None:
    seen = replay(vector, vector["previous"])

    actual = [[event.sequence, str(event.type), event.case_index, event.step_id] for event in seen.events]
    expected = vector["outcome"]["events"]
    if vector["options"].get("concurrency", 1) != 1:
        actual, expected = _by_case(actual), _by_case(expected)
    assert actual == expected


def _outcome(seen: Replay, old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Describe a case in the words of the corpus."""
    is_same_thread = old["threadId"] == new["threadId"]
    is_opened = any(context.case_id == new["id"] for context in seen.log.opened)
    is_changed = [old["status"], old.get("errorCode")] != [new["status"], new.get("errorCode")]
    kept_turns = {turn["turnId"] for turn in old["turns"]} if is_same_thread else set()
    if not is_same_thread:
        origin = "fresh"
    elif is_opened:
        origin = "continued"
    else:
        origin = "blocked" if is_changed else "kept"
    outcome = {k: new[k] for k in ("id", "scenarioId", "status", "errorCode", "skipReason") if k in new}
    given = seen.log.checkpoints_given
    return (
        outcome
        | {
            "origin": origin,
            "turns": [
                {k: turn[k] for k in ("stepId", "status", "errorCode") if k in turn}
                | {"kept": turn["turnId"] in kept_turns}
                for turn in new["turns"]
            ],
            "assertions": [result["passed"] for result in new["assertions"]],
            "opened": is_opened,
            "sent": [step for case_id, step in seen.log.sent if case_id == new["id"]],
        }
        | ({"checkpointGiven": given[new["id"]]} if new["id"] in given else {})
    )


def _by_case(events: list[list[Any]]) -> list[list[Any]]:
    """Drop the sequence and put the events of each case together, in their order."""
    return [event[1:] for event in sorted(events, key=lambda event: -1 if event[2] is None else event[2])]
