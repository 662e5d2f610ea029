"""What a comparison needs of a case, and how the cases of one side become samples of scenario variants."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from evalrunner.canonical import digest
from evalrunner.compare.definitions import definition_digest
from evalrunner.compare.signatures import failure_signature
from evalrunner.compare.tally import DECIDED, Tally, tally_statuses

FAILING_STATUSES: Final = ("failed", "error")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class VariantId(NamedTuple):
    """A scenario with the chosen variant of each step, steps in order of their ids."""

    scenario_id: str
    variants: tuple[tuple[str, str], ...]


class CaseOutcome(NamedTuple):
    """One case as a comparison sees it. ``signature`` is the key of its failure signature, "" without one.

    ``place`` is its place in the report.
    """

    variant: VariantId
    repetition: int
    place: int
    status: str
    signature: str = ""


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What identifies a run and what could make its results incomparable.

    ``started_at`` is the report's text. ``definitions`` maps scenario ids to their ``definition_digest``. ``options``
    are those of the execution that are known (adapter, time-out, …).
    """

    run_id: str
    target_id: str
    fingerprint: str
    suite_id: str
    suite_revision: str
    started_at: str = ""
    resumed_from: str = ""
    status: str = "completed"
    definitions: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RunOutcomes:
    facts: RunFacts
    cases: Iterable[CaseOutcome]


@dataclass(frozen=True, slots=True)
class Sample:
    """The cases of one scenario variant on one side: statuses in rank order, and how often it failed in which way.

    ``signatures`` counts failed and errored cases by signature key, in the order in which they first appear: keys are
    not the same in every store, the order is.
    """

    statuses: tuple[str, ...] = ()
    signatures: tuple[tuple[str, int], ...] = ()

    @property
    def tally(self) -> Tally:
        return tally_statuses(self.statuses)


NO_SAMPLE = Sample()


def case_outcome(case: Mapping[str, Any], place: int) -> CaseOutcome:
    """Read one case of a report (plain data in the wire format)."""
    signature = failure_signature(case)
    return CaseOutcome(
        variant=VariantId(case["scenarioId"], tuple(sorted(case["variants"].items()))),
        repetition=case["repetition"],
        place=place,
        status=case["status"],
        signature=signature.key if signature is not None else "",
    )


def run_facts(report: Mapping[str, Any]) -> RunFacts:
    """Read what a report says about itself; its cases are not looked at."""
    suite, target = report["suite"], report["target"]
    return RunFacts(
        run_id=report["runId"],
        target_id=target["id"],
        fingerprint=target["fingerprint"],
        suite_id=suite["id"],
        suite_revision=digest(suite),
        started_at=report["startedAt"],
        resumed_from=report.get("resumedFrom", ""),
        status=report["status"],
        definitions={scenario["id"]: definition_digest(scenario) for scenario in suite["scenarios"]},
    )


def run_outcomes(report: Mapping[str, Any]) -> RunOutcomes:
    """Read a whole report that ``parse_evaluation_report`` accepts; cases are read as they are asked for."""
    return RunOutcomes(run_facts(report), (case_outcome(case, place) for place, case in enumerate(report["cases"])))


# ------------------------------------------------------------------------------------------------------ pooling of runs


def samples_of(runs: Iterable[RunOutcomes]) -> dict[VariantId, Sample]:
    """Pool runs of one version: each lineage contributes one attempt per case, the first decided one.

    A lineage is a run with what resumed or retried it. Ranks follow the start of the run, its id, the repetition and
    the place in the report.
    """
    ordered = sorted(runs, key=lambda run: run_order(run.facts.started_at, run.facts.run_id))
    by_variant: dict[VariantId, list[tuple[int, CaseOutcome]]] = {}
    for ranked in _attempts(ordered):
        by_variant.setdefault(ranked[1].variant, []).append(ranked)
    return {variant: _sample(case for _, case in sorted(cases, key=_place)) for variant, cases in by_variant.items()}


def _place(ranked: tuple[int, CaseOutcome]) -> tuple[int, int, int, CaseOutcome]:
    rank, case = ranked
    return rank, case.repetition, case.place, case


def run_order(started_at: str, run_id: str) -> tuple[float, str, str]:
    """Return the key that puts the runs of a side in order: the moment of their start, as reports tell it, then the id.

    Texts that are no moment come last, by themselves.
    """
    try:
        moment = datetime.fromisoformat(started_at)
        aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
        return ((aware - _EPOCH).total_seconds(), "", run_id)
    except (ValueError, OverflowError):
        return (math.inf, started_at, run_id)


def lineages_of(parents: Mapping[str, str]) -> dict[str, str]:
    """Map each run id to the id with which its lineage began; ``parents`` gives each the run id it resumed, or ""."""
    return {run_id: _origin(run_id, parents) for run_id in parents}


def _origin(run_id: str, parents: Mapping[str, str]) -> str:
    seen = {run_id}
    while (parent := parents[run_id]) in parents and parent not in seen:  # files may claim circles
        seen.add(parent)
        run_id = parent
    return run_id


def _attempts(runs: list[RunOutcomes]) -> Iterator[tuple[int, CaseOutcome]]:
    """Yield the cases that count with the rank of their run, leaving out superseded attempts.

    All cases of a run that is alone in its lineage count: there is nothing to choose, and nothing is gathered.
    """
    origins = lineages_of({run.facts.run_id: run.facts.resumed_from for run in runs})
    members = Counter(origins[run.facts.run_id] for run in runs)
    chosen: dict[tuple[str, VariantId, int], tuple[bool, int, list[CaseOutcome]]] = {}
    for rank, run in enumerate(runs):
        origin = origins[run.facts.run_id]
        if members[origin] == 1:
            yield from ((rank, case) for case in run.cases)
            continue
        for (variant, repetition), cases in _by_attempt(run.cases).items():
            attempt = (origin, variant, repetition)
            is_decided = any(case.status in DECIDED for case in cases)
            earlier = chosen.get(attempt)
            if earlier is None or not earlier[0]:
                chosen[attempt] = (is_decided, rank, cases)
    for _is_decided, rank, cases in chosen.values():
        for case in cases:
            yield rank, case


def _by_attempt(cases: Iterable[CaseOutcome]) -> dict[tuple[VariantId, int], list[CaseOutcome]]:
    """Gather the cases of one run by variant and repetition; a foreign report may repeat both."""
    gathered: dict[tuple[VariantId, int], list[CaseOutcome]] = {}
    for case in cases:
        gathered.setdefault((case.variant, case.repetition), []).append(case)
    return gathered


def _sample(cases: Iterable[CaseOutcome]) -> Sample:
    statuses: list[str] = []
    signatures: dict[str, int] = {}
    for case in cases:
        statuses.append(case.status)
        if case.status in FAILING_STATUSES:
            signatures[case.signature] = signatures.get(case.signature, 0) + 1
    return Sample(tuple(statuses), tuple(signatures.items()))
