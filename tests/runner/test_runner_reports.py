"""Every recorded run is executed again and must arrive at the recorded report."""

import json
import re
from typing import Any

import pytest
from evalrunner.cases import turn_id

from tests.runner.replay import CORPUS, read_corpus, replay, same_json
from tests.runner.scripts import SECRET

RUNS = sorted(path.name for path in (CORPUS / "runs").glob("*.json"))
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


def aligned(recorded: dict[str, Any], actual: dict[str, Any]) -> dict[str, Any]:
    """Give the recorded report with the times of another run, and the ids that follow from its run id."""
    report = json.loads(json.dumps(recorded))
    report |= {name: actual[name] for name in ("runId", "startedAt", "finishedAt") if name in report}
    for case, twin in zip(report["cases"], actual["cases"], strict=True):
        is_own = case["threadId"].startswith(f"{recorded['runId']}:")
        if is_own:
            case["threadId"] = f"{actual['runId']}:{case['id']}"
        for turn, other in zip(case["turns"], twin["turns"], strict=True):
            turn["durationMs"] = other["durationMs"]
            if is_own:
                turn["turnId"] = turn_id(case["threadId"], turn["stepId"])
    return report  # type: ignore[no-any-return]


def test_the_corpus_of_runs_is_there() -> None:
    assert len(RUNS) == 33


@pytest.mark.parametrize("name", RUNS)
def test_a_recorded_run_arrives_at_its_report(name: str) -> None:
    spec = read_corpus(f"runs/{name}")
    previous = read_corpus(spec["resumeFrom"]) if "resumeFrom" in spec else None

    seen = replay(spec, previous)

    number = spec["expect"].get("checkpoint")
    actual = seen.data if number is None else seen.checkpoints[number - 1]
    expected = aligned(read_corpus(spec["expect"]["report"]), actual)
    assert same_json(expected, actual)
    assert UUID.fullmatch(actual["runId"])
    assert all(MOMENT.fullmatch(actual[name]) for name in ("startedAt", "finishedAt") if name in actual)
    assert SECRET not in json.dumps(actual)


@pytest.mark.parametrize("name", ["clinic-resumed.json", "long-conversation.json", "matrix.json"])
def test_adapters_are_told_the_ids_of_the_report(name: str) -> None:
    spec = read_corpus(f"runs/{name}")
    previous = read_corpus(spec["resumeFrom"]) if "resumeFrom" in spec else None

    seen = replay(spec, previous)

    threads = {case["id"]: case["threadId"] for case in seen.data["cases"]}
    assert seen.log.opened
    assert all(opened.run_id == seen.data["runId"] for opened in seen.log.opened)
    assert all(opened.thread_id == threads[opened.case_id] for opened in seen.log.opened)
    expected = [turn_id(threads[case_id], step_id) for case_id, step_id in seen.log.sent]
    assert seen.log.turn_ids == expected
