"""The part of an imported run's page that moves while somebody publishes snapshots of it.

There are no events here, only snapshots: the page asks every few seconds while the last one is young, every minute
while the next is awaited, and then no more.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlencode

from django.urls import reverse
from django.utils import timezone
from evalrunner.compare import tally

from reports.domain.snapshots import AWAITED_S, YOUNG_S
from reports.models import CASE_STATUSES, Run
from reports.pages.live import RunningLine, Shown, running_line
from reports.pages.parts import Bar
from reports.pages.run_words import run_sentence
from reports.selectors import live as selector

OFTEN_S, SELDOM_S = 5, 60


@dataclass(frozen=True, slots=True)
class FollowedPart:
    """``snapshot_at`` is when the last snapshot came, ``waiting`` what to expect of the next.

    ``poll_href`` asks for it, every ``poll_s`` seconds; both are empty once it is expected no more.

    ``news`` says how many cases have ended since the page, whose tables do not move, was loaded.
    """

    poll_href: str
    poll_s: int
    page_href: str
    answer: str
    sentence: str
    snapshot_at: datetime
    waiting: str
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
    poll_s = _poll_s(run)
    query = urlencode({"seen": _seen(run), "done": done})
    counts = {status: getattr(run, status) for status in CASE_STATUSES}
    return FollowedPart(
        poll_href=f"{reverse('run-live', args=[run.pk])}?{query}" if poll_s else "",
        poll_s=poll_s,
        page_href=reverse("run", args=[run.pk]),
        answer=run_sentence(run, tally(counts), is_executed=False),
        sentence=f"{_done(run):,} of {run.total:,} cases done, {run.running:,} running, {run.pending:,} waiting.",
        snapshot_at=run.updated_at,
        waiting=_WAITING[poll_s],
        bar=Bar.of(counts, is_tall=True),
        cases=tuple(running_line(run, case) for case in selector.running_cases(run)),
        news=_news(_done(run) - done),
    )


def _done(run: Run) -> int:
    return run.total - run.pending - run.running


def _seen(run: Run) -> str:
    return f"{run.updated_at.timestamp():.6f}-{_poll_s(run)}"


_WAITING = {
    OFTEN_S: "this part follows by itself.",
    SELDOM_S: "none has come since; this part looks again every minute.",
    0: "none has come since.",
}


def _poll_s(run: Run) -> int:
    """Return how often a page should ask for the next snapshot, in seconds; 0 for no more."""
    age_s = (timezone.now() - run.updated_at).total_seconds()
    if age_s < YOUNG_S:
        return OFTEN_S
    return SELDOM_S if age_s < AWAITED_S else 0


def _news(ended: int) -> str:
    return f"{ended:,} case{' has' if ended == 1 else 's have'} ended since this page was loaded" if ended > 0 else ""
