"""The list of runs: filters, rows, paging, decided."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlencode

from django.urls import reverse
from django.utils import timezone
from evalrunner.compare import tally

from reports.domain.attention import Attention
from reports.domain.grammar import Sign, outcome_of, sign_of
from reports.domain.run_query import ORIGINS, OUTCOMES, STATUSES, RunQuery, parse_run_query
from reports.domain.wording import about
from reports.models import Team
from reports.pages.links import from_address
from reports.pages.parts import Action, Bar, Chip, Choice, Empty, Pager, VersionName
from reports.pages.run_change import ChangeView, change_view
from reports.selectors.baselines import default_names
from reports.selectors.notes import attention_of_runs
from reports.selectors.runs import MOST_COUNTED, Cursor, RunRow, count_runs, filter_choices, list_runs

_EXACT_UP_TO = 1_000
_DAYS = {
    "from": (("today", 0), ("7 days ago", 7), ("30 days ago", 30), ("90 days ago", 90)),
    "to": (("yesterday", 1), ("7 days ago", 7), ("30 days ago", 30)),
}
_ORIGIN_WORDS = {"upload": "upload", "api": "API", "web": "this site", "command": "command line"}

_NOTHING_FAILS = Attention(0, 0)


@dataclass(frozen=True, slots=True)
class RunLine:
    """A row: ``side`` is what the comparison calls the run, ``rate`` and ``rate_words`` its pass rate with counts.

    ``change`` is how it stands against its baseline, None without one.
    """

    href: str
    side: str
    outcome: Sign
    version: VersionName
    target_href: str
    suite_id: str
    suite_href: str
    bar: Bar
    rate: str
    rate_words: str
    duration_ms: float | None
    at: datetime
    origin: str
    tags: tuple[str, ...]
    name: str
    change: ChangeView | None
    attention: str


@dataclass(frozen=True, slots=True)
class LazyChip:
    """A chip whose menu is fetched when it is opened."""

    name: str
    value: str
    remove_href: str
    menu_href: str


@dataclass(frozen=True, slots=True)
class RunListPage:
    """``has_baseline``: one waits in the tray, so that one choice completes a comparison."""

    sentence: str
    text: str
    faults: tuple[str, ...]
    chips: tuple[Chip, ...]
    lazy_chips: tuple[LazyChip, ...]
    clear_href: str
    lines: tuple[RunLine, ...]
    pager: Pager
    empty: Empty
    compare_href: str
    has_baseline: bool


@dataclass(frozen=True, slots=True)
class FilterMenu:
    """What one chip offers."""

    name: str
    choices: tuple[Choice, ...]


def run_list_page(*, team: Team, text: str, after: str, may_run: bool, has_baseline: bool = False) -> RunListPage:
    """Read and decide all that the list shows for the filters and cursor of its address."""
    query = parse_run_query(from_address(text))
    cursor = Cursor.parse(after) if after else None
    faults = query.faults
    if after and cursor is None:
        faults = (*faults, "The place in the list could not be read from the address; this is the first page.")
    found = list_runs(team=team, query=query, after=cursor)
    number = count_runs(team=team, query=query)
    names = default_names(team=team, runs={row.baseline_pk for row in found.rows if row.baseline_pk})
    attention = attention_of_runs(team=team, runs=[row.pk for row in found.rows])
    return RunListPage(
        sentence=_sentence(number, query),
        text=query.text if not faults else text,
        faults=faults,
        chips=_chips(query),
        lazy_chips=tuple(_lazy_chip(query, name) for name in ("target", "version", "suite")),
        clear_href=reverse("runs") if query.is_narrow else "",
        lines=tuple(
            run_line(row, names.get(row.baseline_pk, "") if row.baseline_pk else "", attention[row.pk])
            for row in found.rows
        ),
        pager=_pager(query, number, found.next_cursor, is_first=cursor is None),
        empty=_empty(query, may_run),
        compare_href=reverse("compare-chosen"),
        has_baseline=has_baseline,
    )


def run_line(row: RunRow, baseline: str = "", attention: Attention = _NOTHING_FAILS) -> RunLine:
    """Decide how a run stands in a list; ``baseline`` is the name of the baseline that it is measured against."""
    href = reverse("run", args=[row.pk])
    counted = tally(row.counts)
    first = tally(row.first_counts) if row.first_counts is not None else counted
    return RunLine(
        href=href,
        side=str(row.pk),
        outcome=outcome_of(row.status, is_passing=row.is_passing, is_executed=row.is_executed),
        version=VersionName(row.target_id, row.fingerprint, row.label, href),
        target_href=reverse("target", args=[row.target_pk]),
        suite_id=row.suite_id,
        suite_href=reverse("suite", args=[row.suite_pk]),
        bar=Bar.of(row.counts, is_silent=True),
        rate=first.percent,
        rate_words=first.words if first == counted else f"{first.words}; after retries {counted.percent}",
        duration_ms=row.duration_ms,
        at=row.ordered_at,
        origin=_ORIGIN_WORDS.get(row.origin, row.origin),
        tags=run_tags(row),
        name=f"{row.target_id} @ {row.fingerprint}",
        change=change_view(row.change, baseline),
        attention=attention.words,
    )


def run_tags(row: RunRow) -> tuple[str, ...]:
    """Return what a reader must know of a run before reading its numbers."""
    continued = ("retry" if row.verb == "retry" else "resumed",) if row.is_resumed else ()
    return (*continued, "follow-up") if row.follow_up else continued


def filter_menu(*, team: Team, name: str, text: str) -> FilterMenu:
    """Return the menu of the target, version or suite chip; ``text`` is the query that its choices change."""
    query = parse_run_query(from_address(text))
    values = query.values(name)
    return FilterMenu(
        name,
        tuple(
            Choice(value, runs_href(query.with_value(name, value)), is_chosen=value in values)
            for value in filter_choices(team=team, name=name)
        ),
    )


def runs_href(query: RunQuery, **members: str) -> str:
    """Return the address of the list for a query and, where given, a cursor."""
    given = ({"q": query.text} if query.is_narrow else {}) | members
    return f"{reverse('runs')}?{urlencode(given)}" if given else reverse("runs")


def _sentence(number: int, query: RunQuery) -> str:
    if not number:
        return "No run fits these filters." if query.is_narrow else "There are no runs yet."
    fitting = " fit these filters" if query.is_narrow else ""
    if number == 1:
        return f"1 run{' fits these filters' if query.is_narrow else ''}."
    return f"{_number(number)} runs{fitting}, the newest first."


def _number(number: int) -> str:
    if number >= MOST_COUNTED:
        return f"More than {MOST_COUNTED:,}"
    return f"{number:,}" if number <= _EXACT_UP_TO else about(number).capitalize()


def _pager(query: RunQuery, number: int, next_cursor: Cursor | None, *, is_first: bool) -> Pager:
    return Pager(
        text=f"{_number(number)} run{'' if number == 1 else 's'}",
        first_href="" if is_first else runs_href(query),
        next_href=runs_href(query, after=next_cursor.text) if next_cursor else "",
        next_text="Older runs",
    )


def _chips(query: RunQuery) -> tuple[Chip, ...]:
    return (
        _word_chip(query, "outcome", OUTCOMES, "outcome"),
        _word_chip(query, "status", STATUSES, "run"),
        _word_chip(query, "origin", ORIGINS, ""),
        *(_day_chip(query, name) for name in ("from", "to")),
    )


def _word_chip(query: RunQuery, name: str, words: Sequence[str], kind: str) -> Chip:
    values = query.values(name)
    choices = tuple(
        Choice(
            _ORIGIN_WORDS.get(word, word) if name == "origin" else sign_of(word, kind).word,
            runs_href(query.with_value(name, word)),
            is_chosen=word in values,
            sign=sign_of(word, kind) if kind else None,
        )
        for word in words
    )
    return Chip(name, ", ".join(values), choices, runs_href(query.without(name)))


def _day_chip(query: RunQuery, name: str) -> Chip:
    """Offer a few days counted back from today (UTC), and say how to type any other."""
    today = timezone.now().date()
    days = [(words, str(today - timedelta(days=back))) for words, back in _DAYS[name]]
    values = query.values(name)
    choices = tuple(Choice(words, runs_href(query.with_value(name, day)), day in values) for words, day in days)
    hint = f"Or type {name}:{today} into the filter. Days are in UTC, both ends included."
    return Chip(name, ", ".join(values), choices, runs_href(query.without(name)), hint)


def _lazy_chip(query: RunQuery, name: str) -> LazyChip:
    members: Mapping[str, str] = {"q": query.text}
    return LazyChip(
        name=name,
        value=", ".join(query.values(name)),
        remove_href=runs_href(query.without(name)),
        menu_href=f"{reverse('runs-filter', args=[name])}?{urlencode(members)}",
    )


def _empty(query: RunQuery, may_run: bool) -> Empty:
    if query.is_narrow:
        return Empty(
            "No run fits these filters",
            "Names are matched whole: target:desk.agent. Text without a name finds parts of ids, names and files.",
            (Action("Show all runs", reverse("runs")),),
        )
    actions = (
        Action("Import a report", reverse("import"), "upload"),
        Action("Start a run", reverse("new-run"), "play"),
    )
    return Empty("There are no runs yet", "Import a report of the runner, or start a run here.", actions * may_run)
