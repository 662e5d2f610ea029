"""The verdict on a stored comparison, and the document that every rendering of it is made from.

Names in a verdict are texts as they came from outside (not in stored form), so that a policy written by hand matches
them and a document needs no further translation.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from evalrunner.compare import Change, Row
from evalrunner.compare.document import Naming, RunName, SideName, SignatureName, VariantName, make_document
from evalrunner.compare.document_rows import adjusted_p_values
from evalrunner.compare.engine import GROUP_PLACE
from evalrunner.compare.fisher import fisher_exact
from evalrunner.compare.policy import Policy, Unmatched
from evalrunner.compare.redealing import Pair
from evalrunner.compare.repetitions import Plan, plan_repetitions
from evalrunner.compare.verdict import NOTHING_UNMATCHED, Assessment, assess, pairs_of, select

from reports.collector import collector_paused
from reports.models import Signature, Team
from reports.selectors.compare import StoredComparison
from reports.selectors.compare_rows import signature_words
from reports.selectors.compare_sides import Side, SideRun
from reports.selectors.findings import Findings, RowTest
from reports.selectors.notes import NotedSide, noted_side
from reports.text import restored

IsKnown = Callable[[Row[int]], bool]


@dataclass(frozen=True, slots=True)
class Judged:
    """A comparison with its verdict. ``tests`` holds the rows that enter the test."""

    stored: StoredComparison
    assessment: Assessment
    plan: Plan[int]
    tests: Mapping[int, RowTest]
    is_critical: Callable[[int], bool]
    is_known: IsKnown

    def ordered(self, rows: Sequence[Row[int]]) -> Sequence[Row[int]]:
        """Return rows as they are listed: critical ones first inside their group."""
        if not any(self.is_critical(row.variant) for row in rows):
            return rows
        return sorted(rows, key=lambda row: (GROUP_PLACE[row.group], not self.is_critical(row.variant)))


def judge_for(team: Team, stored: StoredComparison, policy: Policy) -> tuple[Judged, NotedSide]:
    """Judge a comparison with the notes of the team, and return those that hold for the candidate."""
    side = stored.candidate
    noted = noted_side(team=team, target=side.target, version=side.version)
    is_known, key = known_rule(noted), (policy, noted)
    found = stored.findings.get(key)
    if found is None:
        with collector_paused():
            found = _findings(stored, policy, is_known)
        stored.findings.put(key, found)
    return _judged(stored, policy, found, is_known), noted


def known_rule(noted: NotedSide) -> IsKnown:
    """Return the rule that tells which rows notes cover."""
    if not noted.notes:
        return lambda _row: False

    def is_known(row: Row[int]) -> bool:
        signatures = [key for key, _number in row.candidate.signatures]
        found = noted.found(row.variant, signatures, is_lost=row.change is Change.LOST)
        return found is not None and found.is_covered

    return is_known


def judge(stored: StoredComparison, policy: Policy, *, is_known: IsKnown = lambda _row: False) -> Judged:
    """Judge a comparison by a policy; ``is_known`` tells which rows the team's notes cover."""
    return _judged(stored, policy, _findings(stored, policy, is_known), is_known)


def _judged(stored: StoredComparison, policy: Policy, found: Findings, is_known: IsKnown) -> Judged:
    is_critical = _critical_rule(stored, policy, _scenario_of(stored))
    return Judged(stored, found.assessment, found.plan, found.tests, is_critical, is_known)


def _findings(stored: StoredComparison, policy: Policy, is_known: IsKnown) -> Findings:
    scenario_of = _scenario_of(stored)
    assessment = assess_stored(stored, policy, is_known=is_known)
    paired = select(stored.result, scenario_of=scenario_of, policy=policy, is_known=is_known).paired
    plan = plan_repetitions(stored.result, assessment, scenario_of=scenario_of, is_known=is_known)
    return Findings(assessment, plan, _row_tests(paired))


def _row_tests(paired: Sequence[Row[int]]) -> Mapping[int, RowTest]:
    adjusted = adjusted_p_values(paired)
    alike: dict[Pair, RowTest] = {}
    for row, pair in zip(paired, pairs := pairs_of(paired), strict=True):
        if pair not in alike:
            alike[pair] = RowTest(fisher_exact(pair), adjusted[row.variant])
    return {row.variant: alike[pair] for row, pair in zip(paired, pairs, strict=True)}


def assess_stored(stored: StoredComparison, policy: Policy, *, is_known: IsKnown) -> Assessment:
    """Return the verdict alone, without what a page says of single rows."""
    scenario_of = _scenario_of(stored)
    return assess(
        stored.result,
        scenario_of=scenario_of,
        policy=policy,
        is_critical=_critical_rule(stored, policy, scenario_of),
        is_known=is_known,
        is_same=stored.baseline.generations == stored.candidate.generations,
        unmatched=_unmatched(stored, policy),
    )


def _unmatched(stored: StoredComparison, policy: Policy) -> Unmatched:
    if not policy.has_critical:
        return NOTHING_UNMATCHED
    variants = {scenario: pk for pk, (scenario, _chosen) in stored.variants.names.items()}
    facts = {restored(scenario): stored.facts_of(pk) for scenario, pk in variants.items()}
    return policy.unmatched({name: [*map(restored, each.tags)] if each else () for name, each in facts.items()})


def _critical_rule(
    stored: StoredComparison, policy: Policy, scenario_of: Callable[[int], str]
) -> Callable[[int], bool]:
    if not policy.has_critical:
        return lambda _variant: False

    def is_critical(variant: int) -> bool:
        facts = stored.facts_of(variant)
        return policy.is_critical(scenario_of(variant), [restored(tag) for tag in facts.tags] if facts else ())

    return is_critical


def _scenario_of(stored: StoredComparison) -> Callable[[int], str]:
    names, text = stored.variants.names, cache(restored)  # few scenarios have many variants
    return lambda variant: text(names[variant][0])


# ------------------------------------------------------------------------------------------------------------ document


def document_of(judged: Judged, *, team: Team, rows: Sequence[Row[int]]) -> dict[str, Any]:
    """Return the document of a comparison with the given rows (a page of them, or all)."""
    stored = judged.stored
    naming = Naming(
        variant=cache(lambda pk: _variant_name(stored, pk)),
        signature=_signature_names(team, stored, rows),
        is_critical=judged.is_critical,
        is_known=judged.is_known,
        text=restored,
    )
    return make_document(
        stored.result,
        judged.assessment,
        baseline=_side_name(stored.baseline),
        candidate=_side_name(stored.candidate),
        naming=naming,
        rows=rows,
        accepted=judged.stored.counted_definitions(),
    )


def _variant_name(stored: StoredComparison, pk: int) -> VariantName:
    name, facts = stored.variants[pk], stored.facts_of(pk)
    return VariantName(
        scenario_id=restored(name.scenario_id),
        variants={restored(step): restored(variant) for step, variant in name.chosen.items()},
        name=restored(facts.name) if facts else "",
        tags=tuple(restored(tag) for tag in facts.tags) if facts else (),
        key=name.key,
    )


def _signature_names(team: Team, stored: StoredComparison, rows: Sequence[Row[int]]) -> Callable[[str], SignatureName]:
    wanted = {cluster.signature for cluster in stored.result.clusters[:200]}
    for row in rows:
        wanted.update(key for key, _number in (*row.baseline.signatures, *row.candidate.signatures))
    named = {key: name for part in _parts(sorted(wanted)) for key, name in _named(team, part)}
    return lambda key: named.get(key, SignatureName(key, ""))


def _parts(keys: Sequence[str], size: int = 5_000) -> Iterable[Sequence[str]]:
    return (keys[start : start + size] for start in range(0, len(keys), size))


def _named(team: Team, keys: Sequence[str]) -> Iterable[tuple[str, SignatureName]]:
    rows = Signature.objects.filter(team=team, pk__in=[int(key) for key in keys])
    return ((str(row.pk), SignatureName(row.key, restored(signature_words(row)))) for row in rows)


def _side_name(side: Side) -> SideName:
    return SideName(
        target_id=restored(side.target_id),
        fingerprint=restored(side.fingerprint),
        suite_id=restored(side.suite_id),
        suite_revision=side.revision.digest,
        runs=tuple(map(_run_name, side.runs)),
        label=restored(side.label),
        left_out=tuple(map(_run_name, side.left_out)),
    )


def _run_name(run: SideRun) -> RunName:
    return RunName(restored(run.run_id), run.status, restored(run.started), restored(run.resumed_from))
