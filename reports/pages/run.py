"""The page of one run: everything its template may use, decided."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from django.urls import reverse
from evalrunner.compare import Tally, tally

from reports.domain.expressions import Expression, expressions
from reports.domain.grammar import Sign, outcome_of
from reports.models import Execution, Run
from reports.pages.parts import Bar, Crumb, Empty, Fact, Pager
from reports.pages.run_cases import (
    ORDER_OPTIONS,
    STATUS_OPTIONS,
    CaseLine,
    Option,
    case_lines,
    case_pager,
    narrowed_to,
    no_cases,
    options,
)
from reports.pages.run_change import ChangeView, measured_run
from reports.pages.run_continuation import RunContinuation, run_continuation
from reports.pages.run_failures import ClusterLine, cluster_lines, failures_words
from reports.pages.run_links import cases_href, definition_href, run_crumbs
from reports.pages.run_words import run_facts, run_record, run_sentence
from reports.selectors import run as selector
from reports.selectors.harness import is_of_harness
from reports.selectors.notes import noted_run
from reports.selectors.run import CaseFilters

if TYPE_CHECKING:
    from reports.pages.live import LivePart


_NO_BASELINE = frozenset({"queued", "running", "rejected"})
"""Statuses of runs that are not offered as a baseline; others that are not completed can be pinned by force."""


@dataclass(frozen=True, slots=True)
class Notice:
    level: str
    text: str


@dataclass(frozen=True, slots=True)
class RunPage:
    """``live`` is the moving part of a run that is executed here (None otherwise).

    ``baseline_words`` say by which rule the baseline behind ``baseline_href`` was found; ``change`` is how the run
    stands against it, None without one. ``side`` is what the comparison calls the run, "" while it has no cases.
    """

    run: Run
    title: str
    outcome: Sign
    sentence: str
    crumbs: tuple[Crumb, ...]
    facts: tuple[Fact, ...]
    bar: Bar
    tally: Tally
    clusters: tuple[ClusterLine, ...]
    signatures: int
    clusters_left: int
    cases: tuple[CaseLine, ...]
    pager: Pager
    filters: CaseFilters
    clear_href: str
    narrowed_to: tuple[str, ...]
    status_options: tuple[Option, ...]
    order_options: tuple[Option, ...]
    tag_options: tuple[Option, ...]
    suite_assertions: tuple[Expression, ...]
    execution: Execution | None
    continuation: RunContinuation
    baseline_href: str
    baseline_words: str
    change: ChangeView | None
    rerun_href: str
    side: str
    may_be_baseline: bool
    has_report: bool
    is_harness: bool
    notices: tuple[Notice, ...]
    failures_words: str
    attention: str
    no_failures_words: str
    empty: Empty
    suite_words: str
    definition_words: str
    definition_href: str
    record: tuple[Fact, ...]
    live: "LivePart | None" = None


def run_page(
    run: Run,
    filters: CaseFilters,
    cursor: str,
    *,
    live: "LivePart | None" = None,
    may_run: bool = False,
    may_triage: bool = False,
) -> RunPage:
    """Read and decide all that the page of a run shows."""
    cases = selector.list_cases(run, filters, cursor=cursor)
    found_clusters, signatures = selector.clusters(run)
    counts = selector.status_counts(run)
    counted = tally(counts)
    measured = measured_run(run)
    execution = selector.execution_of(run) if live is not None else None
    noted = noted_run(team=run.team, run=run)
    return RunPage(
        run=run,
        title=f"{run.version.target.target_id} @ {run.version.label or run.version.fingerprint}",
        outcome=outcome_of(run.status, is_passing=run.is_passing, is_executed=execution is not None),
        sentence=run_sentence(run, counted, is_executed=execution is not None),
        crumbs=run_crumbs(run),
        facts=run_facts(run, execution),
        bar=Bar.of(counts, href=lambda status: cases_href(run, CaseFilters(status=status), ""), is_tall=True),
        tally=counted,
        clusters=cluster_lines(run, found_clusters, counts, noted, may_triage=may_triage),
        signatures=signatures,
        clusters_left=signatures - len(found_clusters),
        cases=case_lines(run, cases, filters),
        pager=case_pager(run, filters, cases, cursor),
        filters=filters,
        clear_href=cases_href(run, CaseFilters(), "") if filters.is_narrow else "",
        narrowed_to=narrowed_to(filters, cases, found_clusters),
        status_options=options(STATUS_OPTIONS, filters.status),
        order_options=options(ORDER_OPTIONS, filters.order),
        tag_options=options((("", "Any tag"), *((tag, tag) for tag in selector.scenario_tags(run))), filters.tag),
        suite_assertions=_suite_assertions(run),
        execution=execution,
        continuation=run_continuation(run, filters, execution=execution, may_run=may_run),
        baseline_href=measured.href,
        baseline_words=measured.words,
        change=measured.change,
        rerun_href=f"{reverse('new-run')}?{urlencode({'rerun': str(run.pk)})}" if may_run else "",
        side=f"run:{run.pk}" if run.generation_id is not None else "",
        may_be_baseline=run.generation_id is not None and run.status not in _NO_BASELINE,
        has_report=run.run_id != "",
        is_harness=is_of_harness(run),
        notices=_notices(run) if live is None else tuple(Notice(each.level, each.text) for each in live.notices),
        failures_words=failures_words(counts, signatures),
        attention=noted.attention.headline,
        no_failures_words=_no_failures(counted, live),
        empty=no_cases(run, filters),
        suite_words=f"{run.suite_assertions - run.suite_assertions_failed} of {run.suite_assertions} hold",
        definition_words=f"{run.revision.scenario_count:,} scenario{'' if run.revision.scenario_count == 1 else 's'}",
        definition_href=definition_href(run),
        record=run_record(run),
        live=live,
    )


def _no_failures(counted: Tally, live: "LivePart | None") -> str:
    if live is not None and live.is_under_way:
        return "Nothing had failed when this page was opened."  # what moves by itself stands above
    return "Nothing failed." if counted.decided else "No case has been decided."


def _notices(run: Run) -> tuple[Notice, ...]:
    """Say what a reader of an imported run must know before reading counts."""
    if run.status != "running":
        return ()
    return (Notice("info", "Imported while its run went on. Import the final report to update it."),)


def _suite_assertions(run: Run) -> tuple[Expression, ...]:
    results: Sequence[Mapping[str, Any]] = selector.suite_results(run)
    return expressions(results, selector.suite_assertion_definitions(run)) if results else ()
