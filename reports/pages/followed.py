"""The part of an imported run's page that moves while somebody publishes snapshots of it.

There are no events here, only snapshots: the page asks every few seconds, and only while the last snapshot is young. A
run whose snapshots have stopped coming costs nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlencode

from django.urls import reverse
from django.utils import timezone
from evalrunner.compare import tally

from reports.models import CASE_STATUSES, Run
from reports.pages.live import RunningLine, Shown, running_line
from reports.pages.parts import Bar
from reports.pages.run import run_sentence
from reports.selectors import live as selector

YOUNG_S = 90.0  # `evalrunner push --follow` pauses for a minute at most
POLL_S = 5


@dataclass(frozen=True, slots=True)
class FollowedPart:
    """``poll_href`` is empty once the last snapshot, of ``snapshot_at``, is too old to be asked after.

    ``news`` says how many cases have ended since the page, whose tables do not move, was loaded.
    """

    poll_href: str
    poll_s: int
    page_href: str
    answer: str
    sentence: str
    snapshot_at: datetime
    bar: Bar
    cases: tuple[RunningLine, ...]
    news: str


def is_followed(run: Run) -> bool:
    """Tell whether a run goes on elsewhere: it was imported, and its report is not finished."""
    return run.status == "running" and not selector.is_executed_here(run)


def followed_part(run: Run) -> FollowedPart | None:
    """Return the moving part of an imported run that goes on elsewhere; None for any other run."""
    return _part(run, done=_done(run)) if is_followed(run) else None


def followed_update(run: Run, shown: Shown) -> FollowedPart | None:
    """Return what a reader has not been shown yet; None when that is nothing."""
    return None if shown.seen == _seen(run) else _part(run, done=shown.done)


def _part(run: Run, *, done: int) -> FollowedPart:
    query = urlencode({"seen": _seen(run), "done": done})
    counts = {status: getattr(run, status) for status in CASE_STATUSES}
    return FollowedPart(
        poll_href=f"{reverse('run-live', args=[run.pk])}?{query}" if _is_young(run) else "",
        poll_s=POLL_S,
        page_href=reverse("run", args=[run.pk]),
        answer=run_sentence(run, tally(counts)),
        sentence=f"{_done(run):,} of {run.total:,} cases done, {run.running:,} running, {run.pending:,} waiting.",
        snapshot_at=run.updated_at,
        bar=Bar.of(counts, is_tall=True),
        cases=tuple(running_line(run, case) for case in selector.running_cases(run)),
        news=_news(_done(run) - done),
    )


def _done(run: Run) -> int:
    return run.total - run.pending - run.running


def _seen(run: Run) -> str:
    return f"{run.updated_at.timestamp():.6f}{'' if _is_young(run) else '-old'}"


def _is_young(run: Run) -> bool:
    return timezone.now() - run.updated_at < timedelta(seconds=YOUNG_S)


def _news(ended: int) -> str:
    return f"{ended:,} case{' has' if ended == 1 else 's have'} ended since this page was loaded" if ended > 0 else ""
