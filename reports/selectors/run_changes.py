"""Which run the baseline of a run is, and which runs are touched when one is stored."""

import uuid
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Max, Min, Q

from reports.domain.baselines import Resolution, resolve
from reports.models import Note, Run, Version
from reports.querysets import UNFINISHED, WAITING, RunQuerySet
from reports.selectors.attempts import descendants_of
from reports.selectors.baselines import default_baseline

VersionPlace = tuple[int, datetime, datetime | None]


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
    team_pk: int
    run_key: str | None

    @property
    def is_countable(self) -> bool:
        """Only what has come to rest is counted: the cases of a run that goes on change in place."""
        return self.generation is not None and self.status not in UNFINISHED


def counted_run(pk: uuid.UUID) -> CountedRun | None:
    columns = ("pk", "version__target", "revision__suite", "version", "revision", "generation", "status", "ordered_at")
    row = Run.objects.filter(pk=pk).values_list(*columns, "team", "run_key").first()
    return CountedRun(*row) if row else None


def resolve_baseline(run: CountedRun) -> Resolution[CountedRun]:
    """Find the baseline of a run by the rules of ``reports.domain.baselines``."""
    named = default_baseline(target=run.target_pk, suite=run.suite_pk)
    pinned = (run if named[0] == run.pk else counted_run(named[0])) if named else None
    default = (pinned, named[1]) if pinned and named else None
    return resolve(default=default, own=run, earlier=lambda: _earlier_baseline(run))


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


def affected_runs(run: CountedRun) -> RunQuerySet[Run]:
    """Return the runs whose change may be another one once ``run`` is stored: it and those it may be the baseline of.

    The latter are the runs of the later versions up to the first that has a completed run itself. A run that begins
    before all others of its version moves the version, and with it the baseline of those others. Where a default
    baseline is named, only that one run is measured against an earlier version. Whoever was counted against ``run``
    before is counted again; so are the runs that continue it, which count its attempts, and those counted against them.
    A run that is being counted meanwhile may stand on ``run`` as well.
    """
    own = (run.pk, *descendants_of(team_pk=run.team_pk, run_key=run.run_key))
    counted = Q(pk__in=own) | Q(change__baseline__in=own)
    if run.is_countable:  # one that goes on is stored again when it ends, and would keep the others from being counted
        counted |= Q(version__target=run.target_pk, revision__suite=run.suite_pk) & WAITING
    if _moves_notes(run):
        counted |= Q(version__target=run.target_pk) & (Q(change__isnull=False) | WAITING)
    return Run.objects.filter(counted | _measured_otherwise(run), team=run.team_pk)


def _measured_otherwise(run: CountedRun) -> Q:
    """Return the runs that may get another baseline."""
    named = default_baseline(target=run.target_pk, suite=run.suite_pk)
    if named is not None and named[0] != run.pk:
        return Q(pk=named[0])
    versions = _versions(run)
    own = next((first, pk) for pk, first, _completed in versions if pk == run.version_pk)
    wanted = Q(version__in=_next_versions(versions, own))
    if run.ordered_at == own[0]:
        wanted |= Q(version=run.version_pk)
    return wanted & Q(revision__suite=run.suite_pk)


def _moves_notes(run: CountedRun) -> bool:
    """Tell whether a run moves its version among those that bound notes of its target."""
    bounded = Note.objects.filter(target=run.target_pk, closed_at__isnull=True)
    if not bounded.filter(~Q(first_version=None) | ~Q(last_version=None)).exists():
        return False
    return not Run.objects.filter(version=run.version_pk, ordered_at__lt=run.ordered_at).exists()


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
