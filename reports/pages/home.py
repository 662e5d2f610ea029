"""Home: a card per target, what is running, and the first steps of a new team."""

from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlencode

from django.urls import reverse
from evalrunner.compare import tally

from reports.domain.baselines import short_rule
from reports.domain.grammar import Sign, sign_of
from reports.models import Team
from reports.pages.charts import Spark
from reports.pages.cursors import cursor_text, parse_cursor
from reports.pages.links import compare_href
from reports.pages.parts import Action, Bar, VersionName
from reports.pages.runs import ChangeMark, change_marks, change_text
from reports.pages.versions import Against, against, spark_of, version_runs_href
from reports.selectors.baselines import default_names
from reports.selectors.home import Going, TargetCard, list_going, list_target_cards
from reports.selectors.notes import attention_of_runs


@dataclass(frozen=True, slots=True)
class Card:
    """A target: its newest version with rate and bar, the line of its versions, the change against the one before."""

    target_id: str
    href: str
    suite_id: str
    suite_href: str
    version: VersionName
    side: str
    rate: str
    rate_words: str
    bar: Bar
    going: int
    spark: Spark | None
    against: Against | None
    change_href: str
    change_text: str
    change_rule: str
    attention: str
    attention_href: str
    change_marks: tuple[ChangeMark, ...]
    at: datetime


@dataclass(frozen=True, slots=True)
class GoingLine:
    outcome: Sign
    version: VersionName
    suite_id: str
    done: int
    total: int
    text: str
    bar: Bar
    at: datetime


@dataclass(frozen=True, slots=True)
class Step:
    """A first step of a new team."""

    title: str
    text: str
    action: Action


@dataclass(frozen=True, slots=True)
class HomePage:
    """``steps`` stand where there are no targets yet."""

    sentence: str
    going: tuple[GoingLine, ...]
    cards: tuple[Card, ...]
    steps: tuple[Step, ...]
    next_href: str
    is_first: bool


def home_page(*, team: Team, after: str, may_run: bool) -> HomePage:
    """Read and decide all that home shows."""
    cursor = parse_cursor(after)
    found, has_more = list_target_cards(team=team, after=cursor)
    going = list_going(team=team)
    names = default_names(team=team, runs={card.change.baseline_pk for card in found if card.change})
    attention = attention_of_runs(team=team, runs=[card.newest_pk for card in found])
    cards = tuple(
        _card(card, names.get(card.change.baseline_pk, "") if card.change else "", attention[card.newest_pk].words)
        for card in found
        if card.versions
    )
    last = found[-1] if found and has_more else None
    return HomePage(
        sentence=_sentence(cards, has_more, len(going)),
        going=tuple(_going_line(row) for row in going),
        cards=cards,
        steps=() if cards or cursor else _steps(may_run),
        next_href=f"{reverse('home')}?{urlencode({'after': cursor_text(last.last_at, last.pk)})}" if last else "",
        is_first=cursor is None,
    )


def _sentence(cards: tuple[Card, ...], has_more: bool, going: int) -> str:
    if not cards:
        return "Nothing has been evaluated yet."
    fell = sum(card.against is not None and card.against.tone == "down" for card in cards)
    rose = sum(card.against is not None and card.against.tone == "up" for card in cards)
    number = f"{len(cards)} target{'' if len(cards) == 1 else 's'}"
    shown = f"The {len(cards)} most recent targets" if has_more else number
    moved = f"Against the version before, {fell} fell and {rose} rose."
    running = f" {going} run{'' if going == 1 else 's'} going on." if going else ""
    return f"{shown}. {moved}{running}"


def _card(card: TargetCard, baseline: str, attention: str) -> Card:
    newest = card.versions[0]
    decided = next((row for row in card.versions[1:] if row.tally.decided), None)
    href = reverse("target", args=[card.pk])
    marks = change_marks(card.change.counts if card.change else {})
    return Card(
        target_id=card.target_id,
        href=href,
        suite_id=card.suite_id,
        suite_href=reverse("suite", args=[card.suite_pk]),
        version=VersionName(
            card.target_id, newest.fingerprint, newest.label, version_runs_href(card.target_id, newest)
        ),
        side=newest.side,
        rate=newest.tally.percent,
        rate_words=newest.tally.words,
        bar=Bar.of(newest.counts, is_silent=True),
        going=newest.going,
        spark=spark_of(card.target_id, card.versions, card.version_changes),
        against=against(newest, decided),
        change_href=compare_href(card.change.baseline_pk, card.change.run_pk) if card.change else "",
        change_text=change_text(marks, baseline),
        change_rule=short_rule(baseline),
        attention=attention,
        attention_href=f"{reverse('run', args=[card.newest_pk])}#failures",
        change_marks=marks,
        at=newest.last_at,
    )


def _going_line(row: Going) -> GoingLine:
    counted = tally(row.counts)
    waiting = row.counts["pending"] + row.counts["running"]
    done = row.total - waiting
    return GoingLine(
        outcome=sign_of(row.status, "outcome"),
        version=VersionName(row.target_id, row.fingerprint, href=reverse("run", args=[row.pk])),
        suite_id=row.suite_id,
        done=done,
        total=row.total,
        text=f"{done:,} of {row.total:,} cases done, {counted.passed:,} passed" if row.total else "not begun",
        bar=Bar.of(row.counts),
        at=row.ordered_at,
    )


def _steps(may_run: bool) -> tuple[Step, ...]:
    if not may_run:
        return ()
    return (
        Step(
            "Look at real results",
            "Import a report that the runner wrote: JSON, plain or in gzip or zstd.",
            Action("Import a report", reverse("import"), "upload"),
        ),
        Step(
            "See a run happen",
            "The tutorial holds twelve short conversations with a catalogue agent and takes a few seconds.",
            Action("Start the tutorial run", reverse("new-run"), "play"),
        ),
        Step(
            "Evaluate your own agent",
            "A Python object, an HTTP service or a command in any language can be a target.",
            Action("Connect your agent", reverse("connect"), "link"),
        ),
    )
