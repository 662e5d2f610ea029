"""What would decide an inconclusive comparison: more repetitions of which scenario variants, a retry, more scenarios.

Repetitions help where chance was seen at work: a variant with mixed results on a side, or whose rate changed. For each
number of a short ladder the rules of the verdict are applied to what would be seen if the rates stayed as they are:

- The re-dealing test is given the same rates on more cases.
- The clustered interval loses the part of its variance that repetitions explain. Of a variant's squared change
  p(1 - p)/n on either side is noise, with p taken as (passed + 1/2)/(decided + 1) (H. Jeffreys' prior); r more cases
  leave p(1 - p)/(n + r) of it. What is left of the sum of squares is never less than the noise that stays.

Undecided cases are another matter: repetitions are pooled beside them and leave them undecided. They need their run
resumed or retried; the plan takes it that variants that were undecided then show no change. Too few scenarios, removed
ones and changed definitions are not mended by either.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Generic, TypeVar

from evalrunner.compare.changes import Change
from evalrunner.compare.engine import Comparison, Row
from evalrunner.compare.intervals import imagined_squares, t_quantile
from evalrunner.compare.redealing import Pair, redeal
from evalrunner.compare.tally import Tally
from evalrunner.compare.verdict import ALPHA, Assessment, Verdict, pair_of, select

V = TypeVar("V", bound=Hashable)

LADDER: Final = (1, 2, 3, 5, 8, 12, 20, 30, 50)
MOST_SCENARIOS: Final = 10_000
_STILL_OPEN: Final = {
    "critical_removed": "Critical scenario variants are missing in the candidate: run them too.",
    "critical_redefined": "Critical scenario variants are defined otherwise: accept the new definitions or undo them.",
}


@dataclass(frozen=True, slots=True)
class Plan(Generic[V]):
    """How to come to a verdict; empty where there is one.

    ``more`` repetitions of each of ``variants`` on both sides are expected to show ``expected``; None where repetitions
    alone cannot decide. ``retry`` are variants whose undecided cases need their run resumed or retried.
    ``more_scenarios`` like those of the suite would decide; None where they are not needed or not known to help.
    ``sentences`` say all this.
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
    outlook = _Outlook.of(chosen.paired, [row for row in open_ if not _is_paired(row)], scenario_of, policy.margin)
    kinds = {reason.kind for reason in assessment.reasons}
    missing_pairs = policy.min_pairs - outlook.pairs
    obstacles = [sentence for kind, sentence in _STILL_OPEN.items() if kind in kinds]
    obstacles += _incomplete_for_good(comparison, counted, policy.completeness)
    retry = tuple(row.variant for row in open_)
    more, expected = (None, None) if missing_pairs > 0 or obstacles else outlook.first_decision()
    scenarios = max(missing_pairs, 0) or (None if more is not None or obstacles else outlook.more_scenarios())
    plan = Plan(
        is_needed=True,
        more=more,
        variants=tuple(row.variant for row in outlook.moving) if more else (),
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
            f"If the rates stay as they are, {plan.more} more {'repetition' if plan.more == 1 else 'repetitions'} of "
            f"{_variants(len(plan.variants))} on both sides ({plan.cases:,} cases) would show: {plan.expected}."
        )
    elif plan.more_scenarios:
        noun = "scenario" if plan.more_scenarios == 1 else "scenarios"
        yield f"Repetitions alone cannot decide: about {plan.more_scenarios:,} more {noun} like these are needed."
    elif plan.more is None and not is_hopeless:
        yield "Repetitions alone cannot decide."


def _variants(number: int) -> str:
    return f"{number:,} scenario variant{'' if number == 1 else 's'}"


# ------------------------------------------------------------------------------------------------------- the prediction


@dataclass(frozen=True, slots=True)
class _Outlook(Generic[V]):
    """What is known before more cases are seen. ``moving`` rows are those in which chance was seen at work."""

    moving: tuple[Row[V], ...]
    clusters: tuple[tuple[float, ...], ...]
    pairs: int
    mean: float
    margin: float

    @classmethod
    def of(
        cls, paired: Sequence[Row[V]], waiting: Sequence[Row[V]], scenario_of: Callable[[V], str], margin: float
    ) -> _Outlook[V]:
        by_scenario: dict[str, list[float]] = {}
        for row in paired:
            by_scenario.setdefault(scenario_of(row.variant), []).append(-row.judgement.drop)
        for row in waiting:
            by_scenario.setdefault(scenario_of(row.variant), []).append(0.0)
        changes = [change for each in by_scenario.values() for change in each]
        return cls(
            moving=tuple(row for row in paired if _moves(row)),
            clusters=tuple(tuple(each) for each in by_scenario.values()),
            pairs=len(changes),
            mean=math.fsum(changes) / len(changes) if changes else 0.0,
            margin=margin,
        )

    def first_decision(self) -> tuple[int | None, Verdict | None]:
        """Return the smallest number of the ladder that decides, and how; 0 where a retry is enough."""
        for more in (0, *LADDER) if self.clusters else ():
            if more and not self.moving:
                break
            if self._p_value(more) <= ALPHA:
                return more, Verdict.REGRESSED
            if self._low(more) >= -self.margin:
                return more, Verdict.PASS
        return None, None

    def more_scenarios(self) -> int | None:
        """Return how many more scenarios like these would narrow the interval enough; None where none would."""
        count = len(self.clusters)
        if not count or self.mean <= -self.margin or self._low_of(MOST_SCENARIOS) < -self.margin:
            return None
        few, enough = count, MOST_SCENARIOS
        while enough - few > 1:
            middle = (few + enough) // 2
            few, enough = (few, middle) if self._low_of(middle) >= -self.margin else (middle, enough)
        return enough - count

    def _p_value(self, more: int) -> float:
        return redeal([_predicted(pair_of(row), more) for row in self.moving]).p_value

    def _low(self, more: int) -> float:
        left = math.fsum(_noise(row, more) for row in self.moving)
        quieter = math.fsum(_noise(row, 0) for row in self.moving) - left
        squares = self._squares()
        return self._low_with(max(min(left, squares), squares - quieter), len(self.clusters))

    def _low_of(self, scenarios: int) -> float:
        return self._low_with(self._squares() * scenarios / len(self.clusters), scenarios)

    def _squares(self) -> float:
        return math.fsum(math.fsum(change - self.mean for change in changes) ** 2 for changes in self.clusters)

    def _low_with(self, squares: float, scenarios: int) -> float:
        """Return the lower end of the interval, as ``mean_change`` has it, for sums of squares that were predicted."""
        if scenarios < 2:
            return -1.0
        times = scenarios / len(self.clusters)
        pairs = self.pairs * times
        usual = self.pairs / len(self.clusters)
        means = [math.fsum(changes) / len(changes) for changes in self.clusters]
        squares += usual * usual * imagined_squares(means, times=times)
        error = math.sqrt(squares * scenarios / (scenarios - 1)) / pairs
        return self.mean - t_quantile(0.975, scenarios - 1) * error


def _moves(row: Row[V]) -> bool:
    before, after = row.judgement.baseline, row.judgement.candidate
    return row.judgement.drop != 0 or 0 < before.passed < before.decided or 0 < after.passed < after.decided


def _noise(row: Row[V], more: int) -> float:
    return _noise_of(row.judgement.baseline, more) + _noise_of(row.judgement.candidate, more)


def _noise_of(side: Tally, more: int) -> float:
    rate = (side.passed + 0.5) / (side.decided + 1)
    return rate * (1 - rate) / (side.decided + more)


def _predicted(pair: Pair, more: int) -> Pair:
    """Return the same rates on more cases, rounded to whole cases."""
    before, after = pair.baseline_decided + more, pair.candidate_decided + more
    return Pair(
        round(pair.baseline_passed / pair.baseline_decided * before),
        before,
        round(pair.candidate_passed / pair.candidate_decided * after),
        after,
    )
