"""How a run changed against its baseline, counted from its cases; and which run its baseline is."""

import uuid
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Max, Min, Q
from evalrunner.compare import Change, classify, tally

from reports.domain.baselines import Resolution, resolve
from reports.models import Run, Scenario, ScenarioVariant, Version
from reports.selectors.attempts import counting_cases
from reports.selectors.baselines import default_baseline
from reports.selectors.definitions import accepted_keys

VersionPlace = tuple[int, datetime, datetime | None]
_NO_CASES: Mapping[str, int] = {}


@dataclass(frozen=True, slots=True)
class CountedRun:
    """What of a run decides how it is compared: its place among versions, and the cases that count now."""

    pk: uuid.UUID
    target_pk: int
    suite_pk: int
    version_pk: int
    revision_pk: int
    generation: int | None
    status: str
    ordered_at: datetime

    @property
    def is_countable(self) -> bool:
        """Only what has come to rest is counted: the cases of a run that goes on change in place."""
        return self.generation is not None and self.status not in ("queued", "running")


def counted_run(pk: uuid.UUID) -> CountedRun | None:
    columns = ("pk", "version__target", "revision__suite", "version", "revision", "generation", "status", "ordered_at")
    row = Run.objects.filter(pk=pk).values_list(*columns).first()
    return CountedRun(*row) if row else None


def resolve_baseline(run: CountedRun) -> Resolution[CountedRun]:
    """Find the baseline of a run by the rules of ``reports.domain.baselines``."""
    named = default_baseline(target=run.target_pk, suite=run.suite_pk)
    default = counted_run(named[0]) if named and named[0] != run.pk else None
    return resolve(
        default=(default, named[1]) if default and named else None, own=run, earlier=lambda: _earlier_baseline(run)
    )


def baseline_of(run: CountedRun) -> CountedRun | None:
    return resolve_baseline(run).run


def _earlier_baseline(run: CountedRun) -> CountedRun | None:
    """Return the newest completed run of the newest earlier version that has one, on the same suite."""
    versions = _versions(run)
    own = next((first for pk, first, _completed in versions if pk == run.version_pk), None)
    earlier = [
        (first, pk) for pk, first, completed in versions if completed and own and (first, pk) < (own, run.version_pk)
    ]
    if not earlier:
        return None
    counted = Run.objects.filter(status="completed", follow_up="")
    runs = counted.filter(version=max(earlier)[1], revision__suite=run.suite_pk)
    newest = runs.newest_first().values_list("pk", flat=True).first()
    return counted_run(newest) if newest else None


def affected_runs(run: CountedRun) -> tuple[uuid.UUID, ...]:
    """Return the runs whose change may be another one once ``run`` is stored: it and those it may be the baseline of.

    The latter are the runs of the later versions up to the first that has a completed run itself. A run that begins
    before all others of its version moves the version, and with it the baseline of those others. Where a default
    baseline is named, only that one run is measured against an earlier version; whoever was counted against ``run``
    before is counted again.
    """
    counted = Q(change__baseline=run.pk)
    named = default_baseline(target=run.target_pk, suite=run.suite_pk)
    if named is not None and named[0] != run.pk:
        runs = Run.objects.filter(Q(pk__in=(run.pk, named[0])) | counted, version__target=run.target_pk)
        return tuple(runs.order_by("-ordered_at", "pk").values_list("pk", flat=True))
    versions = _versions(run)
    own = next((first, pk) for pk, first, _completed in versions if pk == run.version_pk)
    wanted = Q(pk=run.pk) | counted | Q(version__in=_next_versions(versions, own))
    if run.ordered_at == own[0]:
        wanted |= Q(version=run.version_pk)
    runs = Run.objects.filter(wanted, revision__suite=run.suite_pk).order_by("-ordered_at", "pk")
    return tuple(runs.values_list("pk", flat=True))


def _next_versions(versions: list[VersionPlace], own: tuple[datetime, int]) -> list[int]:
    found = []
    for pk, first, completed in reversed(versions):
        if (first, pk) > own:
            found.append(pk)
            if completed:
                break
    return found


def _versions(run: CountedRun) -> list[VersionPlace]:
    """Return (version, start of its first run, newest completed start) on the run's suite, the newest first."""
    of_suite = Q(runs__revision__suite=run.suite_pk)
    rows = (
        Version.objects.filter(of_suite, target=run.target_pk)
        .annotate(
            first=Min("runs__ordered_at"),
            completed=Max("runs__ordered_at", filter=Q(runs__status="completed", runs__follow_up="")),
        )
        .order_by("-first", "-pk")
    )
    return list(rows.values_list("pk", "first", "completed"))


def runs_of_place(*, target: int, suite: int, limit: int) -> tuple[uuid.UUID, ...]:
    """Return the newest runs of a target and suite."""
    runs = Run.objects.filter(version__target=target, revision__suite=suite).newest_first()
    return tuple(runs.values_list("pk", flat=True)[:limit])


def change_counts(baseline: CountedRun, candidate: CountedRun) -> dict[str, int]:
    """Count the scenario variants of both runs by change class; scenarios whose definition changed are left out.

    Where both sides always failed, the class is "failing", whatever the reason: signatures are not read here.
    """
    before, after = _counts(baseline), _counts(candidate)
    redefined = _redefined(baseline, candidate)
    counted = Counter(
        str(_change(before.get(variant, _NO_CASES), after.get(variant, _NO_CASES)))
        for variant in before.keys() | after.keys()
        if variant not in redefined
    )
    return dict(sorted(counted.items()))


def _change(before: Mapping[str, int], after: Mapping[str, int]) -> Change:
    return classify(tally(before), tally(after), shares_signature=True)


def _counts(run: CountedRun) -> dict[int, dict[str, int]]:
    cases = counting_cases(run_pk=run.pk).order_by()
    counts: dict[int, dict[str, int]] = {}
    for variant, status, number in cases.values_list("variant_id", "status").annotate(Count("id")):
        counts.setdefault(variant, {})[status] = number
    return counts


def _redefined(baseline: CountedRun, candidate: CountedRun) -> frozenset[int]:
    """Return the scenario variants whose scenario is defined differently on the two sides."""
    if baseline.revision_pk == candidate.revision_pk:
        return frozenset()
    before, after = (
        dict(Scenario.objects.filter(revision=run.revision_pk).values_list("key", "definition_digest"))
        for run in (baseline, candidate)
    )
    accepted = accepted_keys(revisions=(baseline.revision_pk, candidate.revision_pk))
    changed = [key for key in before.keys() & after.keys() if before[key] != after[key] and key not in accepted]
    if not changed:
        return frozenset()
    variants = ScenarioVariant.objects.filter(scenario_key__in=changed, team__runs=candidate.pk)
    return frozenset(variants.values_list("pk", flat=True))
