"""Compare two sides, scenario variant by scenario variant. The one place where page, API and command line ask.

The engine does not care what identifies a scenario variant: reports from files bring ``VariantId``, a database its row
keys. Whoever calls it gives the samples of each side and tells which variants are redefined.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, NamedTuple, TypeVar

from evalrunner.compare.changes import FOLDED, IMPROVEMENTS, REGRESSIONS, Change, Group, classify, group_of
from evalrunner.compare.clusters import Cluster, clusters_of
from evalrunner.compare.comparability import Difference, SideFacts, differences, redefined, usual_repetitions
from evalrunner.compare.matrix import Cell, matrix_of, paired
from evalrunner.compare.outcomes import NO_SAMPLE, RunOutcomes, Sample, VariantId, samples_of
from evalrunner.compare.tally import Tally

V = TypeVar("V", bound=Hashable)

GROUP_PLACE = {group: place for place, group in enumerate(Group)}


@dataclass(frozen=True, slots=True)
class Judgement:
    """What two samples of one scenario variant say, whichever variant it is.

    ``drop`` is the baseline's rate minus the candidate's in [-1, 1], with an undecided side counted as 0.
    ``fewer_decided`` is by how much the number of undecided cases rose; 0 when it did not, or on one side only.
    """

    change: Change
    baseline: Tally
    candidate: Tally
    drop: float
    fewer_decided: int


class Row(NamedTuple, Generic[V]):
    """One scenario variant with its samples on both sides. Rows that look alike share their judgement."""

    variant: V
    group: Group
    judgement: Judgement
    baseline: Sample
    candidate: Sample
    is_redefined: bool

    @property
    def change(self) -> Change:
        return self.judgement.change

    def cells(self) -> Counter[Cell]:
        """Return the cells of the from/to matrix in which cases of this row stand, with their numbers."""
        return paired(self.baseline.statuses, self.candidate.statuses)


@dataclass(frozen=True)
class Comparison(Generic[V]):
    """The whole comparison. ``rows`` stand in order of group and size of change, ties in the order they were given in.

    ``matrix`` counts all cases; ``baseline`` and ``candidate`` tally the scenario variants that are not redefined.
    """

    rows: tuple[Row[V], ...]
    matrix: Mapping[Cell, int]
    clusters: tuple[Cluster, ...]
    differences: tuple[Difference, ...]
    baseline: Tally
    candidate: Tally

    @cached_property
    def _counted(self) -> Mapping[tuple[Change, Group], int]:
        return Counter((row.judgement.change, row.group) for row in self.rows)

    def counts(self) -> dict[Change, int]:
        """Count rows by class, zeros included; redefined rows count apart (``redefined``)."""
        counts = dict.fromkeys(Change, 0)
        for (change, group), number in self._counted.items():
            counts[change] += number if group is not Group.REDEFINED else 0
        return counts

    def groups(self) -> dict[Group, int]:
        """Count rows by group, zeros included."""
        counts = dict.fromkeys(Group, 0)
        for (_change, group), number in self._counted.items():
            counts[group] += number
        return counts

    @property
    def redefined(self) -> int:
        return self.groups()[Group.REDEFINED]

    @property
    def regressions(self) -> int:
        return sum(number for change, number in self.counts().items() if change in REGRESSIONS)

    @property
    def improvements(self) -> int:
        return sum(number for change, number in self.counts().items() if change in IMPROVEMENTS)

    @cached_property
    def fewer_decided(self) -> int:
        """Return by how many decided cases the candidate falls short, over all rows that became less decided."""
        return sum(row.judgement.fewer_decided for row in self.rows)

    @property
    def unchanged(self) -> int:
        return sum(number for group, number in self.groups().items() if group in FOLDED)


def judge(baseline: Sample, candidate: Sample) -> Judgement:
    """Judge one scenario variant; ValueError when neither side has a case of it."""
    before, after = baseline.tally, candidate.tally
    shares = bool({key for key, _n in baseline.signatures} & {key for key, _n in candidate.signatures})
    is_on_both = bool(before.total and after.total)
    return Judgement(
        change=classify(before, after, shares_signature=shares),
        baseline=before,
        candidate=after,
        drop=(before.rate or 0.0) - (after.rate or 0.0),
        fewer_decided=max(0, after.undecided - before.undecided) if is_on_both else 0,
    )


def compare_samples(
    baseline: Mapping[V, Sample],
    candidate: Mapping[V, Sample],
    *,
    order: Iterable[V],
    is_redefined: Callable[[V], bool],
    found: Iterable[Difference] = (),
) -> Comparison[V]:
    """Compare the samples of two sides. ``order`` names every variant of either side once, in the order for ties."""
    rows = _rows(baseline, candidate, order, is_redefined)
    counted = [row.judgement for row in rows if not row.is_redefined]
    return Comparison(
        rows=tuple(rows),
        matrix=matrix_of((row.baseline.statuses, row.candidate.statuses) for row in rows),
        clusters=clusters_of((row.baseline, row.candidate) for row in rows),
        differences=tuple(found),
        baseline=_sum(judgement.baseline for judgement in counted),
        candidate=_sum(judgement.candidate for judgement in counted),
    )


def _rows(
    baseline: Mapping[V, Sample], candidate: Mapping[V, Sample], order: Iterable[V], is_redefined: Callable[[V], bool]
) -> list[Row[V]]:
    """Judge every variant and order the rows by group and size of change; ties keep the order given.

    Samples may be shared by variants that look alike: each pair of objects is judged once.
    """
    places: dict[tuple[int, float], list[Row[V]]] = {}
    kinds: dict[tuple[int, int, bool], tuple[Judgement, Group, list[Row[V]]]] = {}
    for variant in order:
        before, after = baseline.get(variant, NO_SAMPLE), candidate.get(variant, NO_SAMPLE)
        key = (id(before), id(after), is_redefined(variant))
        kind = kinds.get(key)
        if kind is None:
            judgement = judge(before, after)
            group = group_of(judgement.change, is_redefined=key[-1])
            place = places.setdefault((GROUP_PLACE[group], -abs(judgement.drop)), [])
            kind = kinds[key] = (judgement, group, place)
        judgement, group, place = kind
        place.append(Row(variant, group, judgement, before, after, key[-1]))
    return [row for where in sorted(places) for row in places[where]]


def _sum(tallies: Iterable[Tally]) -> Tally:
    passed = decided = undecided = 0
    for tally in tallies:
        passed += tally.passed
        decided += tally.decided
        undecided += tally.undecided
    return Tally(passed, decided, undecided)


# ------------------------------------------------------------------------------------------------------- whole reports


def compare(
    baseline: Collection[RunOutcomes], candidate: Collection[RunOutcomes], *, accepted: Collection[str] = ()
) -> Comparison[VariantId]:
    """Compare two versions, each given as the runs that it pools; a single run is a list of one.

    The runs of a side should share a suite revision. Scenarios whose new definition was ``accepted`` count as if it had
    not changed. ValueError when a side has no run.
    """
    if not (baseline and candidate):
        raise ValueError("a comparison needs at least one run on each side")
    before, after = samples_of(baseline), samples_of(candidate)
    changed = changed_scenarios(baseline, candidate) - set(accepted)
    return compare_samples(
        before,
        after,
        order=sorted({*before, *after}),
        is_redefined=lambda variant: variant.scenario_id in changed,
        found=differences(_side_facts(baseline, before), _side_facts(candidate, after)),
    )


def changed_scenarios(baseline: Collection[RunOutcomes], candidate: Collection[RunOutcomes]) -> frozenset[str]:
    """Return the ids of the scenarios that the sides define differently."""
    return redefined(_definitions(baseline), _definitions(candidate))


def _definitions(runs: Collection[RunOutcomes]) -> dict[str, str]:
    merged: dict[str, str] = {}
    for run in runs:
        merged.update(run.facts.definitions)
    return merged


def _side_facts(runs: Collection[RunOutcomes], samples: Mapping[VariantId, Sample]) -> SideFacts:
    facts = [run.facts for run in runs]
    options: dict[str, Any] = {}
    for each in facts:
        options.update(each.options)
    return SideFacts(
        suite_ids=_distinct(each.suite_id for each in facts),
        suite_revisions=_distinct(each.suite_revision for each in facts),
        target_ids=_distinct(each.target_id for each in facts),
        statuses=_distinct(each.status for each in facts),
        repetitions=usual_repetitions(len(sample.statuses) for sample in samples.values()),
        options=options,
    )


def _distinct(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))
