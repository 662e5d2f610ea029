"""What would decide an inconclusive comparison: more repetitions of which scenario variants, a retry, more scenarios.

Repetitions help where chance was seen at work: a variant with mixed results on a side, or whose rate changed, in
whichever direction. Both sides get them alike. For each number of a short ladder the rules of the verdict are applied
to what ``prediction`` expects to be seen; the first that decides is named. It is an expectation, not a promise.

Undecided cases are another matter: repetitions are pooled beside them and leave them undecided. They need their run
resumed or retried; the plan takes it that variants that were undecided then show no change. Too few scenarios, removed
ones and changed definitions are not mended by either.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field, replace
from typing import Final, Generic, TypeVar

from evalrunner.compare.changes import Change
from evalrunner.compare.engine import Comparison, Row
from evalrunner.compare.prediction import Outlook
from evalrunner.compare.verdict import Assessment, Verdict, select

V = TypeVar("V", bound=Hashable)

_UNKNOWN: Final = "What the policy calls critical has no case on either side: run it, or correct the policy."
_STILL_OPEN: Final = {
    "critical_removed": "Critical scenario variants are missing in the candidate: run them too.",
    "critical_unknown": _UNKNOWN,
    "critical_tag_unknown": _UNKNOWN,
    "critical_redefined": "Critical scenario variants are defined otherwise: accept the new definitions or undo them.",
}


@dataclass(frozen=True, slots=True)
class Plan(Generic[V]):
    """How to come to a verdict; empty where there is one.

    ``more`` repetitions of each of ``variants`` on both sides are expected to decide in four of five tries, most likely
    with ``expected``; 0 where ``retry`` is enough, None where repetitions alone cannot decide. ``retry`` are variants
    whose undecided cases need their run resumed or retried. ``more_scenarios`` like those of the suite would decide;
    None where they are not needed or not known to help. ``sentences`` say all this.
    """

    is_needed: bool = False
    more: int | None = None
    variants: tuple[V, ...] = ()
    expected: Verdict | None = None
    retry: tuple[V, ...] = ()
    more_scenarios: int | None = None
    sentences: tuple[str, ...] = field(default=())

    @property
    def cases(self) -> int:
        """Return how many cases the repetitions are, over both sides."""
        return 2 * (self.more or 0) * len(self.variants)


def plan_repetitions(
    comparison: Comparison[V],
    assessment: Assessment,
    *,
    scenario_of: Callable[[V], str],
    is_known: Callable[[Row[V]], bool] = lambda _row: False,
) -> Plan[V]:
    """Say what would decide a comparison that was found inconclusive, by the policy it was judged by."""
    if assessment.verdict is not Verdict.INCONCLUSIVE:
        return Plan()
    policy = assessment.policy
    chosen = select(comparison, scenario_of=scenario_of, policy=policy, is_known=is_known)
    counted = {id(row) for row in chosen.counted}
    critical = {name for each in assessment.reasons if each.kind == "critical_undecided" for name in each.scenarios}
    open_ = [row for row in chosen.counted if _is_open(row, is_critical=scenario_of(row.variant) in critical)]
    outlook = Outlook.of(chosen.paired, [row for row in open_ if not _is_paired(row)], scenario_of, policy.margin)
    kinds = {reason.kind for reason in assessment.reasons}
    missing_pairs = policy.min_pairs - outlook.pairs
    obstacles = list(dict.fromkeys(sentence for kind, sentence in _STILL_OPEN.items() if kind in kinds))
    obstacles += _incomplete_for_good(comparison, counted, policy.completeness)
    retry = tuple(row.variant for row in open_)
    decision = None if missing_pairs > 0 or obstacles else outlook.first_decision()
    more, expected = decision or (None, None)
    scenarios = max(missing_pairs, 0) or (None if more is not None or obstacles else outlook.more_scenarios())
    plan = Plan(
        is_needed=True,
        more=more,
        variants=tuple(row.variant for _place, row in outlook.moving) if more else (),
        expected=expected,
        retry=retry,
        more_scenarios=scenarios,
    )
    return replace(plan, sentences=(*obstacles, *_sentences(plan, is_hopeless=bool(obstacles))))


def _is_open(row: Row[V], *, is_critical: bool) -> bool:
    """Tell whether a row that both sides have waits for cases to be decided.

    What neither side decided was skipped on purpose more often than not, and holds nothing up unless it is critical.
    """
    if row.change is Change.UNDECIDED:
        return is_critical
    return row.change in (Change.LOST, Change.GAINED) or bool(row.judgement.fewer_decided)


def _is_paired(row: Row[V]) -> bool:
    return bool(row.judgement.baseline.decided and row.judgement.candidate.decided)


def _incomplete_for_good(comparison: Comparison[V], counted: set[int], completeness: float) -> list[str]:
    asked = [row for row in comparison.rows if row.judgement.baseline.decided]
    gone = sum(row.change is Change.REMOVED or id(row) not in counted for row in asked)
    if not asked or (len(asked) - gone) / len(asked) >= completeness:
        return []
    return [
        f"{gone:,} of {len(asked):,} scenario variants that the baseline decided were removed or redefined: no "
        "repetition makes the candidate complete. Accept the new definitions that are meant, or run what is missing."
    ]


def _sentences(plan: Plan[V], *, is_hopeless: bool) -> Iterable[str]:
    if plan.retry:
        hope = " Should they show no change, the verdict would be: pass." if plan.more == 0 else ""
        yield f"Resume or retry {_variants(len(plan.retry))} with undecided cases.{hope}"
    if plan.more:
        yield (
            f"{plan.more} more {'repetition' if plan.more == 1 else 'repetitions'} of "
            f"{_variants(len(plan.variants))} on both sides ({plan.cases:,} cases) should be enough to "
            f"decide (probably: {plan.expected})."
        )
    elif plan.more_scenarios:
        noun = "scenario" if plan.more_scenarios == 1 else "scenarios"
        yield f"Repetitions alone cannot decide: about {plan.more_scenarios:,} more {noun} like these are needed."
    elif plan.more is None and not is_hopeless:
        yield "Repetitions alone cannot decide."


def _variants(number: int) -> str:
    return f"{number:,} scenario variant{'' if number == 1 else 's'}"
