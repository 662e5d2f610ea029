"""Two sides given as report files, judged by a policy: the document of their comparison."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evalrunner.compare.definitions import BY_POLICY, AcceptedDefinition
from evalrunner.compare.document import Naming, RunName, SideName, SignatureName, VariantName, make_document
from evalrunner.compare.engine import Comparison, changed_scenarios, compare
from evalrunner.compare.files import ReportFileError, ScenarioText
from evalrunner.compare.outcomes import RunFacts, VariantId
from evalrunner.compare.policy import DEFAULT_POLICY, Policy, Unmatched
from evalrunner.compare.verdict import assess
from evalrunner.compare.versions import Version, read_version

_UNKNOWN = ScenarioText("", ())


def judge_files(
    baseline: Sequence[str], candidate: Sequence[str], *, policy: Policy = DEFAULT_POLICY
) -> dict[str, Any]:
    """Compare two versions, each given by the paths of its reports, and return the document.

    ReportFileError (text for the user, with the file's name) where a file cannot be used.
    """
    return judge_versions(read_version(baseline), read_version(candidate), policy=policy)


def judge_versions(baseline: Version, candidate: Version, *, policy: Policy = DEFAULT_POLICY) -> dict[str, Any]:
    """Compare two versions that were read; ReportFileError where they share some of their runs, but not all."""
    is_same_runs = _share_all(baseline, candidate)
    compared = compare(baseline.runs, candidate.runs, accepted=policy.accepted_definitions)
    naming = _naming(baseline, candidate, policy)
    assessment = assess(
        compared,
        scenario_of=lambda variant: variant.scenario_id,
        policy=policy,
        is_critical=naming.is_critical,
        is_same=is_same_runs and _is_alike(compared),
        unmatched=_unmatched(compared, naming, policy),
    )
    return make_document(
        compared,
        assessment,
        baseline=_side_name(baseline),
        candidate=_side_name(candidate),
        naming=naming,
        accepted=_accepted(compared, baseline, candidate, policy),
    )


def _share_all(baseline: Version, candidate: Version) -> bool:
    """Tell whether both sides are the same runs. Some runs on both sides would be compared with themselves."""
    if baseline.run_ids == candidate.run_ids:
        return True
    for file in candidate.files:
        if file.facts.run_id in baseline.run_ids:
            raise ReportFileError(f"{file.path}: run {file.facts.run_id!r} stands on both sides")
    return False


def _is_alike(compared: Comparison[VariantId]) -> bool:
    """A run's id is only what a file says: the outcomes must be the same, too."""
    return all(row.baseline == row.candidate for row in compared.rows)


def _accepted(
    compared: Comparison[VariantId], baseline: Version, candidate: Version, policy: Policy
) -> list[AcceptedDefinition]:
    """Return the changed definitions that count because the policy says so; what no case asks is not among them."""
    named = policy.accepted_definitions & changed_scenarios(baseline.runs, candidate.runs)
    present = {row.variant.scenario_id for row in compared.rows} if named else set()
    return [AcceptedDefinition(scenario, BY_POLICY) for scenario in named if scenario in present]


def _unmatched(compared: Comparison[VariantId], naming: Naming[VariantId], policy: Policy) -> Unmatched:
    names = (naming.variant(row.variant) for row in compared.rows) if policy.has_critical else ()
    return policy.unmatched({name.scenario_id: name.tags for name in names})


def _naming(baseline: Version, candidate: Version, policy: Policy) -> Naming[VariantId]:
    scenarios = baseline.scenarios() | candidate.scenarios()
    failures = baseline.failures() | candidate.failures()

    def name(variant: VariantId) -> VariantName:
        text = scenarios.get(variant.scenario_id, _UNKNOWN)
        return VariantName(variant.scenario_id, dict(variant.variants), text.name, text.tags)

    return Naming(
        variant=name,
        signature=lambda key: SignatureName(key, failures.get(key, "")),
        is_critical=lambda variant: policy.is_critical(
            variant.scenario_id, scenarios.get(variant.scenario_id, _UNKNOWN).tags
        ),
    )


def _side_name(version: Version) -> SideName:
    facts = version.facts
    return SideName(
        target_id=facts.target_id,
        fingerprint=facts.fingerprint,
        suite_id=facts.suite_id,
        suite_revision=facts.suite_revision,
        runs=tuple(_run_name(run.facts) for run in version.runs),
        left_out=tuple(_run_name(each) for each in version.left_out),
    )


def _run_name(facts: RunFacts) -> RunName:
    return RunName(facts.run_id, facts.status, facts.started_at, facts.resumed_from)
