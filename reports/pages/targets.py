"""The list of targets and the page of one: its versions, their trend, what to compare."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlencode

from django.urls import reverse

from reports.domain.run_query import RunQuery
from reports.domain.wording import short_name
from reports.models import Team
from reports.pages.cursors import cursor_text
from reports.pages.parts import Action, Bar, Choice, Crumb, Empty, Pager
from reports.pages.run_change import ChangeView, change_view
from reports.pages.runs import runs_href
from reports.pages.trend import TrendKey, trend_figure, trend_keys
from reports.pages.versions import Against, against, rate_words, version_runs_href
from reports.selectors.baselines import default_names
from reports.selectors.home import TargetCard, list_target_cards
from reports.selectors.targets import TargetHead, TargetSuite, find_target, list_target_suites
from reports.selectors.versions import VersionRow, newest_versions, version_changes
from reports.services.target_check import unusable_suites
from reports.text import restored

VERSIONS_A_PAGE = 50


@dataclass(frozen=True, slots=True)
class TargetLine:
    href: str
    target_id: str
    suite_id: str
    suite_href: str
    fingerprint: str
    rate: str
    rate_words: str
    bar: Bar
    versions: int
    last_at: datetime


@dataclass(frozen=True, slots=True)
class TargetListPage:
    sentence: str
    lines: tuple[TargetLine, ...]
    pager: Pager
    empty: Empty


@dataclass(frozen=True, slots=True)
class VersionLine:
    """A version: ``name`` for labels, ``side`` what a comparison calls it, ``against`` the version before it.

    ``change`` is how its newest run stands against its baseline, None without one.
    """

    fingerprint: str
    label: str
    name: str
    href: str
    side: str
    rate: str
    rate_words: str
    bar: Bar
    runs: int
    going: int
    first_at: datetime
    against: Against | None
    change: ChangeView | None


@dataclass(frozen=True, slots=True)
class TargetPage:
    """``trend_href`` is empty where a line would say nothing; ``warnings`` say what cannot be run as registered."""

    target_id: str
    sentence: str
    crumbs: tuple[Crumb, ...]
    suites: tuple[Choice, ...]
    suite_id: str
    suite_href: str
    runs_href: str
    grid_href: str
    compare_href: str
    trend_href: str
    trend_words: str
    trend_keys: tuple[TrendKey, ...]
    lines: tuple[VersionLine, ...]
    pager: Pager
    warnings: tuple[str, ...]


def target_list_page(*, team: Team, after: tuple[datetime, int] | None, may_run: bool) -> TargetListPage:
    """Read and decide all that the list of targets shows."""
    cards, has_more = list_target_cards(team=team, after=after)
    last = cards[-1] if has_more else None
    number = f"{len(cards)} target{'' if len(cards) == 1 else 's'}"
    on_page = " on this page" if after or has_more else ""
    following = urlencode({"after": cursor_text(last.last_at, last.pk)}) if last else ""
    action = Action("Import a report", reverse("import"), "upload")
    return TargetListPage(
        sentence=f"{number}{on_page}, last run first." if cards else "No targets yet.",
        lines=tuple(_target_line(card) for card in cards if card.versions),
        pager=Pager(
            number,
            first_href=reverse("targets") if after else "",
            next_href=f"{reverse('targets')}?{following}" if following else "",
            next_text="More targets",
        ),
        empty=Empty("There are no targets yet", "A target comes with the first report about it.", (action,) * may_run),
    )


def target_page(*, team: Team, pk: int, suite_pk: int, before: tuple[datetime, int] | None) -> TargetPage | None:
    """Read and decide the page of a target; None where the team has no such target or it never ran the suite.

    ``suite_pk`` chooses one of its suites, 0 the one that it ran last.
    """
    target = find_target(team=team, pk=pk)
    suites = list_target_suites(team=team, target_pk=pk) if target else ()
    suite = next((each for each in suites if not suite_pk or each.pk == suite_pk), None)
    if target is None or suite is None:
        return None
    rows = newest_versions(team=team, target_pk=pk, suite_pk=suite.pk, limit=VERSIONS_A_PAGE + 1, before=before)
    shown, has_more = rows[:VERSIONS_A_PAGE], len(rows) > VERSIONS_A_PAGE
    changes = _changes(team, shown)
    lines = tuple(
        _version_line(target, row, next((each for each in rows[place + 1 :] if each.tally.decided), None), changes)
        for place, row in enumerate(shown)
    )
    is_drawn = before is None and sum(row.tally.decided > 0 for row in shown) > 1
    return TargetPage(
        target_id=target.target_id,
        sentence=_sentence(shown, suite, lines, is_first=before is None),
        crumbs=(Crumb("Targets", reverse("targets")), Crumb(target.target_id)),
        suites=tuple(_suite_choice(target, each, suite) for each in suites) if len(suites) > 1 else (),
        suite_id=suite.suite_id,
        suite_href=reverse("suite", args=[suite.pk]),
        runs_href=runs_href(RunQuery({"target": (target.target_id,)})),
        grid_href=f"{reverse('target-grid', args=[target.pk])}?{urlencode({'suite': suite.pk})}",
        compare_href=lines[0].against.href if lines and lines[0].against else "",
        trend_href=f"{reverse('target-trend', args=[target.pk])}?{urlencode({'suite': suite.pk})}" if is_drawn else "",
        trend_words=_trend_words(shown),
        trend_keys=trend_keys(),
        lines=lines,
        pager=_pager(target, suite, shown, has_more, is_first=before is None),
        warnings=tuple(unusable_suites(restored(target.target_id))),
    )


def trend_json(*, team: Team, pk: int, suite_pk: int) -> dict[str, object] | None:
    """Return the figure of a target's newest versions on one suite; None where there is no such target or suite."""
    target = find_target(team=team, pk=pk)
    suites = list_target_suites(team=team, target_pk=pk) if target else ()
    suite = next((each for each in suites if not suite_pk or each.pk == suite_pk), None)
    if target is None or suite is None:
        return None
    rows = newest_versions(team=team, target_pk=pk, suite_pk=suite.pk, limit=VERSIONS_A_PAGE)
    return trend_figure(target.target_id, rows, version_changes(rows))


def _target_line(card: TargetCard) -> TargetLine:
    newest = card.versions[0]
    return TargetLine(
        href=reverse("target", args=[card.pk]),
        target_id=card.target_id,
        suite_id=card.suite_id,
        suite_href=reverse("suite", args=[card.suite_pk]),
        fingerprint=newest.label or newest.fingerprint,
        rate=newest.tally.percent,
        rate_words=rate_words(newest),
        bar=Bar.of(newest.counts, is_silent=True),
        versions=card.version_count,
        last_at=card.last_at,
    )


def _changes(team: Team, versions: Sequence[VersionRow]) -> dict[int, ChangeView | None]:
    """Decide how the newest run of each version stands against its baseline."""
    found = version_changes(versions)
    names = default_names(team=team, runs={row.baseline_pk for row in found.values() if row.baseline_pk})
    return {
        pk: change_view(row, names.get(row.baseline_pk, "") if row.baseline_pk else "") for pk, row in found.items()
    }


def _version_line(
    target: TargetHead, row: VersionRow, before: VersionRow | None, changes: Mapping[int, ChangeView | None]
) -> VersionLine:
    return VersionLine(
        fingerprint=row.fingerprint,
        label=row.label,
        name=f"{target.target_id} @ {row.fingerprint}",
        href=version_runs_href(target.target_id, row),
        side=row.side,
        rate=row.tally.percent,
        rate_words=rate_words(row),
        bar=Bar.of(row.counts, is_silent=True),
        runs=row.runs,
        going=row.going,
        first_at=row.first_at,
        against=against(row, before),
        change=changes.get(row.pk),
    )


def _sentence(
    rows: tuple[VersionRow, ...], suite: TargetSuite, lines: tuple[VersionLine, ...], *, is_first: bool
) -> str:
    number = f"{suite.versions:,} version{'' if suite.versions == 1 else 's'} ran {short_name(suite.suite_id)}"
    if not rows or not is_first:
        return f"{number}."
    newest = f"the newest passed {rows[0].tally.words}" if rows[0].tally.decided else "the newest decided nothing"
    moved = lines[0].against
    tail = f", {moved.text} {short_name(moved.other)}" if moved and moved.tone != "unknown" else ""
    return f"{number}; {newest}{tail}."


def _trend_words(rows: tuple[VersionRow, ...]) -> str:
    """Say what the chart shows: its ends and its lowest point. The table below says every point."""
    decided = [row for row in rows if row.tally.decided]
    if len(decided) < 2:
        return ""
    first, last, lowest = decided[-1], decided[0], min(decided, key=lambda row: (row.tally.rate or 0.0, row.pk))
    return (
        f"From {_rate(first)} to {_rate(last)} over {len(decided)} versions; lowest {_rate(lowest)}. "
        "The axis does not begin at zero."
    )


def _rate(row: VersionRow) -> str:
    return f"{row.tally.percent} ({short_name(row.label or row.fingerprint)})"


def _suite_choice(target: TargetHead, each: TargetSuite, shown: TargetSuite) -> Choice:
    href = f"{reverse('target', args=[target.pk])}?{urlencode({'suite': each.pk})}"
    return Choice(each.suite_id, href, is_chosen=each.pk == shown.pk, count=each.versions)


def _pager(
    target: TargetHead, suite: TargetSuite, rows: tuple[VersionRow, ...], has_more: bool, *, is_first: bool
) -> Pager:
    base = reverse("target", args=[target.pk])
    members = {"suite": suite.pk}
    following = urlencode(members | {"before": cursor_text(rows[-1].first_at, rows[-1].pk)}) if has_more else ""
    return Pager(
        text=f"{suite.versions:,} version{'' if suite.versions == 1 else 's'}",
        first_href="" if is_first else f"{base}?{urlencode(members)}",
        next_href=f"{base}?{following}" if following else "",
        next_text="Older versions",
    )
