"""The timings section of a run's page, read when the reader comes to it."""

from dataclasses import dataclass
from itertools import pairwise

from django.urls import reverse

from reports.models import Run
from reports.pages.run_links import case_href
from reports.selectors import run as selector


@dataclass(frozen=True, slots=True)
class DurationClass:
    """Cases that took a time in one class; ``bar`` in percent of the largest class."""

    words: str
    count: int
    bar: int


@dataclass(frozen=True, slots=True)
class Slow:
    what: str
    duration_ms: float
    href: str


@dataclass(frozen=True, slots=True)
class TimingsView:
    run: Run
    title: str
    measured: int
    mean_ms: float | None
    classes: tuple[DurationClass, ...]
    slowest_cases: tuple[Slow, ...]
    slowest_turns: tuple[Slow, ...]
    run_href: str


def timings_view(run: Run) -> TimingsView:
    """Return the timings section of a run."""
    timings = selector.timings(run)
    largest = max((*timings.classes, 1))
    return TimingsView(
        run=run,
        title=f"Timings of {run.version.target.target_id}",
        measured=timings.measured,
        mean_ms=timings.total_ms / timings.measured if timings.measured else None,
        classes=tuple(
            DurationClass(words, count, round(100 * count / largest))
            for words, count in zip(_class_words(), timings.classes, strict=True)
        ),
        slowest_cases=tuple(Slow(what, ms, case_href(run, place)) for place, what, ms in timings.slowest_cases),
        slowest_turns=tuple(Slow(what, ms, case_href(run, place)) for place, what, ms in timings.slowest_turns),
        run_href=reverse("run", args=[run.pk]),
    )


def _class_words() -> tuple[str, ...]:
    edges = [f"{edge} ms" if edge < 1_000 else f"{edge / 1000:g} s" for edge in selector.DURATION_EDGES]
    between = [f"{low} – {high}" for low, high in pairwise(edges)]
    return (f"under {edges[0]}", *between, f"{edges[-1]} or more")
