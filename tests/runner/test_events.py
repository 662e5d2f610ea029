"""Events as data, and the collector that keeps them."""

import asyncio
import copy
import pickle

from evalrunner import EvaluationCheckpoint, EventCollector, EventType, RunEvent, run_evaluation
from evalrunner.models import EvaluationReport

from tests.runner.edge import SUITE, TARGET, run_small
from tests.runner.test_runner_snapshots import EchoAdapter


def test_an_event_is_plain_data_without_what_it_does_not_know() -> None:
    event = RunEvent(3, EventType.TURN_COMPLETED, "run-1", "case-1", 0, "ask")

    assert event.to_data() == {
        "sequence": 3,
        "type": "turn.completed",
        "runId": "run-1",
        "caseId": "case-1",
        "caseIndex": 0,
        "stepId": "ask",
    }
    assert RunEvent(1, EventType.RUN_STARTED, "run-1").to_data() == {
        "sequence": 1,
        "type": "run.started",
        "runId": "run-1",
    }


def test_a_collector_keeps_the_events_of_a_run_in_order() -> None:
    collector = EventCollector()

    asyncio.run(run_small(EchoAdapter(), on_event=collector))

    assert [event.sequence for event in collector] == list(range(1, len(collector) + 1))
    assert collector.events[0].type == EventType.RUN_STARTED
    assert collector.events[-1].type == EventType.RUN_COMPLETED
    collector.clear()
    assert collector.events == ()


def test_what_a_collector_gave_does_not_grow() -> None:
    collector = EventCollector()
    collector("first")

    given = collector.events
    collector("second")

    assert given == ("first",)
    assert collector.events == ("first", "second")


def test_a_checkpoint_is_a_report_and_can_be_copied_and_sent_elsewhere() -> None:
    checkpoints: list[EvaluationCheckpoint] = []

    report = asyncio.run(
        run_evaluation(suite=SUITE, target=TARGET, adapter=EchoAdapter(), on_checkpoint=checkpoints.append)
    )

    last = checkpoints[-1]
    assert isinstance(last, EvaluationReport)
    assert last.to_data() == report.to_data()
    assert copy.deepcopy(last) == last
    assert pickle.loads(pickle.dumps(last)) == last
