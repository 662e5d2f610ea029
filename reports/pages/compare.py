"""The comparison: what changed between two versions, in one sentence, a matrix, clusters and rows."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import groupby
from urllib.parse import urlencode
from uuid import UUID

from django.urls import reverse
from evalrunner.compare import FOLDED, REGRESSIONS, Change, Cluster, ClusterChange, Group, Row, Tally, rates_in_words
from evalrunner.compare.verdict import p_text

from reports.domain.grammar import CHANGES, Sign, sign_of
from reports.domain.wording import count_in_words, duration_in_words
from reports.models import Team
from reports.pages.compare_beside import Marks, beside_marks
from reports.pages.compare_chips import filter_chips, hidden_members
from reports.pages.compare_frame import (
    Address,
    Menus,
    TokenView,
    chosen_words,
    comparison_crumbs,
    differences_in_words,
    token_view,
)
from reports.pages.compare_matrix import MatrixView, matrix_view
from reports.pages.compare_notes import NoteMarks, attention_words
from reports.pages.compare_verdict import VerdictView, looked_words, verdict_view
from reports.pages.definitions import definitions_href
from reports.pages.note_marks import NoteMark
from reports.pages.parts import Action, Chip, Crumb, Empty, Pager, Pips
from reports.selectors import compare_filters as filtering
from reports.selectors.baselines import list_baselines
from reports.selectors.compare import StoredComparison
from reports.selectors.compare_filters import RowFilters
from reports.selectors.compare_menus import offers
from reports.selectors.compare_rows import ShownSide, ShownSides, SignatureWords, shown_sides, signatures_in_words
from reports.selectors.compare_verdict import Judged
from reports.selectors.findings import RowTest
from reports.selectors.notes import NotedSide

CLUSTERS_SHOWN = 12
_PIPS_A_SIDE = 12  # with fifty rows and two sides, each more is a hundred links
_MOST_RERUN = 40  # scenarios in one address
_SMALLEST_SHIFT = 0.05  # of the mean duration; less is not worth a reader's eye
_TITLES = {
    Group.UNSTABLE_AND_WORSE: "unstable and worse",
    Group.FAILING_DIFFERENTLY: "failing differently",
    Group.REDEFINED: "redefined (measured otherwise than before)",
}


@dataclass(frozen=True, slots=True)
class ClusterLine:
    """Failures of one signature; ``counts`` are scenario variants before and now, ``cases`` the same in words."""

    change: str
    words: str
    counts: str
    cases: str
    href: str
    is_chosen: bool
    note: NoteMark


@dataclass(frozen=True, slots=True)
class RowLine:
    """One scenario variant. ``reason`` says what changed first; ``slower`` is "slower", "faster" or "".

    ``test`` says how likely chance alone is; "" for a row that stays out of the test.
    """

    anchor: str
    href: str
    scenario_id: str
    name: str
    chosen: str
    sign: Sign
    baseline: Pips
    candidate: Pips
    reason: str
    shift: str
    slower: str
    durations: str
    test: str
    marks: tuple[str, ...]
    note: NoteMark


@dataclass(frozen=True, slots=True)
class GroupView:
    """Consecutive rows of one group; ``count`` is of the whole group in this filter."""

    title: str
    sign: Sign
    count: int
    lines: tuple[RowLine, ...]
    anchor: str


@dataclass(frozen=True, slots=True)
class FoldedGroup:
    title: str
    sign: Sign
    count: int
    href: str


@dataclass(frozen=True, slots=True)
class ComparisonPage:
    title: str
    crumbs: tuple[Crumb, ...]
    baseline: TokenView
    candidate: TokenView
    swap_href: str
    actions: tuple[Action, ...]
    exports: tuple[Action, ...]
    verdict: VerdictView
    rates: str
    attention: str
    looked: str
    differences: tuple[str, ...]
    definitions_href: str
    matrix: MatrixView
    clusters: tuple[ClusterLine, ...]
    clusters_left: int
    chips: tuple[Chip, ...]
    text: str
    hidden: tuple[tuple[str, str], ...]
    groups: tuple[GroupView, ...]
    folded: tuple[FoldedGroup, ...]
    pager: Pager
    clear_href: str
    is_narrow: bool
    empty: Empty
    missing: tuple[str, ...]


def comparison_page(
    judged: Judged,
    filters: RowFilters,
    *,
    team: Team,
    address: Address,
    cursor: str,
    noted: NotedSide,
    may_run: bool,
    may_triage: bool,
    looked_at: datetime | None = None,
) -> ComparisonPage:
    """Read what the page shows of a comparison, and decide all of it."""
    stored, result = judged.stored, judged.stored.result
    page = filtering.page_of(
        stored, judged.ordered(filtering.matching_rows(stored, filters, team=team)), cursor, team=team
    )
    sides = (stored.baseline, stored.candidate)
    variants = [row.variant for row in page.rows]
    shown, beside = shown_sides(sides, variants), beside_marks(team, sides, variants)
    clusters = result.clusters[:CLUSTERS_SHOWN]
    words = signatures_in_words(team, [cluster.signature for cluster in clusters])
    accepted = stored.counted_definitions()
    notes = NoteMarks.of(judged, noted, address, team=team, may_write=may_triage)
    place = {"target": stored.candidate.target, "suite": stored.candidate.suite}
    menus = Menus(*offers(team=team, side=stored.candidate), list_baselines(team=team, **place))
    return ComparisonPage(
        title=" → ".join(side.label or side.fingerprint for side in sides),
        crumbs=comparison_crumbs(*sides),
        baseline=token_view("baseline", stored.baseline, address, menus, stored.rules[0].words),
        candidate=token_view("candidate", stored.candidate, address, menus, stored.rules[1].words),
        swap_href=address.swapped().page(),
        actions=_actions(stored, may_run=may_run),
        exports=_exports(address),
        verdict=verdict_view(judged, address, may_run=may_run),
        rates=rates_in_words(result),
        attention=attention_words(judged),
        looked=looked_words(looked_at),
        differences=differences_in_words(result.differences, result.redefined, len(accepted)),
        definitions_href=definitions_href(address) if result.redefined or accepted else "",
        matrix=matrix_view(result.matrix, address),
        clusters=tuple(_cluster_line(cluster, words, address, notes) for cluster in clusters),
        clusters_left=len(result.clusters) - len(clusters),
        chips=filter_chips(stored, filters, address, words),
        text=filters.text,
        hidden=hidden_members(address),
        groups=_groups(judged, page, shown, beside, address, notes),
        folded=_folded(stored, filters, address),
        pager=_pager(page, address, cursor),
        clear_href=address.filtered(RowFilters()),
        is_narrow=filters.is_narrow,
        empty=_empty(filters, address),
        missing=() if page.is_found else ("The row after which to go on is not in this list; it begins anew.",),
    )


def _actions(stored: StoredComparison, *, may_run: bool) -> tuple[Action, ...]:
    rerun = _rerun(stored) if may_run else None
    return (rerun,) if rerun is not None else ()


def _exports(address: Address) -> tuple[Action, ...]:
    """Return the whole comparison as files, the filter of the page applied."""
    formats = (("JSON", "json"), ("CSV", "csv"), ("Markdown", "markdown"), ("HTML, one file", "html"))
    here = reverse("api-1:compare-document")
    return tuple(Action(name, f"{here}?{urlencode(address.query(format=key))}") for name, key in formats)


def _rerun(stored: StoredComparison) -> Action | None:
    """Offer to run again what got worse; only what this site executed can be run again here."""
    executed = [run.pk for run in stored.candidate.runs if run.options]
    worse = (row for row in stored.result.rows if row.change in REGRESSIONS or row.change is Change.LOST)
    scenarios = list(dict.fromkeys(stored.variants[row.variant].scenario_id for row in worse))[:_MOST_RERUN]
    if not (executed and scenarios):
        return None
    number = len(scenarios)
    query = urlencode({"rerun": str(executed[-1]), "only": "broken", "scenarios": scenarios}, doseq=True)
    words = f"Rerun {number} {'scenario' if number == 1 else 'scenarios'} that got worse"
    return Action(words, f"{reverse('new-run')}?{query}")


# ------------------------------------------------------------------------------------------------------------ clusters


def _cluster_line(
    cluster: Cluster, words: Mapping[str, SignatureWords], address: Address, notes: NoteMarks
) -> ClusterLine:
    named = words[cluster.signature]
    before, after = cluster.baseline_variants, cluster.candidate_variants
    cases = f"{cluster.baseline_cases:,} → {cluster.candidate_cases:,} cases"
    # Where as many scenario variants fail as before, only the cases tell why it is called grown or shrunk.
    is_told_by_cases = before == after and cluster.change is not ClusterChange.SAME
    return ClusterLine(
        change=str(cluster.change),
        words=named.words,
        counts=cases if is_told_by_cases else f"{before:,} → {after:,}",
        cases=cases,
        href=address.filtered(RowFilters(signature=named.key)),
        is_chosen=address.filters.signature == named.key,
        note=notes.on_cluster(cluster, named),
    )


# ---------------------------------------------------------------------------------------------------------------- rows


def _groups(
    judged: Judged,
    page: filtering.RowsPage,
    shown: Mapping[int, ShownSides],
    beside: Marks,
    address: Address,
    notes: NoteMarks,
) -> tuple[GroupView, ...]:
    return tuple(
        GroupView(
            title=_TITLES.get(group, group.value),
            sign=_group_sign(group),
            count=page.groups[group],
            lines=tuple(_line(judged, row, shown[row.variant], beside, address, notes) for row in rows),
            anchor=f"group-{group.value}",
        )
        for group, rows in groupby(page.rows, key=lambda row: row.group)
    )


def _group_sign(group: Group) -> Sign:
    if group is Group.UNSTABLE_AND_WORSE:
        return CHANGES["unstable"]
    return sign_of(group, "change")


def _line(
    judged: Judged, row: Row[int], shown: ShownSides, beside: Marks, address: Address, notes: NoteMarks
) -> RowLine:
    stored = judged.stored
    name, facts = stored.variants[row.variant], stored.facts_of(row.variant)
    before, after = shown
    shift, slower = _shift(before.mean_ms, after.mean_ms)
    return RowLine(
        anchor=f"row-{name.key}",
        href=f"{address.case(name.key)}#divergence",
        scenario_id=name.scenario_id,
        name=facts.name if facts else "",
        chosen=chosen_words(name.chosen),
        sign=sign_of(row.change, "change"),
        baseline=_pips(before, row.judgement.baseline),
        candidate=_pips(after, row.judgement.candidate),
        reason=_reason(row, before, after),
        shift=shift,
        slower=slower,
        durations=f"{duration_in_words(before.mean_ms)} → {duration_in_words(after.mean_ms)}",
        test=_test_words(judged.tests.get(row.variant)),
        marks=(*_marks(row, is_critical=judged.is_critical(row.variant)), *beside.get(row.variant, ())),
        note=notes.on_row(row, name.key),
    )


def _pips(side: ShownSide, counted: Tally) -> Pips:
    shown = side.cases[:_PIPS_A_SIDE]
    hrefs = (f"{_cases_href(case.run)}{case.position}/" for case in shown)
    more = "… " if counted.total > len(shown) else ""
    return Pips.of((case.status for case in shown), text=f"{more}{counted.short_words}", hrefs=hrefs)


@lru_cache(maxsize=64)
def _cases_href(run: UUID) -> str:
    """Return what the addresses of a run's cases begin with: there may be thousands on one page."""
    return reverse("case", args=[run, 0]).removesuffix("0/")


def _reason(row: Row[int], before: ShownSide, after: ShownSide) -> str:
    """Say what changed first: what fails now; else what failed before; else why it is undecided."""
    if after.first_failing is not None:
        return after.first_failing.failing
    if after.cases and not row.judgement.candidate.decided:
        return ", ".join(dict.fromkeys(case.reason or case.status for case in after.cases))
    if before.first_failing is not None and after.cases:
        return f"no longer: {before.first_failing.failing}"
    return before.first_failing.failing if before.first_failing is not None else ""


def _test_words(test: RowTest | None) -> str:
    if test is None:
        return ""
    return f"p {p_text(test.p_value)}, adjusted over all rows {p_text(test.adjusted).removeprefix('= ')}"


def _marks(row: Row[int], *, is_critical: bool) -> tuple[str, ...]:
    fewer = row.judgement.fewer_decided
    critical = ("critical",) if is_critical else ()
    return (*critical, f"{count_in_words(fewer)} fewer decided") if fewer else critical


def _shift(before: float | None, after: float | None) -> tuple[str, str]:
    """Return the change of the mean duration as text and word; both empty where it is small or unknown."""
    if not before or after is None:
        return "", ""
    change = after / before - 1
    if abs(change) < _SMALLEST_SHIFT:
        return "±0%", ""
    return f"{change:+.0%}".replace("-", "−"), "slower" if change > 0 else "faster"


def _folded(stored: StoredComparison, filters: RowFilters, address: Address) -> tuple[FoldedGroup, ...]:
    """Return the groups of rows that did not change; only where no filter asks for particular rows."""
    if filters.is_narrow:
        return ()
    counts = stored.result.groups()
    return tuple(
        FoldedGroup(
            group.value, sign_of(group, "change"), counts[group], address.filtered(RowFilters(only=group.value))
        )
        for group in Group
        if group in FOLDED and counts[group]
    )


def _pager(page: filtering.RowsPage, address: Address, cursor: str) -> Pager:
    last = page.first + len(page.rows)
    words = f"rows {page.first + 1:,} to {last:,} of {page.found:,}" if page.rows else "no rows"
    return Pager(
        text=words,
        first_href=f"{address.page()}#rows" if cursor and page.first else "",
        next_href=f"{address.page(after=page.cursor)}#rows" if page.cursor else "",
        next_text="Next",
    )


def _empty(filters: RowFilters, address: Address) -> Empty:
    if filters.is_narrow:
        everything = Action("Show what changed", address.filtered(RowFilters()))
        return Empty("No row fits this filter", "Widen the filter, or look for another text.", (everything,))
    return Empty("Nothing changed", "No scenario variant changed its class. The rows that stayed are folded below.")
