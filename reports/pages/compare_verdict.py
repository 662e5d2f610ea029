"""The verdict on a comparison: its word, its reasons, the interval as a drawing, and what would decide it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlencode

from django.urls import reverse
from evalrunner.compare.answer import VERDICT_WORDS, answer, effect_in_words, noise_in_words, points_text
from evalrunner.compare.intervals import MeanChange
from evalrunner.compare.tally import fraction_text, percent_text
from evalrunner.compare.verdict import Completeness
from evalrunner.compare.words import Phrase

from reports.domain.wording import day_in_words
from reports.pages.compare_frame import Address
from reports.pages.parts import Action
from reports.pages.run_change import verdict_mark, verdict_tone
from reports.selectors.compare_filters import RowFilters
from reports.selectors.compare_sides import Side
from reports.selectors.compare_verdict import Judged
from reports.text import storable

WIDTH, HEIGHT, EDGE = 360, 74, 12  # of the drawing, in its own units
_LEAST_REACH = 0.02  # fractions: a change of nothing is not drawn as wide as the page
_NAMED = 12  # scenarios named beside a reason
_MOST_RERUN = 40  # scenarios in one address


@dataclass(frozen=True, slots=True)
class NamedLink:
    text: str
    href: str


@dataclass(frozen=True, slots=True)
class ReasonLine:
    """A rule that speaks. ``verdict`` is its word; scenarios are in stored form, the first ``_NAMED`` of them."""

    verdict: str
    tone: str
    text: str
    scenarios: tuple[NamedLink, ...]
    more: int


@dataclass(frozen=True, slots=True)
class Tick:
    at: int
    text: str


@dataclass(frozen=True, slots=True)
class IntervalView:
    """The mean change with its interval, drawn in a box of ``WIDTH`` by ``HEIGHT``; all places are in its units."""

    width: int
    height: int
    axis: int
    start: int
    end: int
    zero: int
    low: int
    span: int
    mean: int
    margin: int
    ticks: tuple[Tick, ...]
    is_crossing: bool
    words: str
    margin_words: str


@dataclass(frozen=True, slots=True)
class VerdictView:
    """``sentence`` holds the answer in phrases; ``noise`` sets what fell beside what chance lets fall."""

    key: str
    word: str
    tone: str
    icon: str
    sentence: tuple[NamedLink, ...]
    reasons: tuple[ReasonLine, ...]
    interval: IntervalView | None
    size: str
    noise: str
    completeness: str
    completeness_tone: str
    plan: tuple[str, ...]
    actions: tuple[Action, ...]


def verdict_view(judged: Judged, address: Address, *, may_run: bool) -> VerdictView:
    """Decide how a verdict stands on the page."""
    found = judged.assessment
    mark = verdict_mark(found.verdict)
    return VerdictView(
        key=mark.key,
        word=mark.word,
        tone=mark.tone,
        icon=mark.icon,
        sentence=_phrases(answer(judged.stored.result, found), address),
        reasons=tuple(
            ReasonLine(
                VERDICT_WORDS[reason.verdict],
                verdict_tone(reason.verdict),
                reason.text,
                tuple(NamedLink(name, _scenario_href(name, address)) for name in _named(reason.scenarios)),
                max(0, len(reason.scenarios) - _NAMED),
            )
            for reason in found.reasons
        ),
        interval=interval_view(found.change, found.policy.margin) if found.change is not None else None,
        size=effect_in_words(found.change, found.left_out),
        noise=noise_in_words(found.test, found.fallen, found.pairs),
        completeness=_completeness(found.completeness, found.policy.completeness),
        completeness_tone="" if found.completeness.share >= found.policy.completeness else "blocked",
        plan=judged.plan.sentences,
        actions=_plan_actions(judged) if may_run else (),
    )


def looked_words(at: datetime | None) -> str:
    """Say that repetitions came after a first look; "" where none did."""
    if at is None:
        return ""
    return (
        f"Repetitions were added after this comparison was first looked at on {day_in_words(at)}. "
        "Who repeats until a result appears finds one more often than the p value says."
    )


def _phrases(phrases: Iterable[Phrase], address: Address) -> tuple[NamedLink, ...]:
    return tuple(
        NamedLink(phrase.text, address.filtered(RowFilters(only=phrase.selects)) if phrase.selects else "")
        for phrase in phrases
    )


def _named(scenarios: Sequence[str]) -> list[str]:
    return [storable(name) for name in scenarios[:_NAMED]]


def _scenario_href(name: str, address: Address) -> str:
    return address.filtered(RowFilters(text=name))


def _completeness(found: Completeness, needed: float) -> str:
    share = f"{percent_text(found.decided, found.asked)}; " if found.asked else ""
    return (
        f"{found.decided:,} of {found.asked:,} scenario variants that the baseline decided are decided again "
        f"({share}{fraction_text(needed)} needed)."
    )


# ------------------------------------------------------------------------------------------------------------ drawing


def interval_view(change: MeanChange, margin: float) -> IntervalView:
    """Place a mean change, its 95% interval and the margin on one axis with nought."""
    low, high = min(change.low, -margin, -_LEAST_REACH), max(change.high, _LEAST_REACH)
    spare = (high - low) * 0.06
    low, high = low - spare, high + spare

    def place(value: float) -> int:
        return round(EDGE + (value - low) / (high - low) * (WIDTH - 2 * EDGE))

    return IntervalView(
        width=WIDTH,
        height=HEIGHT,
        axis=HEIGHT - 24,
        start=EDGE,
        end=WIDTH - EDGE,
        zero=place(0.0),
        low=place(change.low),
        span=max(1, place(change.high) - place(change.low)),
        mean=place(change.mean),
        margin=place(-margin),
        ticks=tuple(Tick(place(value), _points(value)) for value in _ticks(low, high)),
        is_crossing=change.low < -margin,
        words=points_text(change),
        margin_words=f"margin −{100 * margin:g}" if margin else "margin 0",
    )


def _ticks(low: float, high: float) -> list[float]:
    """Return three to seven round values on the axis, nought among them."""
    steps = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5, 1.0)
    step = next((each for each in steps if (high - low) / each <= 6), 1.0)
    first, last = int(low / step), int(high / step)
    return [number * step for number in range(first, last + 1)]


def _points(fraction: float) -> str:
    points = round(100 * fraction, 1)
    return f"{'+' if points > 0 else '−' if points < 0 else ''}{abs(points):g}"


# ------------------------------------------------------------------------------------------------- what would decide it


def _plan_actions(judged: Judged) -> tuple[Action, ...]:
    """Offer the repetitions that would decide as a filled-in run form for each side that can be run again here."""
    plan, stored = judged.plan, judged.stored
    if not plan.more:
        return ()
    scenarios = list(dict.fromkeys(stored.variants[variant].scenario_id for variant in plan.variants))
    if len(scenarios) > _MOST_RERUN:
        return ()
    sides = (("baseline", stored.baseline), ("candidate", stored.candidate))
    return tuple(_repeat(role, side, plan.more, scenarios) for role, side in sides)


def _repeat(role: str, side: Side, more: int, scenarios: Sequence[str]) -> Action:
    executed = [run.pk for run in side.runs if run.options] or [side.newest.pk]
    members = {"rerun": str(executed[-1]), "scenarios": scenarios, "repetitions": more}
    members |= {"fingerprint": side.fingerprint}
    words = f"{more} more {'repetition' if more == 1 else 'repetitions'} for the {role}"
    return Action(words, f"{reverse('new-run')}?{urlencode(members, doseq=True)}")
