"""A comparison read from the database: counts are made in SQL, and only what is shown is read case by case.

Queries: one for both sides, then one each for counts per scenario variant and status, the order of statuses where
they are mixed, failure signatures, names of the variants and definitions of their scenarios.
"""

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from django.db.models import Count, QuerySet, TextField
from django.db.models.functions import Cast
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
from evalrunner.compare.outcomes import FAILING_STATUSES

from reports.domain.baselines import Resolution
from reports.keys import text_key
from reports.models import Case, Scenario, ScenarioVariant, Team
from reports.selectors.compare_cases import BASELINE, CANDIDATE, cases_of_side, of_both_sides, run_place
from reports.selectors.compare_sides import Side, resolve_sides
from reports.selectors.definitions import AcceptedRow, accepted_between
from reports.selectors.named_sides import EXPLICIT, with_baselines
from reports.selectors.run_changes import CountedRun

Pair = tuple[Side, Side]
Statuses = tuple[str, ...]
# Options of an execution that may change results; what was selected shows in the rows themselves.
_OPTIONS = {"concurrency": "concurrency", "timeout_ms": "time-out (ms)", "allow_external_writes": "external writes"}


@dataclass(frozen=True, slots=True)
class VariantName:
    """What a scenario variant is called; texts in stored form. ``chosen_text`` is the JSON of its chosen variants."""

    pk: int
    key: str
    scenario_key: str
    scenario_id: str
    chosen_text: str

    @property
    def chosen(self) -> Mapping[str, str]:
        return _chosen(self.chosen_text)


@dataclass(frozen=True, slots=True)
class ScenarioFacts:
    """A scenario as the candidate's suite (else the baseline's) describes it; texts in stored form."""

    name: str
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StoredComparison:
    """A comparison of two sides, its rows identified by the primary keys of scenario variants.

    ``rules`` tell how each side was found; ``accepted`` are the changed definitions that the team has accepted, by
    scenario key.
    """

    baseline: Side
    candidate: Side
    result: Comparison[int]
    variants: Mapping[int, VariantName]
    scenarios: Mapping[str, ScenarioFacts]
    rules: tuple[Resolution[CountedRun], Resolution[CountedRun]] = (EXPLICIT, EXPLICIT)
    accepted: Mapping[str, AcceptedRow] = field(default_factory=dict)

    def row_of(self, key: str) -> Row[int] | None:
        """Return the row of the scenario variant with a key."""
        return next((row for row in self.result.rows if self.variants[row.variant].key == key), None)

    def facts_of(self, variant: int) -> ScenarioFacts | None:
        return self.scenarios.get(self.variants[variant].scenario_key)


def compare_sides(
    *, team: Team, baseline: str, candidate: str, suite: int = 0, accepted: Collection[str] = ()
) -> StoredComparison:
    """Compare what two addresses name; SideProblem where one of them cannot be compared.

    ``accepted`` are ids of scenarios (as they came from outside) whose changed definitions a policy accepts, beside
    those that the team has accepted between the two suite revisions.
    """
    named = with_baselines(team=team, baseline=baseline, candidate=candidate, suite=suite)
    sides = resolve_sides(team=team, baseline=named.baseline, candidate=named.candidate, suite=suite)
    samples = _samples(sides)
    variants = _variant_names(team, sides)
    definitions = _Definitions.read(team, sides, accepted)
    changed = definitions.changed
    result = compare_samples(
        samples[BASELINE],
        samples[CANDIDATE],
        order=sorted(variants, key=lambda pk: (variants[pk].scenario_id, variants[pk].chosen_text)),
        is_redefined=lambda pk: variants[pk].scenario_key in changed,
        found=differences(*(_facts(side, each) for side, each in zip(sides, samples, strict=True))),
    )
    rules = (named.baseline_rule, named.candidate_rule)
    return StoredComparison(*sides, result, variants, definitions.facts, rules, definitions.accepted)


# ---------------------------------------------------------------------------------------------------------- samples


def _samples(sides: Pair) -> tuple[dict[int, Sample], dict[int, Sample]]:
    statuses = _statuses(sides)
    orders = _orders(sides) if _order_matters(statuses) else ({}, {})
    signatures = _signatures(sides)
    alike: dict[tuple[Any, ...], Sample] = {}  # most variants of a large run look alike and share one sample
    left, right = (
        {
            variant: _sample(alike, orders[side].get(variant, in_any_order), signatures[side].get(variant, ()))
            for variant, in_any_order in statuses[side].items()
        }
        for side in (BASELINE, CANDIDATE)
    )
    return left, right


def _sample(
    alike: dict[tuple[Any, ...], Sample], statuses: Statuses, signatures: tuple[tuple[str, int], ...]
) -> Sample:
    key = (statuses, signatures)
    found = alike.get(key)
    if found is None:
        found = alike[key] = Sample(statuses, signatures)
    return found


def _statuses(sides: Pair) -> tuple[dict[int, Statuses], dict[int, Statuses]]:
    """Count cases by variant and status, written out in no particular order."""
    found: tuple[dict[int, Statuses], dict[int, Statuses]] = ({}, {})
    columns = ("variant_id", "status", "n")
    for side, variant, status, number in of_both_sides(
        sides, columns, lambda _side, cases: cases.values("variant_id", "status").annotate(n=Count("pk"))
    ):
        found[side][variant] = found[side].get(variant, ()) + (status,) * number
    return found


def _order_matters(statuses: tuple[dict[int, Statuses], dict[int, Statuses]]) -> bool:
    """Tell whether some variant has mixed statuses on one side and any case on the other."""
    left, right = statuses
    mixed = {each for side in statuses for each in set(side.values()) if len(set(each)) > 1}
    return any(
        own[variant] in mixed for own, other in ((left, right), (right, left)) for variant in own.keys() & other.keys()
    )


def _orders(sides: Pair) -> tuple[dict[int, tuple[str, ...]], dict[int, tuple[str, ...]]]:
    """Read the statuses of variants with mixed ones, in the order that pairs them with the other side's."""
    found: tuple[dict[int, list[str]], dict[int, list[str]]] = ({}, {})
    columns = ("variant_id", "place", "repetition", "position", "status")
    rows = of_both_sides(
        sides,
        columns,
        lambda side, cases: cases.filter(variant_id__in=_mixed(side)).annotate(place=run_place(side)),
    )
    for side, variant, _place, _repetition, _position, status in sorted(rows):
        found[side].setdefault(variant, []).append(status)
    left, right = ({variant: tuple(statuses) for variant, statuses in side.items()} for side in found)
    return left, right


def _mixed(side: Side) -> QuerySet[Case, Any]:
    by_variant = cases_of_side(side).order_by().values("variant_id")
    return by_variant.annotate(statuses=Count("status", distinct=True)).filter(statuses__gt=1).values("variant_id")


def _signatures(sides: Pair) -> tuple[dict[int, tuple[tuple[str, int], ...]], dict[int, tuple[tuple[str, int], ...]]]:
    """Count failures by variant and signature; signatures are named by their primary keys."""
    found: tuple[dict[int, list[tuple[str, int]]], dict[int, list[tuple[str, int]]]] = ({}, {})
    rows = of_both_sides(
        sides,
        ("variant_id", "signature_id", "n"),
        lambda _side, cases: (
            cases.filter(status__in=FAILING_STATUSES, signature__isnull=False)
            .values("variant_id", "signature_id")
            .annotate(n=Count("pk"))
        ),
    )
    for side, variant, signature, number in rows:
        found[side].setdefault(variant, []).append((str(signature), number))
    left, right = ({variant: tuple(sorted(counted)) for variant, counted in side.items()} for side in found)
    return left, right


# ---------------------------------------------------------------------------------------------- names and definitions


def _variant_names(team: Team, sides: Pair) -> dict[int, VariantName]:
    generations = [*sides[BASELINE].generations, *sides[CANDIDATE].generations]
    present = Case.objects.filter(generation_id__in=generations).order_by().values("variant_id")
    rows = ScenarioVariant.objects.filter(team=team, pk__in=present).annotate(text=Cast("variants", TextField()))
    columns = ("pk", "key", "scenario_key", "scenario_id", "text")
    return {row[0]: VariantName(*row) for row in rows.values_list(*columns).iterator(chunk_size=5_000)}


@lru_cache(maxsize=4_096)
def _chosen(text: str) -> Mapping[str, str]:
    chosen: dict[str, str] = json.loads(text)
    return chosen


@lru_cache(maxsize=4_096)
def _tags(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text))


@dataclass(slots=True)
class _Definitions:
    """The scenarios of both sides' suite revisions: what they are called, and which are asked otherwise now."""

    facts: dict[str, ScenarioFacts] = field(default_factory=dict)
    changed: frozenset[str] = frozenset()
    accepted: Mapping[str, AcceptedRow] = field(default_factory=dict)

    @classmethod
    def read(cls, team: Team, sides: Pair, accepted: Collection[str]) -> "_Definitions":
        revisions = [side.revision.pk for side in sides]
        rows = Scenario.objects.filter(revision_id__in=revisions).annotate(text=Cast("tags", TextField()))
        columns = ("revision_id", "key", "definition_digest", "name", "text")
        digests: dict[int, dict[str, str]] = {revision: {} for revision in revisions}
        made = cls()
        for revision, key, digest, name, tags in rows.values_list(*columns).iterator(chunk_size=5_000):
            digests[revision][key] = digest
            if revision == revisions[CANDIDATE] or key not in made.facts:
                made.facts[key] = ScenarioFacts(name, _tags(tags))
        made.changed = redefined(digests[revisions[BASELINE]], digests[revisions[CANDIDATE]])
        if made.changed:
            made.accepted = accepted_between(team=team, revisions=(revisions[BASELINE], revisions[CANDIDATE]))
            made.changed -= {*made.accepted, *map(text_key, accepted)}
        return made


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
    )


def _distinct(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))
