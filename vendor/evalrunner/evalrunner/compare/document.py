"""One comparison as one JSON value: what page, API, command line, Markdown and HTML are renderings of.

Whoever has a comparison (from files or from a database) and its assessment gives names to what it identifies, and gets
the same document. All texts are as they came from outside; each rendering escapes them in its own way.

    schemaVersion, kind        1, "evaluation-comparison"
    sentence                   the answer in words, with the verdict
    verdict, reasons           ``reasons`` are [{verdict, kind, text, scenarios}], those of the verdict first
    baseline, candidate        {label, target, suite, runs, leftOut, passRate}; ``passRate`` is {passed, decided,
                               undecided, rate, percent, low, high} with Wilson's 95% interval
    rates, size                the pass rates, and what the interval stands on, in words
    test                       the re-dealing test and the regressions expected by chance
    change                     the mean change with its interval (fractions), or null where nothing is paired
    completeness, errors, unchanged, redefined, regressions, improvements, fewerDecided
    counts, groups             scenario variants by class (redefined ones apart) and by group, zeros included
    matrix                     cases: matrix[before][after], with "missing"
    differences                [{kind, name, baseline, candidate, sentence}]
    clusters, clustersTotal    failures by signature
    rows, rowsTotal            scenario variants in order of importance; see ``document_rows``
    accepted                   changed definitions that count: [{scenarioId, rule, by, at, reason}]; ``rule`` is
                               "policy" or "triager", the others are "" where not known
    plan                       what would decide an inconclusive comparison
    policy                     the policy that was used
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from evalrunner.compare.answer import answer, effect_in_words, noise_in_words
from evalrunner.compare.clusters import Cluster
from evalrunner.compare.comparability import Difference
from evalrunner.compare.definitions import AcceptedDefinition
from evalrunner.compare.document_rows import Naming, SignatureName, VariantName, adjusted_p_values, row_data
from evalrunner.compare.engine import GROUP_PLACE, Comparison, Row
from evalrunner.compare.intervals import wilson_interval
from evalrunner.compare.matrix import MATRIX_ORDER
from evalrunner.compare.policy import Policy
from evalrunner.compare.repetitions import Plan, plan_repetitions
from evalrunner.compare.tally import Tally
from evalrunner.compare.verdict import ALPHA, Assessment, Selection, select
from evalrunner.compare.words import difference_in_words, rates_in_words

__all__ = ["Naming", "RunName", "SideName", "SignatureName", "VariantName", "make_document", "ordered_rows"]

SCHEMA_VERSION: Final = 1
KIND: Final = "evaluation-comparison"
CLUSTERS_NAMED: Final = 200

V = TypeVar("V", bound=Hashable)
Data = dict[str, Any]


@dataclass(frozen=True, slots=True)
class RunName:
    run_id: str
    status: str
    started_at: str = ""
    resumed_from: str = ""


@dataclass(frozen=True, slots=True)
class SideName:
    """What a side is called. ``left_out`` are its runs that do not count (their lineage never came to an end)."""

    target_id: str
    fingerprint: str
    suite_id: str
    suite_revision: str
    runs: tuple[RunName, ...]
    label: str = ""
    left_out: tuple[RunName, ...] = ()


@dataclass(frozen=True, slots=True)
class _Judged(Generic[V]):
    comparison: Comparison[V]
    assessment: Assessment
    naming: Naming[V]
    chosen: Selection[V]


def make_document(
    comparison: Comparison[V],
    assessment: Assessment,
    *,
    baseline: SideName,
    candidate: SideName,
    naming: Naming[V],
    rows: Iterable[Row[V]] | None = None,
    accepted: Iterable[AcceptedDefinition] = (),
) -> Data:
    """Return the document. ``rows`` are those to list (a page of them, in their order); all where None.

    The marks of ``naming`` must be the ones by which the assessment was made; ``accepted`` are the changed definitions
    that count in the comparison.
    """
    chosen = select(comparison, scenario_of=naming.scenario_of, policy=assessment.policy, is_known=naming.is_known)
    judged = _Judged(comparison, assessment, naming, chosen)
    plan = plan_repetitions(comparison, assessment, scenario_of=naming.scenario_of, is_known=naming.is_known)
    p_values = adjusted_p_values(chosen.paired)
    listed = ordered_rows(comparison, naming) if rows is None else rows
    return {
        "schemaVersion": SCHEMA_VERSION,
        "kind": KIND,
        "sentence": "".join(phrase.text for phrase in answer(comparison, assessment)),
        "verdict": str(assessment.verdict),
        "reasons": [
            {"verdict": str(each.verdict), "kind": each.kind, "text": each.text, "scenarios": list(each.scenarios)}
            for each in assessment.reasons
        ],
        "baseline": _side_data(baseline, comparison.baseline),
        "candidate": _side_data(candidate, comparison.candidate),
        "rates": rates_in_words(comparison),
        **_statistics(assessment),
        **_counts(comparison),
        "differences": [_difference_data(each, naming.text) for each in comparison.differences],
        "clusters": [_cluster_data(each, naming) for each in comparison.clusters[:CLUSTERS_NAMED]],
        "clustersTotal": len(comparison.clusters),
        "rows": [row_data(row, naming, p_values) for row in listed],
        "rowsTotal": len(comparison.rows),
        "accepted": [_accepted_data(each) for each in sorted(accepted, key=lambda each: each.scenario_id)],
        "plan": _plan_data(plan, judged),
        "policy": _policy_data(assessment.policy),
    }


def ordered_rows(comparison: Comparison[V], naming: Naming[V]) -> list[Row[V]]:
    """Return the rows as they are listed: by group, critical ones first, then as the comparison has them."""
    return sorted(comparison.rows, key=lambda row: (GROUP_PLACE[row.group], not naming.is_critical(row.variant)))


def _side_data(side: SideName, rate: Tally) -> Data:
    low, high = wilson_interval(rate.passed, rate.decided)
    return {
        "label": side.label,
        "target": {"id": side.target_id, "fingerprint": side.fingerprint},
        "suite": {"id": side.suite_id, "revision": side.suite_revision},
        "runs": [_run_data(run) for run in side.runs],
        "leftOut": [_run_data(run) for run in side.left_out],
        "passRate": {**_tally_data(rate), "low": low, "high": high},
    }


def _run_data(run: RunName) -> Data:
    resumed = {"resumedFrom": run.resumed_from} if run.resumed_from else {}
    return {"runId": run.run_id, "status": run.status, "startedAt": run.started_at, **resumed}


def _tally_data(tally: Tally) -> Data:
    return {
        "passed": tally.passed,
        "decided": tally.decided,
        "undecided": tally.undecided,
        "rate": tally.rate,
        "percent": tally.percent,
    }


def _statistics(assessment: Assessment) -> Data:
    test, change, completeness = assessment.test, assessment.change, assessment.completeness
    return {
        "test": {
            "pValue": test.p_value,
            "alpha": ALPHA,
            "isExact": test.is_exact,
            "fallen": assessment.fallen,
            "expectedRegressions": test.expected_regressions if test.can_estimate_noise else None,
            "canEstimateNoise": test.can_estimate_noise,
            "sentence": noise_in_words(test, assessment.fallen, assessment.pairs),
        },
        "change": change
        and {
            "mean": change.mean,
            "low": change.low,
            "high": change.high,
            "confidence": 0.95,
            "pairs": change.pairs,
            "scenarios": change.clusters,
            "leftOut": assessment.left_out,
            "smallestEffect": change.smallest_effect,
            "margin": assessment.policy.margin,
        },
        "size": effect_in_words(change, assessment.left_out),
        "completeness": {
            "decided": completeness.decided,
            "asked": completeness.asked,
            "share": completeness.share,
            "needed": assessment.policy.completeness,
        },
        "errors": assessment.errors,
    }


def _counts(comparison: Comparison[V]) -> Data:
    cells = comparison.matrix
    return {
        "counts": {str(change): number for change, number in comparison.counts().items()},
        "groups": {str(group): number for group, number in comparison.groups().items()},
        "redefined": comparison.redefined,
        "regressions": comparison.regressions,
        "improvements": comparison.improvements,
        "unchanged": comparison.unchanged,
        "fewerDecided": comparison.fewer_decided,
        "matrix": {before: {after: cells.get((before, after), 0) for after in MATRIX_ORDER} for before in MATRIX_ORDER},
    }


def _difference_data(difference: Difference, text: Callable[[str], str]) -> Data:
    return {
        "kind": difference.kind,
        "name": text(difference.name),
        "baseline": text(difference.baseline),
        "candidate": text(difference.candidate),
        "sentence": text(difference_in_words(difference)),
    }


def _accepted_data(accepted: AcceptedDefinition) -> Data:
    return {
        "scenarioId": accepted.scenario_id,
        "rule": accepted.rule,
        "by": accepted.by,
        "at": accepted.at,
        "reason": accepted.reason,
    }


def _cluster_data(cluster: Cluster, naming: Naming[V]) -> Data:
    name = naming.signature(cluster.signature)
    return {
        "signature": name.key,
        "words": name.words,
        "change": str(cluster.change),
        "variants": {"baseline": cluster.baseline_variants, "candidate": cluster.candidate_variants},
        "cases": {"baseline": cluster.baseline_cases, "candidate": cluster.candidate_cases},
    }


def _plan_data(plan: Plan[V], judged: _Judged[V]) -> Data:
    def named(variants: Iterable[V]) -> list[Mapping[str, Any]]:
        return [judged.naming.variant(variant).to_data() for variant in variants]

    return {
        "isNeeded": plan.is_needed,
        "repetitions": plan.more,
        "variants": named(plan.variants),
        "cases": plan.cases,
        "expected": None if plan.expected is None else str(plan.expected),
        "retry": named(plan.retry),
        "moreScenarios": plan.more_scenarios,
        "sentences": list(plan.sentences),
    }


def _policy_data(policy: Policy) -> Data:
    return {
        "margin": policy.margin,
        "completeness": policy.completeness,
        "maxErrors": policy.max_errors,
        "minPairs": policy.min_pairs,
        "exceptKnownIssues": policy.except_known_issues,
        "otherTarget": policy.other_target,
        "critical": {"scenarios": sorted(policy.critical_scenarios), "tags": sorted(policy.critical_tags)},
        "accept": {"definitions": sorted(policy.accepted_definitions)},
    }
