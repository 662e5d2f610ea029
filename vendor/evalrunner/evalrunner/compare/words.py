"""A comparison as one sentence: numbers and words first, the same for page, API and command line."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Final, TypeVar

from evalrunner.compare.changes import Change, Group
from evalrunner.compare.comparability import Difference
from evalrunner.compare.engine import Comparison
from evalrunner.compare.tally import Tally

V = TypeVar("V", bound=Hashable)

REDEFINED: Final = str(Group.REDEFINED)

# One and several, each class in its own verb.
_WORSE: Final[Mapping[Change, tuple[str, str]]] = {
    Change.BROKEN: ("broke", "broke"),
    Change.LOST: ("was lost", "were lost"),
    Change.UNSTABLE: ("became unstable", "became unstable"),
    Change.WORSE: ("got worse", "got worse"),
    Change.FAILING_DIFFERENTLY: ("fails differently", "fail differently"),
}
_BETTER: Final[Mapping[Change, tuple[str, str]]] = {
    Change.FIXED: ("was fixed", "were fixed"),
    Change.STABILISED: ("stabilised", "stabilised"),
    Change.BETTER: ("got better", "got better"),
    Change.GAINED: ("was gained", "were gained"),
}
_OTHER: Final[Mapping[Change, tuple[str, str]]] = {
    Change.ADDED: ("was added", "were added"),
    Change.REMOVED: ("was removed", "were removed"),
}
_UNCHANGED: Final[Mapping[Change, tuple[str, str]]] = {
    Change.STEADY: ("is steady", "are steady"),
    Change.FAILING: ("fails as before", "fail as before"),
    Change.UNDECIDED: ("is undecided on both sides", "are undecided on both sides"),
}


@dataclass(frozen=True, slots=True)
class Phrase:
    """A piece of the sentence. ``selects`` names the class of rows it counts, "" for plain words."""

    text: str
    selects: str = ""


def sentence(comparison: Comparison[V]) -> tuple[Phrase, ...]:
    """Return the answer of a comparison in phrases; joined as they are, they read as sentences."""
    if not comparison.rows:
        return (Phrase("Neither side has a case."),)
    phrases = [*changed_phrases(comparison)]
    if unchanged := _clause(comparison.counts(), _UNCHANGED):
        phrases += [Phrase(". "), *unchanged]
    return with_subject((*phrases, Phrase(".")))


def changed_phrases(comparison: Comparison[V]) -> tuple[Phrase, ...]:
    """Return what changed, without an end and without the noun that ``with_subject`` adds."""
    counts = comparison.counts()
    phrases = [*_clause(counts, _WORSE)]
    if not phrases:
        phrases = [Phrase("No scenario variant broke, was lost or got worse")]
    for verbs in (_BETTER, _OTHER):
        if clause := _clause(counts, verbs):
            phrases += [Phrase("; "), *clause]
    if comparison.redefined:
        phrases += [Phrase("; "), Phrase(f"{comparison.redefined:,} redefined", REDEFINED)]
    return tuple(phrases)


def rates_in_words(comparison: Comparison[V]) -> str:
    """Return both pass rates with their counts; redefined scenario variants are left out of them."""
    rates = f"Pass rate {_rate(comparison.baseline)} → {_rate(comparison.candidate)}"
    fewer = comparison.fewer_decided
    lost = f"; {fewer:,} fewer decided" if fewer else ""
    left_out = " Redefined scenario variants are left out of both." if comparison.redefined else ""
    return f"{rates}{lost}.{left_out}"


def in_words(comparison: Comparison[V]) -> str:
    """Return the whole answer as text."""
    return f"{''.join(phrase.text for phrase in sentence(comparison))} {rates_in_words(comparison)}"


def _rate(tally: Tally) -> str:
    return f"{tally.percent} ({tally.words})" if tally.decided else tally.words


def _clause(counts: Mapping[Change, int], verbs: Mapping[Change, tuple[str, str]]) -> list[Phrase]:
    phrases: list[Phrase] = []
    for change, (one, several) in verbs.items():
        if number := counts[change]:
            phrases += [Phrase(", ")] if phrases else []
            phrases.append(Phrase(f"{number:,} {one if number == 1 else several}", str(change)))
    return phrases


def with_subject(phrases: tuple[Phrase, ...]) -> tuple[Phrase, ...]:
    """Say once what is counted: "5 broke" becomes "5 scenario variants broke" at the first number."""
    for place, phrase in enumerate(phrases):
        if phrase.selects:
            number, _, verb = phrase.text.partition(" ")
            noun = "scenario variant" if number == "1" else "scenario variants"
            counted = Phrase(f"{number} {noun} {verb}", phrase.selects)
            return (*phrases[:place], counted, *phrases[place + 1 :])
    return phrases


def difference_in_words(difference: Difference) -> str:
    """Return one thing that is not comparable as a sentence; texts from outside stand in it as they are."""
    before, after = difference.baseline, difference.candidate
    sentences: dict[str, str] = {
        "follow_up": (
            f"The {difference.name} is a follow-up: its scenarios were chosen by their outcome; no gate judges it."
        ),
        "suite": f"Different suites: {before} → {after}.",
        "target": f"Different targets: {before} → {after}.",
        "suite_revision": f"Different suite revisions: {_short(before)} → {_short(after)}.",
        "repetitions": f"Different repetitions: {before} → {after} cases a scenario variant.",
        "unfinished": f"Not every run is completed: {before} → {after}.",
    }
    return sentences.get(difference.kind, f"Different {difference.name}: {before} → {after}.")


def _short(digests: str) -> str:
    return ", ".join(digest[:12] for digest in digests.split(", "))
