"""A comparison read from the database: what the engine says of the outcomes that are kept of each run.

Queries: one for both sides, one for the outcomes of their runs, and one for each suite revision that this process has
not read yet. What two runs at rest say of each other never changes and stays in memory while there is room.
"""

import json
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC
from functools import lru_cache
from typing import Any

from evalrunner.compare import (
    Comparison,
    Row,
    Sample,
    SideFacts,
    compare_samples,
    differences,
    redefined,
    usual_repetitions,
)
from evalrunner.compare.definitions import BY_POLICY, BY_TRIAGER, AcceptedDefinition

from reports.collector import collector_paused
from reports.domain.baselines import Resolution
from reports.domain.outcomes import Name, names_in_order, pooled
from reports.keys import text_key, variant_key
from reports.models import ScenarioVariant, Team
from reports.querysets import UNFINISHED
from reports.selectors.compare_sides import Side, resolve_sides
from reports.selectors.definitions import AcceptedRow, accepted_between
from reports.selectors.findings import FindingsMemo
from reports.selectors.kept import Kept
from reports.selectors.named_sides import EXPLICIT, with_baselines
from reports.selectors.outcomes import outcomes_of_sides
from reports.selectors.revision_facts import ScenarioFacts, revision_facts
from reports.selectors.run_changes import CountedRun
from reports.text import restored

Pair = tuple[Side, Side]
# Options of an execution that may change results; what was selected shows in the rows themselves.
_OPTIONS = {"concurrency": "concurrency", "timeout_ms": "time-out (ms)", "allow_external_writes": "external writes"}
_ROW_BYTES, _CASE_BYTES = 400, 8  # of a row with its name and its test, and of a case, in memory
_MOST_BYTES = 32_000_000


@dataclass(frozen=True, slots=True)
class VariantName:
    """What a scenario variant is called; texts in stored form. ``chosen_text`` is the JSON of its chosen variants."""

    pk: int
    scenario_id: str
    chosen_text: str

    @property
    def chosen(self) -> Mapping[str, str]:
        return _chosen(self.chosen_text)

    @property
    def key(self) -> str:
        chosen = {restored(step): restored(variant) for step, variant in self.chosen.items()}
        return variant_key(restored(self.scenario_id), chosen)

    @property
    def scenario_key(self) -> str:
        return _scenario_key(self.scenario_id)


class VariantNames(Mapping[int, VariantName]):
    """The names of scenario variants by primary key, in their order; ``names`` holds them as plain tuples."""

    def __init__(self, names: Mapping[int, Name]) -> None:
        self.names = names

    def __getitem__(self, pk: int) -> VariantName:
        return VariantName(pk, *self.names[pk])

    def __iter__(self) -> Iterator[int]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)


@lru_cache(maxsize=4_096)
def _chosen(text: str) -> Mapping[str, str]:
    chosen: dict[str, str] = json.loads(text)
    return chosen


@lru_cache(maxsize=16_384)
def _scenario_key(scenario_id: str) -> str:
    return text_key(restored(scenario_id))


@dataclass(frozen=True, slots=True)
class _Compared:
    result: Comparison[int]
    names: Mapping[int, Name]
    findings: FindingsMemo = field(default_factory=FindingsMemo)


_KEPT: Kept[_Compared] = Kept(_MOST_BYTES)


@dataclass(frozen=True, slots=True)
class StoredComparison:
    """A comparison of two sides, its rows identified by the primary keys of scenario variants.

    ``rules`` tell how each side was found; ``accepted`` are the changed definitions that the team has accepted, by
    scenario key, ``by_policy`` the keys of those that the policy accepts. ``key`` names all that ``result`` depends on;
    None while a run goes on, whose cases still change.
    """

    baseline: Side
    candidate: Side
    result: Comparison[int]
    variants: VariantNames
    scenarios: Mapping[str, ScenarioFacts]
    rules: tuple[Resolution[CountedRun], Resolution[CountedRun]] = (EXPLICIT, EXPLICIT)
    accepted: Mapping[str, AcceptedRow] = field(default_factory=dict)
    by_policy: frozenset[str] = frozenset()
    key: Hashable | None = None
    findings: FindingsMemo = field(default_factory=FindingsMemo)

    def facts_of(self, variant: int) -> ScenarioFacts | None:
        return self.scenarios.get(_scenario_key(self.variants.names[variant][0]))

    def counted_definitions(self) -> tuple[AcceptedDefinition, ...]:
        """Return the changed definitions of compared scenarios that count because they were accepted.

        Texts are as they came from outside. Where policy and triager agree, the triager is named, who tells why.
        """
        accepted = {*self.accepted, *self.by_policy}
        scenarios = dict.fromkeys(scenario for scenario, _chosen in self.variants.names.values()) if accepted else ()
        keys = {_scenario_key(scenario): scenario for scenario in scenarios}
        return tuple(_counted(restored(keys[key]), self.accepted.get(key)) for key in keys if key in accepted)


def _counted(scenario: str, row: AcceptedRow | None) -> AcceptedDefinition:
    if row is None:
        return AcceptedDefinition(scenario, BY_POLICY)
    at = row.at.astimezone(UTC).isoformat(timespec="seconds")
    return AcceptedDefinition(scenario, BY_TRIAGER, restored(row.by), at, restored(row.reason))


def variant_of_key(team: Team, key: str) -> int | None:
    """Return the scenario variant that an address names."""
    return ScenarioVariant.objects.filter(team=team, key=key).values_list("pk", flat=True).first() if key else None


def row_of_key(team: Team, stored: StoredComparison, key: str) -> Row[int] | None:
    """Return the row of the scenario variant that an address names."""
    variant = variant_of_key(team, key)
    return next((row for row in stored.result.rows if row.variant == variant), None)


def compare_sides(
    *, team: Team, baseline: str, candidate: str, suite: int = 0, accepted: Collection[str] = ()
) -> StoredComparison:
    """Compare what two addresses name; SideProblem where one of them cannot be compared.

    ``accepted`` are ids of scenarios (as they came from outside) whose changed definitions a policy accepts, beside
    those that the team has accepted between the two suite revisions.
    """
    named = with_baselines(team=team, baseline=baseline, candidate=candidate, suite=suite)
    sides = resolve_sides(team=team, baseline=named.baseline, candidate=named.candidate, suite=suite)
    definitions = _Definitions.read(team, sides, accepted)
    key = _key(sides, definitions.changed)
    found = _KEPT.get(key) if key else None
    if found is None:
        with collector_paused():
            found = _compared(sides, definitions.changed)
        if key:
            _KEPT.put(key, found, _weight(found))
    rules = (named.baseline_rule, named.candidate_rule)
    names = VariantNames(found.names)
    return StoredComparison(
        *sides,
        found.result,
        names,
        definitions.facts,
        rules,
        definitions.accepted,
        definitions.by_policy,
        key,
        found.findings,
    )


def _key(sides: Pair, changed: frozenset[str]) -> Hashable | None:
    """Name what a comparison depends on. The ids of runs are random, so that a key never comes to mean another one."""
    if any(run.status in UNFINISHED for side in sides for run in side.runs):
        return None
    of_sides = (
        (
            tuple((run.pk, run.generation, run.status) for run in side.runs),
            side.lineages,
            side.revision.digest,
            side.is_follow_up,
        )
        for side in sides
    )
    return (*of_sides, changed)


def _weight(compared: _Compared) -> int:
    return _ROW_BYTES * len(compared.names) + _CASE_BYTES * 2 * sum(compared.result.matrix.values())


def _compared(sides: Pair, changed: frozenset[str]) -> _Compared:
    parts = outcomes_of_sides(sides)
    names = names_in_order([part for side in parts for part in side])
    samples = [pooled(side) for side in parts]
    return _Compared(
        compare_samples(
            *samples,
            order=names,
            is_redefined=lambda pk: bool(changed) and _scenario_key(names[pk][0]) in changed,
            found=differences(*(_facts(side, each) for side, each in zip(sides, samples, strict=True))),
        ),
        names,
    )


# ------------------------------------------------------------------------------------------------------- definitions


@dataclass(frozen=True, slots=True)
class _Definitions:
    """The scenarios of both sides' suite revisions: what they are called, and which are asked otherwise now."""

    facts: Mapping[str, ScenarioFacts]
    changed: frozenset[str]
    accepted: Mapping[str, AcceptedRow]
    by_policy: frozenset[str] = frozenset()

    @classmethod
    def read(cls, team: Team, sides: Pair, accepted: Collection[str]) -> "_Definitions":
        before, after = (revision_facts(pk=side.revision.pk, digest=side.revision.digest) for side in sides)
        if before is after:
            return cls(after, frozenset(), {})
        changed = redefined(*({key: each.digest for key, each in facts.items()} for facts in (before, after)))
        known = accepted_between(team=team, revisions=(sides[0].revision.pk, sides[1].revision.pk)) if changed else {}
        by_policy = changed & frozenset(map(text_key, accepted))
        return cls({**before, **after}, changed - {*known, *by_policy}, known, by_policy)


def _facts(side: Side, samples: Mapping[int, Sample]) -> SideFacts:
    options: dict[str, Any] = {}
    for run in side.runs:
        options.update({name: run.options[key] for key, name in _OPTIONS.items() if key in run.options})
    return SideFacts(
        suite_ids=(side.suite_id,),
        suite_revisions=(side.revision.digest,),
        target_ids=(side.target_id,),
        statuses=_distinct(run.status for run in side.runs),
        repetitions=usual_repetitions(len(sample.statuses) for sample in samples.values()),
        options=options,
        is_follow_up=side.is_follow_up,
    )


def _distinct(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))
