"""The page of one run: everything its template may use, decided."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from django.urls import reverse
from evalrunner.compare import Tally, percent_text, tally, tally_statuses
from evalrunner.compare.outcomes import FAILING_STATUSES

from reports.domain.attention import Attention, Standing
from reports.domain.expressions import Expression, expressions
from reports.domain.grammar import Sign, outcome_of
from reports.domain.run_options import RunOptions
from reports.domain.wording import counted as number_of
from reports.domain.wording import duration_in_words
from reports.models import Execution, Run
from reports.pages.note_marks import NoteMark, note_mark
from reports.pages.notes import new_note_href
from reports.pages.parts import Action, Bar, Crumb, Empty, Fact, Pager, Pips
from reports.pages.run_change import ChangeView, measured_run
from reports.pages.run_continuation import RunContinuation, first_tally, run_continuation
from reports.selectors import run as selector
from reports.selectors.harness import is_of_harness
from reports.selectors.lineage import places_passed_on_retry
from reports.selectors.notes import NotedRun, note_words, noted_run
from reports.selectors.run import CaseFilters, CaseRow, CasesPage, Cluster, Pip

if TYPE_CHECKING:
    from reports.pages.live import LivePart

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
    "interrupted": "Interrupted",
    "rejected": "Could not begin",
}
_IMPORTED = {
    "upload": "uploaded",
    "api": "sent through the API",
    "web": "stored here",
    "command": "imported on the command line",
}
_STARTED = {
    "upload": "started here",
    "api": "started through the API",
    "web": "started here",
    "command": "started on the command line",
}


@dataclass(frozen=True, slots=True)
class CaseLine:
    """A row of the cases table. ``reason`` says what failed, or why it never ran.

    ``note`` tells that it passes only since it was retried.
    """

    row: CaseRow
    href: str
    variants: str
    reason: str
    note: str
    pips: Pips | None


@dataclass(frozen=True, slots=True)
class ClusterLine:
    """A group of failures. ``share`` is of all failing cases; ``bar`` that share in whole percent.

    ``attention`` says how many of its cases notes do not cover; "" where they cover none.
    """

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
    note: NoteMark
    attention: str


@dataclass(frozen=True, slots=True)
class Notice:
    level: str
    text: str


@dataclass(frozen=True, slots=True)
class Option:
    value: str
    label: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class RunPage:
    """``live`` is the moving part of a run that is executed here (None otherwise).

    ``baseline_words`` say by which rule the baseline behind ``baseline_href`` was found; ``change`` is how the run
    stands against it, None without one.
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
    marks = _marks(run, found_clusters, noted, may_triage=may_triage)
    return RunPage(
        run=run,
        title=f"{run.version.target.target_id} @ {run.version.label or run.version.fingerprint}",
        outcome=outcome_of(run.status, is_passing=run.is_passing, is_executed=execution is not None),
        sentence=run_sentence(run, counted, is_executed=execution is not None),
        crumbs=run_crumbs(run),
        facts=_facts(run, execution),
        bar=Bar.of(counts, href=lambda status: _cases_href(run, CaseFilters(status=status), ""), is_tall=True),
        tally=counted,
        clusters=tuple(_cluster_line(run, cluster, counts, noted, marks[cluster.pk]) for cluster in found_clusters),
        signatures=signatures,
        clusters_left=signatures - len(found_clusters),
        cases=_case_lines(run, cases, filters),
        pager=_pager(run, filters, cases, cursor),
        filters=filters,
        clear_href=_cases_href(run, CaseFilters(), "") if filters.is_narrow else "",
        narrowed_to=_narrowed_to(filters, cases, found_clusters),
        status_options=_options(STATUS_OPTIONS, filters.status),
        order_options=_options(ORDER_OPTIONS, filters.order),
        tag_options=_options((("", "Any tag"), *((tag, tag) for tag in selector.scenario_tags(run))), filters.tag),
        suite_assertions=_suite_assertions(run),
        execution=execution,
        continuation=run_continuation(run, filters, execution=execution, may_run=may_run),
        baseline_href=measured.href,
        baseline_words=measured.words,
        change=measured.change,
        rerun_href=f"{reverse('new-run')}?{urlencode({'rerun': str(run.pk)})}" if may_run else "",
        side=f"run:{run.pk}",
        has_report=run.run_id != "",
        is_harness=is_of_harness(run),
        notices=_notices(run) if live is None else tuple(Notice(each.level, each.text) for each in live.notices),
        failures_words=_failures_words(counts, signatures),
        attention=noted.attention.headline,
        no_failures_words="Nothing failed." if counted.decided else "No case has been decided.",
        empty=_empty(run, filters),
        suite_words=f"{run.suite_assertions - run.suite_assertions_failed} of {run.suite_assertions} hold",
        definition_words=f"{run.revision.scenario_count:,} scenario{'' if run.revision.scenario_count == 1 else 's'}",
        definition_href=_definition_href(run),
        record=_record(run),
        live=live,
    )


def run_sentence(run: Run, counted: Tally, *, is_executed: bool = True) -> str:
    """Answer in one sentence whether the run passed, in words and numbers: those of the attempts that rates count.

    ``counted`` are the run's own cases; what they are after retries stands beside. Without ``is_executed`` nothing runs
    here: a report that says so was published before its run ended.
    """
    first = first_tally(run) or counted
    numbers = f"{first.passed} of {first.decided} decided cases passed ({first.percent})" if first.decided else ""
    after = f"after retries {counted.passed} of {counted.decided} ({counted.percent})" if first != counted else ""
    parts = [part for part in (numbers, _undecided_words(first), after, _suite_words(run)) if part]
    said = "; ".join(parts) or "no case has been decided"
    if run.status == "completed":
        passed = "Passed on retry" if first.passed < counted.passed else "Passed"
        return f"{passed if run.is_passing else 'Did not pass'}: {said}."
    return f"{_ENDINGS[run.status] if is_executed or run.status != 'running' else 'Unfinished'}: {said}."


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


def _definition_href(run: Run) -> str:
    return f"{reverse('suite', args=[run.revision.suite_id])}?revision={run.revision_id}"


def _notices(run: Run) -> tuple[Notice, ...]:
    """Say what a reader of an imported run must know before reading counts."""
    if run.status != "running":
        return ()
    return (Notice("info", "Imported while its run went on. Import the final report to update it."),)


def _failures_words(counts: Mapping[str, int], signatures: int) -> str:
    failing = _failing(counts)
    return f"{number_of(failing, 'case')}, {number_of(signatures, 'signature')}" if failing else ""


def _failing(counts: Mapping[str, int]) -> int:
    return sum(counts[status] for status in FAILING_STATUSES)


def _empty(run: Run, filters: CaseFilters) -> Empty:
    if filters.is_narrow:
        everything = Action("Show all cases", _cases_href(run, CaseFilters(), ""))
        return Empty("No case fits this filter", "Widen the filter, or look for another text.", (everything,))
    waiting = "They appear here as soon as a worker has begun." if run.status == "queued" else ""
    return Empty("This run has no cases", waiting)


def _record(run: Run) -> tuple[Fact, ...]:
    return (
        Fact("Run id", run.run_id, is_mono=True),
        Fact("Report’s start", run.started_text, is_mono=True),
        Fact("Report’s end", run.finished_text, is_mono=True),
        Fact("Format", run.format),
        Fact("File", run.file_name),
        Fact("Size", f"{run.byte_size:,} bytes" if run.byte_size is not None else ""),
        Fact("SHA-256 of the file", run.content_hash, is_mono=True),
        Fact("Compatibility fingerprint", run.compatibility_fingerprint, is_mono=True),
        Fact("Stored", at=run.created_at),
        Fact("Last change", at=run.updated_at),
    )


def run_crumbs(run: Run, *further: Crumb) -> tuple[Crumb, ...]:
    """Return the breadcrumb of a run's pages: target @ fingerprint, suite, when."""
    target = run.version.target
    here = Crumb(f"run of {run.revision.suite.name}", reverse("run", args=[run.pk]), run.ordered_at)
    return (
        Crumb("Runs", reverse("runs")),
        Crumb(target.target_id, reverse("target", args=[target.pk])),
        Crumb(run.version.label or run.version.fingerprint),
        here,
        *further,
    )


def _facts(run: Run, execution: Execution | None) -> tuple[Fact, ...]:
    suite = run.revision.suite
    facts = [
        Fact("Target", run.version.target.target_id, reverse("target", args=[run.version.target_id])),
        Fact("Fingerprint", run.version.fingerprint, is_mono=True),
        Fact("Suite", suite.name, _definition_href(run)),
        Fact("Suite revision", run.revision.digest[:12], is_mono=True),
        Fact("Started", "" if run.started_at else run.started_text, at=run.started_at),
        Fact("Duration", duration_in_words(duration_ms(run)) if duration_ms(run) is not None else ""),
        Fact("Origin", _origin_words(run, is_executed=execution is not None)),
    ]
    if execution is not None and execution.request.get("concurrency"):
        facts.append(Fact("Concurrency", concurrency_words(RunOptions.from_data(execution.request))))
    return tuple(facts)


def concurrency_words(options: RunOptions) -> str:
    in_each = f" in each of {options.shards:,} shards" if options.shards > 1 else ""
    return f"{options.concurrency:,}{in_each}"


def _origin_words(run: Run, *, is_executed: bool) -> str:
    came = (_STARTED if is_executed else _IMPORTED)[run.origin]
    return f"{came} by {run.created_by.get_username()}" if run.created_by else came


def _pager(run: Run, filters: CaseFilters, cases: CasesPage, cursor: str) -> Pager:
    words = f"{len(cases.rows):,} of {cases.found:,} cases"
    return Pager(
        text=words if cases.found > len(cases.rows) else f"{cases.found:,} case{'' if cases.found == 1 else 's'}",
        first_href=_cases_href(run, filters, "") if cursor else "",
        next_href=_cases_href(run, filters, cases.cursor) if cases.cursor else "",
        next_text="Next",
    )


def _cases_href(run: Run, filters: CaseFilters, cursor: str | None) -> str:
    query = filters.query() | ({"after": cursor} if cursor else {})
    return reverse("run", args=[run.pk]) + (f"?{urlencode(query)}" if query else "") + "#cases"


def _narrowed_to(filters: CaseFilters, cases: CasesPage, clusters: Sequence[Cluster]) -> tuple[str, ...]:
    words = []
    if filters.signature:
        named = next((each.words for each in clusters if each.key == filters.signature), "")
        words.append(f"failing like “{named}”" if named else "one failure signature")
    if filters.variant:
        scenario = next((row.scenario_id for row in cases.rows), "")
        words.append(f"one scenario variant of {scenario}" if scenario else "one scenario variant")
    return tuple(words)


def _options(options: Sequence[tuple[str, str]], chosen: str) -> tuple[Option, ...]:
    return tuple(Option(value, label, value == chosen) for value, label in options)


def _case_lines(run: Run, page: CasesPage, filters: CaseFilters) -> tuple[CaseLine, ...]:
    """Return the rows; repetitions stand beside the first of neighbouring rows of one scenario variant."""
    before = (None, *(row.variant_id for row in page.rows))
    retried = places_passed_on_retry(run, [row.position for row in page.rows])
    return tuple(
        _case_line(run, row, page.siblings[row.variant_id] if row.variant_id != above else (), filters, retried)
        for row, above in zip(page.rows, before, strict=False)
    )


def _case_line(run: Run, row: CaseRow, pips: Sequence[Pip], filters: CaseFilters, retried: frozenset[int]) -> CaseLine:
    return CaseLine(
        row=row,
        href=case_href(run, row.position, filters),
        variants=variants_words(row.variants),
        reason=row.failing or row.skip_reason or (row.error_code if row.status != "passed" else ""),
        note="passed on retry" if row.position in retried else "",
        pips=_pips(pips) if len(pips) > 1 else None,
    )


def case_pips(run: Run, pips: Sequence[Pip]) -> Pips:
    """Return the repetitions of a scenario variant as marks that lead to each."""
    return _pips(pips, [case_href(run, pip.position) for pip in pips])


def _pips(pips: Sequence[Pip], hrefs: Sequence[str] | None = None) -> Pips:
    statuses = [pip.status for pip in pips]
    return Pips.of(statuses, text=tally_statuses(statuses).words, hrefs=hrefs)


def variants_words(variants: Mapping[str, str]) -> str:
    """Return the chosen variants: "search: polite, select: first"; "" where the scenario has none."""
    return ", ".join(f"{step}: {variant}" for step, variant in variants.items())


def _marks(run: Run, clusters: Sequence[Cluster], noted: NotedRun, *, may_triage: bool) -> dict[int, NoteMark]:
    """Return the mark of each cluster: the note on its signature, or where to write one."""
    words = note_words(team=run.team, pks=noted.on_signature.values())
    here = f"{reverse('run', args=[run.pk])}#failures"
    return {
        each.pk: note_mark(
            words.get(noted.on_signature.get(each.pk, 0)),
            Standing.STILL_FAILS if noted.covered.get(each.pk, 0) < each.cases else Standing.COVERED,
            new_href=new_note_href(target=run.version.target_id, run=run.pk, signature=each.key, following=here),
            may_write=may_triage,
        )
        for each in clusters
    }


def _cluster_line(
    run: Run, cluster: Cluster, counts: Mapping[str, int], noted: NotedRun, note: NoteMark
) -> ClusterLine:
    failing = _failing(counts)
    filters = CaseFilters(status="failures", signature=cluster.key)
    covered = noted.covered.get(cluster.pk, 0)
    return ClusterLine(
        what=_cluster_what(cluster),
        where={"turn": f"step {cluster.step_id}", "scenario": "at the end"}.get(cluster.scope, "the case itself"),
        detail=cluster.first_failing,
        cases=cluster.cases,
        variants=cluster.variants,
        share=percent_text(cluster.cases, failing),
        bar=round(100 * cluster.cases / failing),
        href=_cases_href(run, filters, ""),
        first_href=case_href(run, cluster.first_position, filters),
        first_scenario=cluster.first_scenario,
        note=note,
        attention=Attention(cluster.cases, covered).words if covered else "",
    )


def _cluster_what(cluster: Cluster) -> str:
    paths = [" › ".join(path) for path in cluster.assertions]
    return ", ".join(paths[:3]) + (f" and {len(paths) - 3} more" if len(paths) > 3 else "") or cluster.error_code


def _suite_assertions(run: Run) -> tuple[Expression, ...]:
    results: Sequence[Mapping[str, Any]] = selector.suite_results(run)
    return expressions(results, selector.suite_assertion_definitions(run)) if results else ()
