"""A run that is split: its parts together arrive at the report that the whole run arrives at."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from evalrunner import EvaluationError, RunEvent, parse_evaluation_report, parse_evaluation_suite
from evalrunner.data import thaw
from evalrunner.models import EvaluationCase, EvaluationReport
from evalrunner.runner.parts import (
    CaseChange,
    Part,
    Plan,
    RunnerOptions,
    conclude_evaluation,
    conclude_unjudged,
    deal,
    plan_evaluation,
    plan_part,
    work_on_cases,
)

from tests.runner.edge import TARGET
from tests.runner.guests import GuestAdapter, hang, suite_of
from tests.runner.replay import OPTIONS, matrix_of, read_corpus, same_json
from tests.runner.scripts import ScriptedAdapter, make_evaluator
from tests.runner.test_runner_reports import RUNS, aligned
from tests.runner.virtual_time import run_virtually

WITHOUT = {"target", "retry_failed"}  # are no runner options


def is_told_by_cases_alone(spec: Mapping[str, Any]) -> bool:
    """Leave out runs in which the order of cases or an observer decides, and reports of the midst of a run."""
    is_stopped = "cancelRun" in json.dumps(spec["adapter"]) or "maxFailures" in spec["options"]
    return not (is_stopped or spec.get("cancel") or spec.get("observer") or "checkpoint" in spec["expect"])


SPECS = {name: read_corpus(f"runs/{name}") for name in RUNS}
SPLITTABLE = sorted(name for name, spec in SPECS.items() if is_told_by_cases_alone(spec))


async def run_split(spec: Mapping[str, Any], previous: Any, parts: int) -> EvaluationReport:
    """Execute a run of the corpus in parts, each planned anew from what the first checkpoint says."""
    given = {OPTIONS[name]: thaw(value) for name, value in spec["options"].items()}
    adapter: Any = ScriptedAdapter(spec["adapter"], matrix_of(spec["suite"], given), asyncio.Event())
    evaluators = {
        name: make_evaluator(behaviour, is_async=number % 2 == 0)
        for number, (name, behaviour) in enumerate((spec.get("evaluators") or {}).items())
    }
    common: dict[str, Any] = {
        "suite": thaw(spec["suite"]),
        "target": given["target"],
        "adapter": adapter,
        "evaluators": evaluators,
        "options": RunnerOptions(**{name: value for name, value in given.items() if name not in WITHOUT}),
    }
    plan = plan_evaluation(**common, resume=thaw(previous), retry_failed=given.get("retry_failed", False))
    cases = list(plan.first_checkpoint().cases)

    async def work(places: Any) -> None:
        begun = {place: cases[place] for place in places if cases[place].turns}
        head = plan.head
        part = plan_part(**common, run_id=head.run_id, fingerprint=head.fingerprint, places=places, begun=begun)
        await work_on_cases(part, on_change=lambda change: note(cases, change))

    await asyncio.gather(*(work(places) for places in deal(plan.open_places(), parts)))
    return await concluded(plan, cases)


def note(cases: list[EvaluationCase], change: CaseChange) -> None:
    assert change.event.case_index is not None
    cases[change.event.case_index] = change.case


async def concluded(plan: Plan, cases: list[EvaluationCase], *, is_cancelled: bool = False) -> EvaluationReport:
    """Put the end of a run to its cases."""
    first = plan.first_checkpoint()
    counts = dict.fromkeys(first.summary.to_data(), 0) | {"total": len(cases)}
    for case in cases:
        counts[case.status] += 1
    summary = type(first.summary)(**counts)
    conclusion = await conclude_evaluation(
        suite=plan.head.suite,
        summary=summary,
        cases=cases,
        evaluators=plan.evaluators,
        timeout_ms=plan.limits.timeout_ms,
        is_cancelled=is_cancelled,
    )
    made = {name: getattr(first, name) for name in EvaluationReport.__slots__ if name != "schema_version"}
    made |= {"cases": tuple(cases), "summary": summary, "status": conclusion.status}
    return EvaluationReport(**made | {"finished_at": conclusion.finished_at, "assertions": conclusion.assertions})


@pytest.mark.parametrize("parts", [1, 2, 3, 7])
@pytest.mark.parametrize("name", SPLITTABLE)
def test_a_recorded_run_in_parts_arrives_at_its_report(name: str, parts: int) -> None:
    spec = SPECS[name]
    previous = read_corpus(spec["resumeFrom"]) if "resumeFrom" in spec else None

    report = run_virtually(run_split(spec, previous, parts))

    actual = report.to_data()
    assert same_json(aligned(read_corpus(spec["expect"]["report"]), actual), actual)
    parse_evaluation_report(actual)


def test_most_recorded_runs_can_be_split() -> None:
    assert len(SPLITTABLE) >= 20


def test_cases_are_dealt_in_turn_and_no_part_is_empty() -> None:
    assert [list(part) for part in deal([0, 2, 3, 5, 8], 2)] == [[0, 3, 8], [2, 5]]
    assert [list(part) for part in deal([4, 6], 5)] == [[4], [6]]
    assert list(deal([], 3)) == []


# --------------------------------------------------------------------------------------------------- what parts share


def plan_of(cases: int, adapter: GuestAdapter, **options: Any) -> Plan:
    return plan_evaluation(
        suite=suite_of(cases), target=TARGET, adapter=adapter, evaluators=None, options=RunnerOptions(**options)
    )


def part_of(plan: Plan, places: list[int], **changed: Any) -> Part:
    given: dict[str, Any] = {
        "suite": plan.head.suite,
        "target": plan.head.target,
        "adapter": plan.adapter,
        "evaluators": None,
        "options": RunnerOptions(max_failures=plan.limits.max_failures),
        "run_id": plan.head.run_id,
        "fingerprint": plan.head.fingerprint,
        "begun": {},
    }
    return plan_part(places=places, **given | changed)


async def refuse(*arguments: Any) -> None:
    raise EvaluationError("NO")


def test_no_case_begins_once_enough_have_failed_in_all_parts_together() -> None:
    plan = plan_of(6, GuestAdapter(refuse), max_failures=3)
    ended: list[CaseChange] = []

    async def work(elsewhere: int) -> int:
        ended.clear()
        await work_on_cases(
            part_of(plan, [0, 2, 4]),
            on_change=lambda change: ended.append(change) if change.event.type == "case.completed" else None,
            failures=lambda: elsewhere + len(ended),
        )
        return len(ended)

    assert [run_virtually(work(elsewhere)) for elsewhere in (0, 1, 2, 3)] == [3, 2, 1, 0]


def test_a_cancelled_part_ends_what_it_has_begun_and_begins_no_more() -> None:
    plan = plan_of(3, GuestAdapter(hang))
    changes: list[CaseChange] = []

    async def work() -> None:
        cancel = asyncio.Event()
        asyncio.get_running_loop().call_later(0.1, cancel.set)
        await work_on_cases(part_of(plan, [0, 1, 2]), on_change=changes.append, cancel=cancel)

    run_virtually(work())

    assert [(change.event.case_index, str(change.case.status)) for change in changes][-1] == (0, "cancelled")
    assert {change.event.case_index for change in changes} == {0}


def test_events_of_a_part_count_from_one_and_follow_their_changes() -> None:
    plan = plan_of(4, GuestAdapter())
    told: list[Any] = []

    async def work() -> None:
        def on_event(event: RunEvent) -> None:
            told.append((event.sequence, str(event.type), event.case_index))

        await work_on_cases(
            part_of(plan, [1, 3]), on_change=lambda change: told.append(change.event.sequence), on_event=on_event
        )

    run_virtually(work())

    assert told[:4] == [1, (1, "case.started", 1), 2, (2, "turn.completed", 1)]
    assert told[-1] == (6, "case.completed", 3)


def test_a_change_that_cannot_be_stored_ends_the_part() -> None:
    plan = plan_of(2, GuestAdapter())

    def fail(change: CaseChange) -> None:
        raise OSError

    with pytest.raises(EvaluationError) as refused:
        run_virtually(work_on_cases(part_of(plan, [0, 1]), on_change=fail))
    assert refused.value.code == "EVALUATION_OBSERVER_FAILED"


@pytest.mark.parametrize(
    "changed",
    [
        {"target": {"id": TARGET["id"], "fingerprint": "another"}},
        {"adapter": replace(GuestAdapter(), version="2")},
        {"suite": suite_of(3)},
        {"options": RunnerOptions(repetitions=2)},
    ],
)
def test_a_part_of_another_run_is_refused(changed: dict[str, Any]) -> None:
    plan = plan_of(2, GuestAdapter())

    with pytest.raises(EvaluationError) as refused:
        part_of(plan, [0], **changed)
    assert refused.value.code == "EVALUATION_RESUME_INCOMPATIBLE"


@pytest.mark.parametrize(
    ("is_cancelled", "missing", "status"),
    [(False, 0, "completed"), (False, 1, "limited"), (True, 1, "cancelled"), (True, 0, "cancelled")],
)
def test_the_end_of_a_split_run_is_that_of_a_whole_one(is_cancelled: bool, missing: int, status: str) -> None:
    plan = plan_of(3, GuestAdapter())
    cases = list(plan.first_checkpoint().cases)

    async def work() -> EvaluationReport:
        await work_on_cases(part_of(plan, [*range(3 - missing)]), on_change=lambda change: note(cases, change))
        return await concluded(plan, cases, is_cancelled=is_cancelled)

    report = run_virtually(work())

    assert (report.status, report.summary.passed, report.summary.pending) == (status, 3 - missing, missing)


Check = Callable[[Any, Any], Any]


def test_assertions_of_the_suite_see_all_cases_and_are_bounded_in_time() -> None:
    seen: list[int] = []
    assertion = {"id": "all", "kind": "custom", "evaluator": "count", "parameters": {}}
    suite = suite_of(3) | {"assertions": [assertion]}

    def conclude(count: Check) -> Any:
        async def work() -> EvaluationReport:
            plan = plan_evaluation(
                suite=suite, target=TARGET, adapter=GuestAdapter(), evaluators={"count": count}, options=RunnerOptions()
            )
            return await concluded(plan, list(plan.first_checkpoint().cases))

        (result,) = run_virtually(work()).assertions or ()
        return result.passed, result.error_code

    def count(context: Any, parameters: Any) -> dict[str, bool]:
        seen.append(len(context.cases))
        return {"passed": True}

    assert conclude(count) == (True, None)
    assert seen == [3]
    assert conclude(hang) == (False, "EVALUATION_TIMEOUT")


def test_a_cancelled_run_that_nobody_judges_leaves_each_assertion_cancelled() -> None:
    check = {"kind": "check", "path": ["summary", "total"], "operator": "equals", "value": 2}
    assertions = [
        {"id": "one", "label": "One"} | check,
        {"id": "two", "kind": "not", "assertion": {"id": "in"} | check},
    ]
    suite = parse_evaluation_suite(suite_of(2) | {"assertions": assertions})

    conclusion = conclude_unjudged(suite)

    assert conclusion.status == "cancelled"
    assert [result.to_data() for result in conclusion.assertions] == [
        {"id": "one", "label": "One", "passed": False, "errorCode": "EVALUATION_CANCELLED"},
        {"id": "two", "passed": False, "errorCode": "EVALUATION_CANCELLED"},
    ]
    assert conclude_unjudged(parse_evaluation_suite(suite_of(2))).assertions == ()
