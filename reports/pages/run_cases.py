"""The cases table of a run: rows, filters, pages."""

from collections.abc import Sequence
from dataclasses import dataclass

from evalrunner.compare import tally_statuses

from reports.models import Run
from reports.pages.parts import Action, Empty, Pager, Pips
from reports.pages.run_links import case_href, cases_href
from reports.pages.run_words import variants_words
from reports.selectors.lineage import places_passed_on_retry
from reports.selectors.run import CaseFilters, CaseRow, CasesPage, Cluster, Pip

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
class Option:
    value: str
    label: str
    is_chosen: bool


def case_lines(run: Run, page: CasesPage, filters: CaseFilters) -> tuple[CaseLine, ...]:
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
        reason=row.failing
        or row.skip_reason
        or _unfinished(run, row)
        or (row.error_code if row.status != "passed" else ""),
        note="passed on retry" if row.position in retried else "",
        pips=_pips(pips) if len(pips) > 1 else None,
    )


def _unfinished(run: Run, row: CaseRow) -> str:
    """Say that a case does not run any more, whatever its report says, once the worker of its run has vanished."""
    return "was running when its worker vanished" if (run.status, row.status) == ("interrupted", "running") else ""


def case_pips(run: Run, pips: Sequence[Pip]) -> Pips:
    """Return the repetitions of a scenario variant as marks that lead to each."""
    return _pips(pips, [case_href(run, pip.position) for pip in pips])


def _pips(pips: Sequence[Pip], hrefs: Sequence[str] | None = None) -> Pips:
    statuses = [pip.status for pip in pips]
    return Pips.of(statuses, text=tally_statuses(statuses).words, hrefs=hrefs)


def case_pager(run: Run, filters: CaseFilters, cases: CasesPage, cursor: str) -> Pager:
    words = f"{len(cases.rows):,} of {cases.found:,} cases"
    return Pager(
        text=words if cases.found > len(cases.rows) else f"{cases.found:,} case{'' if cases.found == 1 else 's'}",
        first_href=cases_href(run, filters, "") if cursor else "",
        next_href=cases_href(run, filters, cases.cursor) if cases.cursor else "",
        next_text="Next",
    )


def narrowed_to(filters: CaseFilters, cases: CasesPage, clusters: Sequence[Cluster]) -> tuple[str, ...]:
    words = []
    if filters.signature:
        named = next((each.words for each in clusters if each.key == filters.signature), "")
        words.append(f"failing like “{named}”" if named else "one failure signature")
    if filters.variant:
        scenario = next((row.scenario_id for row in cases.rows), "")
        words.append(f"one scenario variant of {scenario}" if scenario else "one scenario variant")
    return tuple(words)


def no_cases(run: Run, filters: CaseFilters) -> Empty:
    if filters.is_narrow:
        everything = Action("Show all cases", cases_href(run, CaseFilters(), ""))
        return Empty("No case fits this filter", "Widen the filter, or look for another text.", (everything,))
    waiting = "They appear here as soon as a worker has begun." if run.status == "queued" else ""
    return Empty("This run has no cases", waiting)


def options(options: Sequence[tuple[str, str]], chosen: str) -> tuple[Option, ...]:
    return tuple(Option(value, label, value == chosen) for value, label in options)
