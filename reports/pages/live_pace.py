"""How fast a run that is executed here goes, and how long it still takes."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils import timezone

from reports.domain.pacing import Earlier, Progress, VariantCases, estimate_left, planned_cases
from reports.domain.wording import duration_in_words
from reports.models import Execution, Run
from reports.selectors.live import ExecutionRow, VariantProgress, scenario_shapes
from reports.selectors.pacing import known_durations
from reports.services.run_suites import parsed_suite


def pace_words(run: Run, execution: ExecutionRow, variants: Sequence[VariantProgress]) -> str:
    """Say how many cases end a minute, how long the rest will take, and from what that is known; "" while nothing is.

    ``variants`` are the run's cases; none while it waits, or where it is too large to look into.
    """
    if run.status not in ("queued", "running"):
        return ""
    earlier = _earlier(run)
    progress = Progress(execution.options.lanes, _ended_here(run, execution), _elapsed_ms(run, execution))
    found = estimate_left(_cases(run, execution, variants), earlier, progress)
    if found is not None and run.status == "queued":
        return f"About {duration_in_words(found.left_ms)} once it begins, {found.source}."
    words = ", ".join(each for each in (_rate_words(progress), found.words if found else "") if each)
    return f"{words[:1].upper()}{words[1:]}"


def _earlier(run: Run) -> Earlier:
    version, suite = run.version, run.revision.suite
    return known_durations(run.team_id, version.target.key, suite.key, run.pk, run.status)


def _elapsed_ms(run: Run, execution: ExecutionRow) -> float:
    begun_at = run.started_at or execution.claimed_at
    return max((timezone.now() - begun_at).total_seconds() * 1000, 1.0) if begun_at is not None else 0.0


def _rate_words(progress: Progress) -> str:
    if not (progress.ended and progress.elapsed_ms):
        return ""
    rate = progress.ended / progress.elapsed_ms * 60_000
    return f"{rate:,.0f} cases a minute" if rate >= 10 else f"{rate:,.1f} cases a minute"


def _ended_here(run: Run, execution: ExecutionRow) -> int:
    """Return how many cases have ended in this run: one that goes on with another took some over as they were."""
    if execution.verb == Execution.Verb.RUN:
        return run.total - run.pending - run.running
    return max(0, execution.planned_cases - run.pending - run.running) if run.total else 0


def _cases(run: Run, execution: ExecutionRow, variants: Sequence[VariantProgress]) -> Sequence[VariantCases]:
    if variants:
        may_write = execution.options.allow_external_writes
        turns = {name: shape.turns(may_write=may_write) for name, shape in scenario_shapes(run).items()}
        return [_variant_cases(each, turns.get(each.scenario_id, 1)) for each in variants]
    if not run.total and execution.verb == Execution.Verb.RUN:
        return planned_cases(parsed_suite(run.revision), execution.options)
    turns_each = max(1, round(execution.planned_turns / max(1, execution.planned_cases)))
    waiting = run.pending if run.total else execution.planned_cases
    ended = run.total - run.pending - run.running
    return [VariantCases("", turns_each, waiting, run.running, ended)]


def _variant_cases(row: VariantProgress, turns: int) -> VariantCases:
    waiting, running = row.counts.get("pending", 0), row.counts.get("running", 0)
    return VariantCases(row.key, turns, waiting, running, sum(row.counts.values()) - waiting - running)
