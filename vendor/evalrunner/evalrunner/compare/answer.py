"""The answer of a comparison with its verdict, in words and numbers before anything else."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Final, TypeVar

from evalrunner.compare.engine import Comparison
from evalrunner.compare.intervals import MeanChange
from evalrunner.compare.redealing import Redealing
from evalrunner.compare.verdict import Assessment, Verdict, p_text
from evalrunner.compare.words import Phrase, changed_phrases, with_subject

V = TypeVar("V", bound=Hashable)

VERDICT_WORDS: Final[Mapping[Verdict, str]] = {
    Verdict.PASS: "pass",
    Verdict.REGRESSED: "regressed",
    Verdict.INCONCLUSIVE: "inconclusive",
    Verdict.NOT_COMPARABLE: "not comparable",
}


def answer(comparison: Comparison[V], assessment: Assessment) -> tuple[Phrase, ...]:
    """Return the one sentence that answers: what changed, by how much, and the verdict."""
    if not comparison.rows:
        return (Phrase(f"Neither side has a case: {VERDICT_WORDS[assessment.verdict]}."),)
    change = assessment.change
    size = f"; difference {points_text(change)}" if change is not None else ""
    end = Phrase(f"{size}: {VERDICT_WORDS[assessment.verdict]}.")
    return with_subject((*changed_phrases(comparison), end))


def points_text(change: MeanChange) -> str:
    """Return a mean change with its interval: "−2.1 points (95% interval −5.0 to +0.6)"."""
    return f"{_signed(change.mean)} points (95% interval {_signed(change.low)} to {_signed(change.high)})"


def noise_in_words(test: Redealing, fallen: int, pairs: int) -> str:
    """Say how many of the paired scenario variants fell, how many chance alone lets fall, and how likely that is."""
    if not pairs:
        return "No scenario variant was decided on both sides, so nothing can be tested."
    fell = f"{fallen:,} scenario variant{'' if fallen == 1 else 's'} fell"
    p_value = f"p {p_text(test.p_value)}{'' if test.is_exact else ', estimated'}"
    if not test.can_estimate_noise:
        return f"{fell} ({p_value}); without repetitions it cannot be estimated how many chance alone lets fall."
    return f"{fell}, {test.expected_regressions:.1f} expected by chance ({p_value})."


def effect_in_words(change: MeanChange | None, left_out: int) -> str:
    """Say on how much the interval stands and what it could have shown."""
    if change is None:
        return "No scenario variant was decided on both sides, so the change has no size."
    parts = [f"{change.pairs:,} scenario variants of {change.clusters:,} scenarios decided on both sides"]
    if left_out:
        parts.append(f"{left_out:,} left out")
    if change.smallest_effect is not None and change.smallest_effect <= 1:
        parts.append(f"smallest change this suite would have shown: {100 * change.smallest_effect:.1f} points")
    return f"{'; '.join(parts)}."


def _signed(fraction: float) -> str:
    points = round(100 * fraction, 1) + 0.0  # no minus before a zero
    sign = "+" if points > 0 else "−" if points < 0 else ""
    return f"{sign}{abs(points):.1f}"
