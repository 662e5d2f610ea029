"""Home: a card per target, what is running, and the first steps of a new team."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlencode
from uuid import UUID

from django.urls import reverse
from evalrunner.compare import tally
from evalrunner.compare.answer import VERDICT_WORDS
from evalrunner.compare.verdict import Verdict

from reports.domain.grammar import Sign, sign_of
from reports.models import Team
from reports.pages.charts import Spark
from reports.pages.cursors import cursor_text, parse_cursor
from reports.pages.parts import Action, Bar, VersionName
from reports.pages.run_change import ChangeView, change_view
from reports.pages.versions import Against, against, rate_words, spark_of, version_runs_href
from reports.selectors.baselines import default_names
from reports.selectors.home import Going, TargetCard, list_going, list_target_cards
from reports.selectors.notes import attention_of_runs

_WORST_FIRST = (Verdict.REGRESSED, Verdict.NOT_COMPARABLE, Verdict.INCONCLUSIVE, Verdict.PASS)


@dataclass(frozen=True, slots=True)
class Card:
    """A target: its newest version with rate and bar, the line of its versions, and the verdict on the newest one.

    ``change`` is how that stands against its baseline, ``against`` how its rate moved since the version before.
    """

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
    change: ChangeView | None
    attention: str
    attention_href: str
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
    baselines = {card.change.baseline_pk for card in found if card.change and card.change.baseline_pk}
    names = default_names(team=team, runs=baselines)
    attention = attention_of_runs(team=team, runs=[card.shown_pk for card in found])
    cards = tuple(_card(card, names, attention[card.shown_pk].words) for card in found if card.versions)
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
    number = f"{len(cards)} target{'' if len(cards) == 1 else 's'}"
    shown = f"The {len(cards)} most recent targets" if has_more else number
    running = f" {going} run{'' if going == 1 else 's'} going on." if going else ""
    return f"{shown}{_judged(cards)}.{running}"


def _judged(cards: tuple[Card, ...]) -> str:
    """Count the verdicts on the newest versions; "" where none was measured against a baseline."""
    marks = [card.change.verdict for card in cards if card.change and card.change.verdict]
    counted = Counter(mark.key for mark in marks)
    said = [f"{counted[verdict]} {VERDICT_WORDS[verdict]}" for verdict in _WORST_FIRST if counted[verdict]]
    due = sum(card.change is not None and card.change.is_due for card in cards)
    said += [f"{due} being judged"] if due else []
    without = len(cards) - len(marks) - due
    said += [f"{without} without a baseline"] if without and said else []
    return f"; the newest versions against their baselines: {', '.join(said)}" if said else ""


def _card(card: TargetCard, names: Mapping[UUID, str], attention: str) -> Card:
    newest = card.versions[0]
    decided = next((row for row in card.versions[1:] if row.tally.decided), None)
    href = reverse("target", args=[card.pk])
    baseline = card.change.baseline_pk if card.change else None
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
        rate_words=rate_words(newest),
        bar=Bar.of(newest.counts, is_silent=True),
        going=newest.going,
        spark=spark_of(card.target_id, card.versions, card.version_changes),
        against=against(newest, decided),
        change=change_view(card.change, names.get(baseline, "") if baseline else ""),
        attention=attention,
        attention_href=f"{reverse('run', args=[card.shown_pk])}#failures",
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
