"""The page of one run: everything its template may use, decided."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from evalrunner.compare import Tally, percent_text, tally

from reports.domain.expressions import Expression, expressions
from reports.models import Execution, Run
from reports.selectors import run as selector
from reports.selectors.run import CaseFilters, CaseRow, CasesPage, Cluster, Lineage, Pip

STATUS_OPTIONS = (
    ("", "All cases"),
    ("failures", "Failed and errors"),
    ("undecided", "Undecided"),
    ("passed", "Passed"),
    ("failed", "Failed"),
    ("error", "Error"),
    ("skipped", "Skipped"),
    ("blocked", "Blocked"),
    ("cancelled", "Cancelled"),
    ("running", "Running"),
    ("pending", "Pending"),
)
ORDER_OPTIONS = (
    ("place", "Place in the report"),
    ("scenario", "Scenario"),
    ("status", "Status"),
    ("turns", "Most turns first"),
    ("duration", "Slowest first"),
)
_ENDINGS = {
    "queued": "Waiting for a worker",
    "running": "Running",
    "cancelled": "Cancelled",
    "limited": "Stopped by its failure limit",
    "interrupted": "Interrupted: its worker vanished",
    "rejected": "Could not begin",
}


@dataclass(frozen=True, slots=True)
class PipLink:
    status: str
    href: str
    title: str
    is_current: bool = False


@dataclass(frozen=True, slots=True)
class CaseLine:
    """A row of the cases table. ``reason`` says what failed, or why it never ran."""

    row: CaseRow
    href: str
    variants: str
    reason: str
    pips: tuple[PipLink, ...]
    scenario_href: str


@dataclass(frozen=True, slots=True)
class ClusterLine:
    """A group of failures. ``share`` is of all failing cases; ``bar`` that share in whole percent."""

    what: str
    where: str
    detail: str
    cases: int
    variants: int
    share: str
    bar: int
    href: str
    first_href: str
    first_scenario: str


@dataclass(frozen=True, slots=True)
class Segment:
    """One part of a status bar and what it links to."""

    status: str
    count: int
    href: str


@dataclass(frozen=True, slots=True)
class Option:
    value: str
    label: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class RunPage:
    """``live`` is the fragment of a run that goes on here (None otherwise)."""

    run: Run
    title: str
    outcome: str
    sentence: str
    counts: Mapping[str, int]
    segments: tuple[Segment, ...]
    tally: Tally
    clusters: tuple[ClusterLine, ...]
    signatures: int
    clusters_left: int
    cases: tuple[CaseLine, ...]
    found: int
    next_href: str
    first_href: str
    filters: CaseFilters
    clear_href: str
    narrowed_to: tuple[str, ...]
    status_options: tuple[Option, ...]
    order_options: tuple[Option, ...]
    tag_options: tuple[Option, ...]
    suite_assertions: tuple[Expression, ...]
    execution: Execution | None
    resumed_from: Lineage | None
    resumed_in: tuple[Lineage, ...]
    previous_href: str
    rerun_href: str
    has_report: bool
    duration_ms: float | None
    live: object | None = None


def run_page(run: Run, filters: CaseFilters, cursor: str, *, live: object | None = None) -> RunPage:
    """Read and decide all that the page of a run shows."""
    cases = selector.list_cases(run, filters, cursor=cursor)
    found_clusters, signatures = selector.clusters(run)
    counts = selector.status_counts(run)
    counted = tally(counts)
    previous = selector.previous_version_run(run)
    execution = selector.execution_of(run) if run.origin in ("web", "api") else None
    return RunPage(
        run=run,
        title=f"{run.version.target.target_id} @ {run.version.label or run.version.fingerprint}",
        outcome=outcome_of(run),
        sentence=run_sentence(run, counted),
        counts=counts,
        segments=_segments(run, counts),
        tally=counted,
        clusters=tuple(_cluster_line(run, cluster, counts) for cluster in found_clusters),
        signatures=signatures,
        clusters_left=signatures - len(found_clusters),
        cases=tuple(_case_line(run, row, cases, filters) for row in cases.rows),
        found=cases.found,
        next_href=_cases_href(run, filters, cases.cursor) if cases.cursor else "",
        first_href=_cases_href(run, filters, "") if cursor else "",
        filters=filters,
        clear_href=_cases_href(run, CaseFilters(), "") if filters.is_narrow else "",
        narrowed_to=_narrowed_to(filters, cases),
        status_options=_options(STATUS_OPTIONS, filters.status),
        order_options=_options(ORDER_OPTIONS, filters.order),
        tag_options=_options((("", "Any tag"), *((tag, tag) for tag in selector.scenario_tags(run))), filters.tag),
        suite_assertions=_suite_assertions(run),
        execution=execution,
        resumed_from=selector.continued_from(run),
        resumed_in=selector.continued_in(run),
        previous_href=compare_href(previous.pk, run.pk) if previous else "",
        rerun_href=f"{reverse('new-run')}?{urlencode({'rerun': str(run.pk)})}",
        has_report=run.status not in ("queued", "rejected"),
        duration_ms=duration_ms(run),
        live=live,
    )


def outcome_of(run: Run) -> str:
    """Name the mark of a run: passed or failed once it is completed, else its status."""
    if run.status == "completed":
        return "passed" if run.is_passing else "failed"
    return {"queued": "pending", "limited": "failed", "interrupted": "error", "rejected": "error"}.get(
        run.status, run.status
    )


def run_sentence(run: Run, counted: Tally) -> str:
    """Answer in one sentence whether the run passed, in words and numbers."""
    numbers = (
        f"{counted.passed} of {counted.decided} decided cases passed ({counted.percent})" if counted.decided else ""
    )
    parts = [part for part in (numbers, _undecided_words(counted), _suite_words(run)) if part]
    said = "; ".join(parts) or "no case has been decided"
    if run.status == "completed":
        return f"{'Passed' if run.is_passing else 'Did not pass'}: {said}."
    return f"{_ENDINGS[run.status]}: {said}."


def _undecided_words(counted: Tally) -> str:
    return f"{counted.undecided} undecided" if counted.undecided else ""


def _suite_words(run: Run) -> str:
    if not run.suite_assertions_failed:
        return ""
    return f"{run.suite_assertions_failed} of {run.suite_assertions} suite assertions did not hold"


def duration_ms(run: Run) -> float | None:
    """Return how long the run took; None while it goes on, or where its times are no moments in order."""
    if run.started_at is None or run.finished_at is None or run.finished_at < run.started_at:
        return None
    return (run.finished_at - run.started_at).total_seconds() * 1000


def compare_href(baseline: object, candidate: object) -> str:
    return f"{reverse('compare')}?{urlencode({'baseline': str(baseline), 'candidate': str(candidate)})}"


def case_href(run: Run, position: int, filters: CaseFilters | None = None) -> str:
    """Return the address of a case, with the filter in which its reader walks."""
    query = filters.query() if filters else {}
    return reverse("case", args=[run.pk, position]) + (f"?{urlencode(query)}" if query else "")


def _segments(run: Run, counts: Mapping[str, int]) -> tuple[Segment, ...]:
    return tuple(
        Segment(status, count, _cases_href(run, CaseFilters(status=status), "")) for status, count in counts.items()
    )


def _cases_href(run: Run, filters: CaseFilters, cursor: str | None) -> str:
    query = filters.query() | ({"after": cursor} if cursor else {})
    return reverse("run", args=[run.pk]) + (f"?{urlencode(query)}" if query else "") + "#cases"


def _narrowed_to(filters: CaseFilters, cases: CasesPage) -> tuple[str, ...]:
    words = []
    if filters.signature:
        first = next((row.failing for row in cases.rows), "")
        words.append(f"failing like “{first}”" if first else "one failure signature")
    if filters.variant:
        scenario = next((row.scenario_id for row in cases.rows), "")
        words.append(f"one scenario variant of {scenario}" if scenario else "one scenario variant")
    return tuple(words)


def _options(options: Sequence[tuple[str, str]], chosen: str) -> tuple[Option, ...]:
    return tuple(Option(value, label, value == chosen) for value, label in options)


def _case_line(run: Run, row: CaseRow, page: CasesPage, filters: CaseFilters) -> CaseLine:
    pips = page.siblings.get(row.variant_id, ())
    return CaseLine(
        row=row,
        href=case_href(run, row.position, filters),
        variants=variants_words(row.variants),
        reason=row.failing or row.skip_reason or (row.error_code if row.status != "passed" else ""),
        pips=pip_links(run, pips, row.position) if len(pips) > 1 else (),
        scenario_href=_cases_href(run, CaseFilters(text=row.scenario_id), ""),
    )


def pip_links(run: Run, pips: Sequence[Pip], current: int) -> tuple[PipLink, ...]:
    return tuple(
        PipLink(
            pip.status,
            case_href(run, pip.position),
            f"Repetition {pip.repetition + 1}: {pip.status}",
            pip.position == current,
        )
        for pip in pips
    )


def variants_words(variants: Mapping[str, str]) -> str:
    """Return the chosen variants: "search: polite, select: first"; "" where the scenario has none."""
    return ", ".join(f"{step}: {variant}" for step, variant in variants.items())


def _cluster_line(run: Run, cluster: Cluster, counts: Mapping[str, int]) -> ClusterLine:
    failing = max(counts["failed"] + counts["error"], cluster.cases)
    return ClusterLine(
        what=_cluster_what(cluster),
        where={"turn": f"step {cluster.step_id}", "scenario": "at the end"}.get(cluster.scope, "the case itself"),
        detail=cluster.first_failing,
        cases=cluster.cases,
        variants=cluster.variants,
        share=percent_text(cluster.cases, failing),
        bar=round(100 * cluster.cases / failing),
        href=_cases_href(run, CaseFilters(signature=cluster.key), ""),
        first_href=case_href(run, cluster.first_position, CaseFilters(signature=cluster.key)),
        first_scenario=cluster.first_scenario,
    )


def _cluster_what(cluster: Cluster) -> str:
    paths = [" › ".join(path) for path in cluster.assertions]
    return ", ".join(paths[:3]) + (f" and {len(paths) - 3} more" if len(paths) > 3 else "") or cluster.error_code


def _suite_assertions(run: Run) -> tuple[Expression, ...]:
    results: Sequence[Mapping[str, Any]] = selector.suite_results(run)
    return expressions(results, selector.suite_assertion_definitions(run)) if results else ()


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
