"""Checkpoints: complete and true at every moment, immutable, and only as costly as what changed."""

import asyncio
import itertools
from collections import Counter
from typing import Any

import pytest
from evalrunner import EvaluationCheckpoint, EvaluationError, parse_evaluation_report, run_evaluation
from evalrunner.runner.journal import Journal
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.runner.edge import TARGET
from tests.runner.replay import Replay, replay
from tests.runner.scripts import SECRET

STATUSES = ("pending", "running", "passed", "failed", "error", "skipped", "blocked", "cancelled")
ENDED = {"passed", "failed", "error", "skipped", "blocked", "cancelled"}

# -------------------------------------------------------------------------------------------------------- random runs

observations = st.sampled_from([{"text": "ok"}, {"text": "no"}, {}, {"deep": [[{"n": 1.5}]]}])
actions = st.one_of(
    st.fixed_dictionaries({"observation": observations}),
    st.fixed_dictionaries({"observation": observations, "checkpoint": st.just({"at": 1})}),
    st.fixed_dictionaries({"latencyMs": st.integers(1, 900), "observation": observations}),
    st.fixed_dictionaries(
        {
            "observation": observations,
            "stop": st.fixed_dictionaries(
                {"status": st.sampled_from(["skipped", "completed"]), "reason": st.just("Enough")}
            ),
        }
    ),
    st.sampled_from(
        [
            {"throw": None},
            {"throw": "UPSTREAM_DOWN"},
            {"throw": "EVALUATION_CANCELLED"},
            {"hang": True},
            {"result": None},
            {"observation": [1]},
            {"cancelRun": True},
        ]
    ),
)
edges = st.sampled_from([{}, {}, {}, {"throw": None}, {"hang": True}, {"latencyMs": 30}])


@st.composite
def specs(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a run in the language of the corpus."""
    check = {"id": "ok", "kind": "check", "path": ["text"], "operator": "equals", "value": "ok"}
    scenarios, entries = [], []
    for number in range(draw(st.integers(1, 4))):
        steps = [
            {"id": f"s{n}", "input": {"n": n}} | ({"assertions": [check]} if draw(st.booleans()) else {})
            for n in range(draw(st.integers(1, 3)))
        ]
        scenario = {"id": f"c{number}", "name": "Case", "writePolicy": "read_only", "steps": steps}
        scenario |= draw(
            st.sampled_from(
                [{}, {}, {}, {"skipReason": "Not now"}, {"writePolicy": "external"}, {"assertions": [check]}]
            )
        )
        scenarios.append(scenario)
        entry = {"match": {"scenarioId": scenario["id"]}, "open": draw(edges), "close": draw(edges)}
        entries.append(entry | {"steps": {step["id"]: draw(actions) for step in steps}})
    options = {
        "target": TARGET,
        "timeoutMs": 500,
        "concurrency": draw(st.integers(1, 3)),
        "repetitions": draw(st.integers(1, 2)),
        "maxFailures": draw(st.integers(1, 5)),
    }
    cancel = draw(st.sampled_from([{}, {}, {"beforeStart": True}, {"atEvent": 3}, {"atEvent": 6}]))
    suite = {"schemaVersion": 1, "id": "random", "name": "Random", "scenarios": scenarios, "assertions": [check]}
    adapter = {"id": "scripted", "version": "1", "supportsResume": True, "script": {"cases": entries}}
    return {"suite": suite, "options": options, "adapter": adapter, "cancel": cancel}


runs = specs().map(lambda spec: (spec, replay(spec)))
thorough = settings(max_examples=60, deadline=None)


@thorough
@given(runs)
def test_every_checkpoint_is_a_report_that_can_be_read(run: tuple[Any, Replay]) -> None:
    _, seen = run

    for data in [*seen.checkpoints, seen.data]:
        assert parse_evaluation_report(data).to_data() == data
        assert SECRET not in str(data)


@thorough
@given(runs)
def test_the_summary_always_agrees_with_the_cases(run: tuple[Any, Replay]) -> None:
    _, seen = run

    for data in seen.checkpoints:
        counted = Counter(case["status"] for case in data["cases"])
        assert data["summary"] == {status: counted[status] for status in STATUSES} | {"total": len(data["cases"])}


@thorough
@given(runs)
def test_a_checkpoint_changes_only_the_case_of_its_event(run: tuple[Any, Replay]) -> None:
    _, seen = run

    for before, after in itertools.pairwise(seen.snapshots):
        changed = after.event.case_index
        pairs = enumerate(zip(before.cases, after.cases, strict=True))
        assert all(old is new for index, (old, new) in pairs if index != changed)
        assert after.event.sequence == before.event.sequence + 1
        if changed is not None:
            assert after.cases[changed].id == after.event.case_id


@thorough
@given(runs)
def test_a_case_that_has_ended_never_changes_again(run: tuple[Any, Replay]) -> None:
    _, seen = run
    ended: dict[str, Any] = {}

    for snapshot, data in zip(seen.snapshots, seen.checkpoints, strict=True):
        for case in data["cases"]:
            assert ended.get(case["id"], case) == case
        if snapshot.event.type == "case.completed":
            case = data["cases"][snapshot.event.case_index]
            assert case["status"] in ENDED
            ended[case["id"]] = case


@thorough
@given(runs)
def test_every_snapshot_stays_as_it_was(run: tuple[Any, Replay]) -> None:
    _, seen = run

    assert [snapshot.to_data() for snapshot in seen.snapshots] == seen.checkpoints
    assert seen.data == seen.checkpoints[-1]


@thorough
@given(runs)
def test_sessions_are_closed_once_and_turns_are_sent_once(run: tuple[Any, Replay]) -> None:
    _, seen = run

    assert len(set(seen.log.sent)) == len(seen.log.sent)
    assert len(set(seen.log.closed)) == len(seen.log.closed)
    assert {case_id for case_id, _ in seen.log.sent} <= set(seen.log.closed)


@thorough
@given(runs)
def test_any_checkpoint_can_be_resumed_and_ends_with_every_case_decided(run: tuple[Any, Replay]) -> None:
    spec, seen = run
    previous = seen.checkpoints[len(seen.checkpoints) // 2]
    again = {name: value for name, value in spec.items() if name != "cancel"}
    again["adapter"] = spec["adapter"] | {"script": {}}
    again["options"] = spec["options"] | {"maxFailures": 100}

    resumed = replay(again, previous)

    assert resumed.data["resumedFrom"] == previous["runId"]
    assert not {case["status"] for case in resumed.data["cases"]} & {"pending", "running"}
    for old, new in zip(previous["cases"], resumed.data["cases"], strict=True):
        if old["status"] in ENDED - {"cancelled"}:
            assert new == old


# --------------------------------------------------------------------------------------------------------------- costs


class EchoAdapter:
    id, version = "echo", "1"

    async def open(self, context: Any) -> Any:
        return self

    async def send(self, input: Any, context: Any) -> Any:
        return {"observation": input}


def suite_of(cases: int) -> dict[str, Any]:
    steps = [{"id": "constructor", "input": {"text": "hi"}}, {"id": "toString", "input": {"text": "bye"}}]
    scenarios = [{"id": f"c{n}", "name": "Case", "writePolicy": "read_only", "steps": steps} for n in range(cases)]
    return {"schemaVersion": 1, "id": "many", "name": "Many", "scenarios": scenarios}


def test_a_step_may_have_the_name_of_an_inherited_member() -> None:
    report = asyncio.run(run_evaluation(suite=suite_of(1), target=TARGET, adapter=EchoAdapter()))

    assert [turn.observation for turn in report.cases[0].turns] == [{"text": "hi"}, {"text": "bye"}]
    assert report.cases[0].status == "passed"


def test_without_observers_no_snapshot_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(journal: Journal, event: Any) -> EvaluationCheckpoint:
        raise AssertionError("a snapshot nobody asked for")

    monkeypatch.setattr(Journal, "snapshot", refuse)

    report = asyncio.run(run_evaluation(suite=suite_of(3), target=TARGET, adapter=EchoAdapter()))

    assert report.summary.passed == 3


def test_a_listener_of_events_alone_costs_no_snapshot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(Journal, "snapshot")
    types = []

    asyncio.run(
        run_evaluation(
            suite=suite_of(1), target=TARGET, adapter=EchoAdapter(), on_event=lambda event: types.append(event.type)
        )
    )

    assert types == [
        "run.started",
        "case.started",
        "turn.completed",
        "turn.completed",
        "case.completed",
        "run.completed",
    ]


def test_an_observer_can_keep_a_run_by_storing_only_what_changed() -> None:
    stored: dict[int, Any] = {}
    heads: list[dict[str, Any]] = []

    def store(checkpoint: EvaluationCheckpoint) -> None:
        if checkpoint.event.type == "run.started":
            stored.update(enumerate(case.to_data() for case in checkpoint.cases))
        if checkpoint.event.case_index is not None:
            stored[checkpoint.event.case_index] = checkpoint.cases[checkpoint.event.case_index].to_data()
        heads.append({"status": str(checkpoint.status), "summary": checkpoint.summary.to_data()})

    report = asyncio.run(
        run_evaluation(suite=suite_of(40), target=TARGET, adapter=EchoAdapter(), concurrency=7, on_checkpoint=store)
    )

    data = report.to_data()
    assert [stored[index] for index in range(40)] == data["cases"]
    assert heads[-1] == {"status": data["status"], "summary": data["summary"]}


def test_a_checkpoint_cannot_be_changed() -> None:
    refused = 0

    def deface(checkpoint: Any) -> None:
        nonlocal refused
        for change in (
            lambda: setattr(checkpoint, "status", "completed"),
            lambda: setattr(checkpoint.cases[0], "status", "passed"),
            lambda: checkpoint.cases.__setitem__(0, None),
            lambda: checkpoint.cases[0].turns[0].input.update(x=1),
            lambda: setattr(checkpoint.event, "sequence", 0),
        ):
            with pytest.raises((AttributeError, TypeError, IndexError)):
                change()
            refused += 1

    asyncio.run(run_evaluation(suite=suite_of(1), target=TARGET, adapter=EchoAdapter(), on_checkpoint=deface))

    assert refused == 5 * 6


def test_an_observer_that_fails_ends_the_run() -> None:
    calls = 0

    def fail(checkpoint: Any) -> None:
        nonlocal calls
        calls += 1
        if calls == 5:
            raise OSError(SECRET)

    with pytest.raises(EvaluationError, match="EVALUATION_OBSERVER_FAILED") as refused:
        asyncio.run(
            run_evaluation(suite=suite_of(9), target=TARGET, adapter=EchoAdapter(), concurrency=4, on_checkpoint=fail)
        )

    assert calls == 5
    assert SECRET not in repr(refused.value)
    assert refused.value.__cause__ is None
