"""How a run stands against its baseline, wherever a run is shown: verdict, sentence, marks, and by which rule."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evalrunner.compare import IMPROVEMENTS, REGRESSIONS, Change
from evalrunner.compare.answer import VERDICT_WORDS
from evalrunner.compare.verdict import Verdict

from reports.domain.baselines import Rule, rule_in_words, short_rule
from reports.domain.grammar import Sign, sign_of
from reports.models import Run
from reports.pages.links import compare_href
from reports.querysets import UNFINISHED
from reports.selectors.baselines import default_names
from reports.selectors.run_changes import counted_run, resolve_baseline
from reports.selectors.stored_changes import RunChangeRow, change_of_run

_MARKED = tuple(str(change) for change in Change if change in REGRESSIONS | IMPROVEMENTS | {Change.LOST})
_TONES = {
    Verdict.PASS: "passed",
    Verdict.REGRESSED: "failed",
    Verdict.INCONCLUSIVE: "blocked",
    Verdict.NOT_COMPARABLE: "skipped",
}
_SYMBOLS = {
    Verdict.PASS: "passed",
    Verdict.REGRESSED: "broken",
    Verdict.INCONCLUSIVE: "undecided",
    Verdict.NOT_COMPARABLE: "missing",
}


@dataclass(frozen=True, slots=True)
class VerdictMark:
    """A verdict as its badge shows it; ``word`` begins with a capital."""

    key: str
    word: str
    tone: str
    icon: str


@dataclass(frozen=True, slots=True)
class ChangeMark:
    """A number of scenario variants of one change class; ``text`` says it whole."""

    sign: Sign
    count: int
    text: str


@dataclass(frozen=True, slots=True)
class ChangeView:
    """A run against its baseline. ``href`` is their comparison; ``text`` says verdict and marks in words, ``rule`` the
    baseline, ``reason`` the first rule that speaks for the verdict.

    ``is_due``: it is being counted, and the rest is empty.
    """

    href: str = ""
    verdict: VerdictMark | None = None
    sentence: str = ""
    reason: str = ""
    marks: tuple[ChangeMark, ...] = ()
    text: str = ""
    rule: str = ""
    is_due: bool = False


@dataclass(frozen=True, slots=True)
class MeasuredRun:
    """What a run is measured against: the comparison ("" without one), the rule in words, and what is stored of it."""

    href: str
    words: str
    change: ChangeView | None


def measured_run(run: Run) -> MeasuredRun:
    """Say how a run stands against its baseline; while it goes on or is judged anew, at least which run that is."""
    row = change_of_run(run)
    if row is not None and row.baseline_pk is not None:
        name = default_names(team=run.team, runs=[row.baseline_pk]).get(row.baseline_pk, "")
        words = rule_in_words(Rule.DEFAULT if name else Rule.EARLIER, name)
        return MeasuredRun(compare_href(row.baseline_pk, run.pk), words, change_view(row, name))
    counted = counted_run(run.pk) if row is not None or run.status in UNFINISHED else None
    if counted is None:
        return MeasuredRun("", rule_in_words(Rule.NONE), None)
    found = resolve_baseline(counted)
    href = compare_href(found.run.pk, run.pk) if found.run and run.generation_id else ""
    return MeasuredRun(href, found.words, change_view(row))


def verdict_mark(verdict: Verdict) -> VerdictMark:
    return VerdictMark(str(verdict), VERDICT_WORDS[verdict].capitalize(), _TONES[verdict], _SYMBOLS[verdict])


def verdict_tone(verdict: Verdict) -> str:
    return _TONES[verdict]


def change_view(row: RunChangeRow | None, baseline: str = "") -> ChangeView | None:
    """Decide how a run's change is shown; ``baseline`` is the name of its baseline, "" for an earlier version."""
    if row is None:
        return None
    if row.baseline_pk is None:
        return ChangeView(is_due=True)
    mark, marks = verdict_mark(Verdict(row.verdict)), change_marks(row.counts or {})
    return ChangeView(
        href=compare_href(row.baseline_pk, row.run_pk),
        verdict=mark,
        sentence=row.sentence,
        reason=row.reason,
        marks=marks,
        text=f"{mark.word}: {change_text(marks, baseline)}",
        rule=short_rule(baseline),
    )


def change_text(marks: Sequence[ChangeMark], baseline: str) -> str:
    """Say marks in words, for readers who do not see them; a baseline without a name is an earlier version."""
    against = f"its baseline {baseline}" if baseline else "its baseline, the newest earlier version"
    return f"{', '.join(mark.text for mark in marks) or 'no change'} against {against}"


def change_marks(changes: Mapping[str, int]) -> tuple[ChangeMark, ...]:
    """Return what got worse and what got better against the baseline, in the order of the comparison."""
    return tuple(
        ChangeMark(sign_of(change, "change"), changes[change], f"{changes[change]:,} {sign_of(change, 'change').word}")
        for change in _MARKED
        if changes.get(change)
    )
