"""The page that makes a run a baseline, with the baselines of its target and suite and their history."""

from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse
from evalrunner.compare import tally

from reports.domain.baselines import DEFAULT_NAME, Resolution
from reports.models import Run, Team
from reports.pages.links import compare_href
from reports.pages.parts import Crumb, VersionName
from reports.pages.run_links import run_crumbs
from reports.selectors.baselines import BaselineRow, ChangeRow, list_baseline_changes, list_baselines
from reports.selectors.run import status_counts
from reports.selectors.run_changes import CountedRun, counted_run, resolve_baseline


@dataclass(frozen=True, slots=True)
class BaselineLine:
    pk: int
    name: str
    is_default: bool
    version: VersionName
    is_here: bool
    run_status: str
    by: str
    at: datetime
    reason: str
    clear_href: str


@dataclass(frozen=True, slots=True)
class HistoryLine:
    name: str
    words: str
    fingerprint: str
    href: str
    by: str
    at: datetime
    reason: str


@dataclass(frozen=True, slots=True)
class BaselinePage:
    """``answer`` says against what this run is measured now, and ``compare_href`` leads there ("" without any)."""

    crumbs: tuple[Crumb, ...]
    run_pk: str
    version: VersionName
    suite_name: str
    sentence: str
    answer: str
    compare_href: str
    lines: tuple[BaselineLine, ...]
    history: tuple[HistoryLine, ...]
    name: str
    is_first: bool
    is_incomplete: bool
    may_set: bool
    fault: str


def baseline_page(run: Run, *, team: Team, may_set: bool, fault: str = "", name: str = "") -> BaselinePage:
    target, suite = run.version.target_id, run.revision.suite_id
    rows = list_baselines(team=team, target=target, suite=suite)
    counted, counts = counted_run(run.pk), tally(status_counts(run))
    found = resolve_baseline(counted) if counted else None
    return BaselinePage(
        crumbs=run_crumbs(run, Crumb("Baseline")),
        run_pk=str(run.pk),
        version=VersionName(run.version.target.target_id, run.version.fingerprint, run.version.label),
        suite_name=run.revision.suite.name,
        sentence=f"{run.status}, {counts.percent} passed, {counts.words}" if counts.decided else run.status,
        answer=_answer(found) if found else "",
        compare_href=compare_href(found.run.pk, run.pk) if found and found.run else "",
        lines=tuple(_line(row, run) for row in rows),
        history=tuple(_history_line(row) for row in list_baseline_changes(team=team, target=target, suite=suite)),
        name=name or next((row.name for row in rows if row.is_default), DEFAULT_NAME),
        is_first=not any(row.is_default for row in rows),
        is_incomplete=run.status != "completed",
        may_set=may_set,
        fault=fault,
    )


def _answer(found: Resolution[CountedRun]) -> str:
    """Say what a run is measured against (stored form); a default baseline is that first."""
    if found.run is None:
        return f"this run is measured against nothing: {found.words}"
    itself = f"is the baseline {found.own_name} itself, the default, and " if found.own_name else ""
    return f"this run {itself}is measured against {found.words}"


def _line(row: BaselineRow, run: Run) -> BaselineLine:
    return BaselineLine(
        pk=row.pk,
        name=row.name,
        is_default=row.is_default,
        version=VersionName(run.version.target.target_id, row.fingerprint, row.label, reverse("run", args=[row.run])),
        is_here=row.run == run.pk,
        run_status=row.run_status,
        by=row.set_by,
        at=row.set_at,
        reason=row.reason,
        clear_href=reverse("clear-baseline", args=[row.pk]),
    )


def _history_line(row: ChangeRow) -> HistoryLine:
    marks = [word for word, is_so in (("default", row.is_default), ("by force", row.is_forced)) if is_so]
    words = ", ".join([row.action, *marks]) if row.action == "set" else row.action
    href = reverse("run", args=[row.run]) if row.run else ""
    return HistoryLine(row.name, words, row.fingerprint, href, row.by, row.at, row.reason)
