"""Named baselines of a target and suite, with their history."""

import uuid
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q

from reports.models import Baseline, BaselineChange, Team

HISTORY_SHOWN = 50


@dataclass(frozen=True, slots=True)
class BaselineRow:
    """A named baseline. Texts are in stored form; ``set_by`` is a user's name, "" when that user is gone."""

    pk: int
    name: str
    is_default: bool
    run: uuid.UUID
    run_status: str
    fingerprint: str
    label: str
    set_by: str
    set_at: datetime
    reason: str


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """One step of the history, newest first; ``run`` is None where it was cleared."""

    name: str
    action: str
    run: uuid.UUID | None
    fingerprint: str
    is_default: bool
    is_forced: bool
    by: str
    at: datetime
    reason: str


def list_baselines(*, team: Team, target: int, suite: int) -> tuple[BaselineRow, ...]:
    """Return the baselines of a target and suite, the default first."""
    columns = ("run__version__fingerprint", "run__version__label", "set_by__username", "set_at", "reason")
    rows = Baseline.objects.for_team(team).filter(target=target, suite=suite).order_by("-is_default", "name", "pk")
    return tuple(
        BaselineRow(pk, name, is_default, run, status, fingerprint, label, by or "", at, reason)
        for pk, name, is_default, run, status, fingerprint, label, by, at, reason in rows.values_list(
            "pk", "name", "is_default", "run_id", "run__status", *columns
        )
    )


def list_baseline_changes(*, team: Team, target: int, suite: int) -> tuple[ChangeRow, ...]:
    columns = ("name", "action", "run_id", "run__version__fingerprint", "is_default", "is_forced", "by__username")
    rows = BaselineChange.objects.for_team(team).filter(target=target, suite=suite).order_by("-at", "-pk")
    return tuple(
        ChangeRow(name, action, run, fingerprint or "", default, forced, by or "", at, reason)
        for name, action, run, fingerprint, default, forced, by, at, reason in rows.values_list(
            *columns, "at", "reason"
        )[:HISTORY_SHOWN]
    )


def default_baseline(*, target: int, suite: int) -> tuple[uuid.UUID, str] | None:
    """Return the run and the name of the default baseline of a target and suite."""
    rows = Baseline.objects.filter(target=target, suite=suite, is_default=True)
    return rows.values_list("run_id", "name").first()


def version_baselines(*, team: Team, target: int, suite: int) -> dict[int, list[str]]:
    """Return the names of the baselines of a target and suite by the version whose run they point to."""
    found: dict[int, list[str]] = {}
    rows = Baseline.objects.for_team(team).filter(target=target, suite=suite).order_by("-is_default", "name")
    for version, name in rows.values_list("run__version_id", "name"):
        found.setdefault(version, []).append(name)
    return found


def find_named(*, team: Team, name: str, places: Iterable[tuple[int, int]] = ()) -> list[uuid.UUID]:
    """Return the runs of baselines with a name; of certain targets and suites only, where some are given."""
    wanted = Q()
    for target, suite in places:
        wanted |= Q(target=target, suite=suite) if suite else Q(target=target)
    rows = Baseline.objects.for_team(team).filter(wanted, name=name).order_by("pk")
    return list(rows.values_list("run_id", flat=True)[:2])


def default_names(*, team: Team, runs: Collection[uuid.UUID]) -> dict[uuid.UUID, str]:
    """Return the names of those runs that are the default baseline of their target and suite."""
    if not runs:
        return {}
    rows = Baseline.objects.for_team(team).filter(run__in=runs, is_default=True)
    return dict(rows.values_list("run_id", "name"))
