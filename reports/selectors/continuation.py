"""Reads for resuming and retrying a run: its request, and its cases as far as the runner's rules look at them."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import Max
from evalrunner.data import FreeData, FrozenDict
from evalrunner.models import CaseStatus, EvaluationCase, EvaluationTurn, TurnStatus

from reports.domain.continuation import is_read_ahead
from reports.domain.run_options import RunOptions
from reports.models import Case, Execution, Run, Team, Turn
from reports.payloads import unpack
from reports.text import restored

_BATCH = 2_000
_SOMETHING: FreeData = FrozenDict({})


@dataclass(frozen=True)
class EarlierRun:
    """A run to be continued. ``target_name`` and ``options`` are None where this site did not execute it.

    ``fingerprint`` is that of the target, ``compatibility`` that of the report; texts are as the report holds them.
    """

    run: Run
    target_id: str
    fingerprint: str
    compatibility: str
    target_name: str | None
    options: RunOptions | None

    @property
    def is_executed(self) -> bool:
        return self.options is not None


def get_run_to_continue(*, team: Team, pk: uuid.UUID) -> EarlierRun | None:
    """Return a run of the team with what is known of its request; None where there is no such run."""
    run = Run.objects.for_team(team).select_related("version__target", "revision__suite", "created_by").filter(pk=pk)
    found = run.first()
    return None if found is None else earlier_run(found, Execution.objects.filter(pk=pk).first())


def earlier_run(run: Run, execution: Execution | None) -> EarlierRun:
    """Return a run that was read with its names, and how this site executed it, as one to be continued."""
    return EarlierRun(
        run=run,
        target_id=restored(run.version.target.target_id),
        fingerprint=restored(run.version.fingerprint),
        compatibility=restored(run.compatibility_fingerprint),
        target_name=execution.target_name if execution else None,
        options=RunOptions.from_data(execution.request) if execution else None,
    )


def inferred_options(run: Run, scenario_ids: Sequence[str]) -> RunOptions:
    """Return the options by which an imported report was made, as far as its cases tell: selection and repetitions.

    ``scenario_ids`` are those of the suite, in its order.
    """
    cases = Case.objects.filter(generation_id=run.generation_id or 0).order_by()
    present = {restored(each) for each in cases.values_list("variant__scenario_id", flat=True).distinct()}
    last: int | None = cases.aggregate(last=Max("repetition"))["last"]
    chosen = tuple(each for each in scenario_ids if each in present)
    return RunOptions(
        scenario_ids=chosen if len(chosen) < len(scenario_ids) else None,
        repetitions=min((last or 0) + 1, 100),
        max_cases=max(run.total, RunOptions().max_cases),
    )


def light_cases(run: Run) -> Iterator[EvaluationCase]:
    """Give the cases of a run in their order with what decides how they are taken over, and nothing else.

    Turns are there only where the rules look at them: their status, and on the last one whether it left a checkpoint.
    """
    begin = 0
    while True:
        rows = Case.objects.filter(generation_id=run.generation_id or 0, position__gte=begin).order_by("position")
        columns = ("pk", "position", "status", "error_code", "repetition", "turn_count")
        batch = list(rows.values_list(*columns)[:_BATCH])
        turns = _turns_of([row[0] for row in batch if row[5] and is_read_ahead(row[2])])
        for pk, _position, status, error_code, repetition, _turn_count in batch:
            yield EvaluationCase(
                id="",
                scenario_id="",
                name="",
                repetition=repetition,
                variants={},
                thread_id="",
                status=CaseStatus(status),
                turns=tuple(turns.get(pk, ())),
                error_code=restored(error_code) or None,
            )
        if len(batch) < _BATCH:
            return
        begin = batch[-1][1] + 1


def _turns_of(cases: Sequence[int]) -> Mapping[int, list[EvaluationTurn]]:
    found: dict[int, list[EvaluationTurn]] = {}
    last: dict[int, int] = {}
    turns = Turn.objects.filter(case_id__in=cases).order_by("case_id", "position")
    for case, pk, status in turns.values_list("case_id", "pk", "status"):
        found.setdefault(case, []).append(_light_turn(status, has_checkpoint=False))
        last[case] = pk
    payloads = Turn.objects.filter(pk__in=last.values()).values_list("case_id", "status", "payload")
    for case, status, payload in payloads.iterator(100):
        found[case][-1] = _light_turn(status, has_checkpoint="checkpoint" in unpack(payload))
    return found


def _light_turn(status: str, *, has_checkpoint: bool) -> EvaluationTurn:
    checkpoint = _SOMETHING if has_checkpoint else None
    return EvaluationTurn("", "", _SOMETHING, TurnStatus(status), 0, checkpoint=checkpoint)


# ------------------------------------------------------------------------------------------------------------- receipts


@dataclass(frozen=True)
class Receipt:
    """What a case that writes outside has left: its turns in order, in the wire format."""

    position: int
    scenario_id: str
    name: str
    variants: Mapping[str, str]
    repetition: int
    status: str
    error_code: str
    turns: Sequence[Mapping[str, Any]] = ()


def list_receipts(run: Run, positions: Sequence[int]) -> Sequence[Receipt]:
    """Return the receipts of cases at some places of the report."""
    cases = Case.objects.filter(generation_id=run.generation_id or 0, position__in=positions).order_by("position")
    columns = ("position", "variant__scenario_id", "name", "variant__variants", "repetition", "status", "error_code")
    rows = list(cases.values_list("pk", *columns))
    turns: dict[int, list[Mapping[str, Any]]] = {}
    stored = Turn.objects.filter(case_id__in=[row[0] for row in rows]).order_by("case_id", "position")
    for case, payload in stored.values_list("case_id", "payload").iterator(100):
        turns.setdefault(case, []).append(unpack(payload))
    return [replace(Receipt(*rest), turns=tuple(turns.get(pk, ()))) for pk, *rest in rows]
