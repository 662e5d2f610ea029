"""The order of events and the content of every checkpoint, as recorded."""

from typing import Any

import pytest
from evalrunner import parse_evaluation_report

from tests.runner.replay import Replay, read_corpus, replay

VECTORS = read_corpus("events.json")


@pytest.fixture(params=VECTORS, ids=lambda vector: vector["name"], scope="module")
def recorded(request: pytest.FixtureRequest) -> tuple[dict[str, Any], Replay]:
    return request.param, replay(request.param)


def test_events_come_in_the_recorded_order(recorded: tuple[dict[str, Any], Replay]) -> None:
    vector, seen = recorded

    actual = [_event(event.to_data()) for event in seen.events]

    assert actual == vector["events"]
    assert all(event.run_id == seen.checkpoints[0]["runId"] for event in seen.events)


def _event(data: dict[str, Any]) -> dict[str, Any]:
    event = {name: data[name] for name in ("sequence", "type", "caseId", "stepId") if name in data}
    return event | ({"case": data["caseIndex"]} if "caseIndex" in data else {})


def test_checkpoints_show_what_was_recorded(recorded: tuple[dict[str, Any], Replay]) -> None:
    vector, seen = recorded

    actual = [
        {
            "status": data["status"],
            "finished": "finishedAt" in data,
            "summary": data["summary"],
            "cases": [[case["status"], len(case["turns"])] for case in data["cases"]],
            "suiteAssertions": len(data["assertions"]),
        }
        for data in seen.checkpoints
    ]

    assert actual == vector["checkpoints"]


def test_adapters_are_called_as_recorded(recorded: tuple[dict[str, Any], Replay]) -> None:
    vector, seen = recorded
    index = {case["id"]: number for number, case in enumerate(seen.checkpoints[0]["cases"])}

    assert sorted(index[context.case_id] for context in seen.log.opened) == sorted(vector["opened"])
    assert [index[case_id] for case_id in seen.log.closed] == vector["closed"]
    assert [[index[case_id], step] for case_id, step in seen.log.sent] == vector["sent"]


def test_a_run_ends_as_recorded(recorded: tuple[dict[str, Any], Replay]) -> None:
    vector, seen = recorded

    if "code" in vector:
        assert seen.error is not None
        assert seen.error.code == vector["code"]
    else:
        assert seen.data["status"] == vector["finalStatus"]
        assert vector["finalEqualsLastCheckpoint"] == (seen.checkpoints[-1] == seen.data)


def test_observers_are_called_one_after_the_other(recorded: tuple[dict[str, Any], Replay]) -> None:
    _, seen = recorded
    numbers = range(1, len(seen.order) + 1)
    whole = [f"{what} {n} {when}" for n in numbers for what in ("checkpoint", "event") for when in ("begins", "ends")]

    assert seen.order == whole[: len(seen.order)]


def test_every_checkpoint_can_be_read_and_stays_as_it_was(recorded: tuple[dict[str, Any], Replay]) -> None:
    _, seen = recorded

    for snapshot, data in zip(seen.snapshots, seen.checkpoints, strict=True):
        assert snapshot.to_data() == data
        assert parse_evaluation_report(data).to_data() == data
