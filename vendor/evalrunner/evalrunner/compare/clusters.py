"""Failures grouped by signature, and how each group fared from baseline to candidate."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from evalrunner.compare.outcomes import Sample


class ClusterChange(StrEnum):
    NEW = "new"
    GROWN = "grown"
    SAME = "same"
    SHRUNK = "shrunk"
    GONE = "gone"


CLUSTER_MIRROR = {
    ClusterChange.NEW: ClusterChange.GONE,
    ClusterChange.GONE: ClusterChange.NEW,
    ClusterChange.GROWN: ClusterChange.SHRUNK,
    ClusterChange.SHRUNK: ClusterChange.GROWN,
    ClusterChange.SAME: ClusterChange.SAME,
}


@dataclass(frozen=True, slots=True)
class Cluster:
    """All failures of one signature: numbers of scenario variants and of cases on either side."""

    signature: str
    change: ClusterChange
    baseline_variants: int
    candidate_variants: int
    baseline_cases: int
    candidate_cases: int


@dataclass(slots=True)
class _Count:
    variants: int = 0
    cases: int = 0


def clusters_of(pairs: Iterable[tuple[Sample, Sample]]) -> tuple[Cluster, ...]:
    """Return the clusters of all scenario variants: new ones first, inside a class the largest change first.

    Ties stand in the order in which they appear in ``pairs``; their keys say nothing, and differ from store to store.
    """
    counts: dict[str, tuple[_Count, _Count]] = {}
    for baseline, candidate in pairs:
        for side, sample in enumerate((baseline, candidate)):
            for signature, cases in sample.signatures:
                count = counts.setdefault(signature, (_Count(), _Count()))[side]
                count.variants += 1
                count.cases += cases
    return tuple(sorted((_cluster(key, *sides) for key, sides in counts.items()), key=_order))


def _cluster(signature: str, baseline: _Count, candidate: _Count) -> Cluster:
    return Cluster(
        signature=signature,
        change=_change(baseline, candidate),
        baseline_variants=baseline.variants,
        candidate_variants=candidate.variants,
        baseline_cases=baseline.cases,
        candidate_cases=candidate.cases,
    )


def _change(baseline: _Count, candidate: _Count) -> ClusterChange:
    """Scenario variants decide and cases only between equals: unequal repetitions alone make nothing grow much."""
    if not baseline.variants:
        return ClusterChange.NEW
    if not candidate.variants:
        return ClusterChange.GONE
    before, after = (baseline.variants, baseline.cases), (candidate.variants, candidate.cases)
    if before == after:
        return ClusterChange.SAME
    return ClusterChange.GROWN if after > before else ClusterChange.SHRUNK


def _order(cluster: Cluster) -> tuple[int, int, int]:
    place = list(ClusterChange).index(cluster.change)
    variants = abs(cluster.candidate_variants - cluster.baseline_variants)
    return (place, -variants, -max(cluster.baseline_cases, cluster.candidate_cases))
