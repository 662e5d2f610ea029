"""The verdict on a comparison: pass, regressed, inconclusive or not comparable, and why.

Two questions, two methods. *Did this suite get worse?* is answered by the re-dealing test and alone decides
"regressed". *How large is the change on scenarios like these?* is answered by the clustered interval, which drives the
margin. Rows that are measured otherwise than before stand outside both and count as not decided, unless their new
definition was accepted.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Generic, TypeVar

from evalrunner.compare.changes import Change
from evalrunner.compare.comparability import FOLLOW_UP
from evalrunner.compare.engine import Comparison, Row
from evalrunner.compare.intervals import MeanChange, mean_change
from evalrunner.compare.policy import DEFAULT_POLICY, Policy, Unmatched
from evalrunner.compare.redealing import Pair, Redealing, redeal
from evalrunner.compare.tally import fraction_text
from evalrunner.compare.unseen import on_one_line

V = TypeVar("V", bound=Hashable)

ALPHA: Final = 0.05
NOTHING_UNMATCHED: Final = Unmatched()
_TAGS_NAMED: Final = 4
_LONGEST_TAG: Final = 60  # characters


class Verdict(StrEnum):
    PASS = "pass"
    REGRESSED = "regressed"
    INCONCLUSIVE = "inconclusive"
    NOT_COMPARABLE = "not_comparable"


@dataclass(frozen=True, slots=True)
class Reason:
    """One rule that speaks for a verdict. ``kind`` is stable text for programs; ``scenarios`` are scenario ids."""

    verdict: Verdict
    kind: str
    text: str
    scenarios: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Completeness:
    """``decided`` of the ``asked`` scenario variants that the baseline decided are as decided in the candidate."""

    decided: int
    asked: int

    @property
    def share(self) -> float:
        return self.decided / self.asked if self.asked else 1.0


@dataclass(frozen=True, slots=True)
class Assessment:
    """The verdict with everything it stands on. ``reasons`` holds all rules that speak, those of the verdict first.

    ``fallen`` counts the pairs whose rate fell: what is to be held against ``test.expected_regressions``.
    """

    verdict: Verdict
    reasons: tuple[Reason, ...]
    test: Redealing
    change: MeanChange | None
    pairs: int
    left_out: int
    completeness: Completeness
    errors: int
    regressions: int
    fallen: int
    policy: Policy


@dataclass(frozen=True, slots=True)
class Selection(Generic[V]):
    """``counted`` rows are measured alike on both sides or have an accepted definition; ``paired`` ones enter the test.

    Paired rows are decided on both sides and not excepted as known.
    """

    counted: tuple[Row[V], ...]
    paired: tuple[Row[V], ...]


def select(
    comparison: Comparison[V],
    *,
    scenario_of: Callable[[V], str],
    policy: Policy = DEFAULT_POLICY,
    is_known: Callable[[Row[V]], bool] = lambda _row: False,
) -> Selection[V]:
    """Choose the rows on which a verdict stands."""
    accepted = policy.accepted_definitions
    counted = [row for row in comparison.rows if not row.is_redefined or scenario_of(row.variant) in accepted]
    tested = [row for row in counted if not (policy.except_known_issues and is_known(row))]
    paired = [row for row in tested if row.judgement.baseline.decided and row.judgement.candidate.decided]
    return Selection(tuple(counted), tuple(paired))


def pair_of(row: Row[V]) -> Pair:
    """Return the counts of a row that is decided on both sides, as the tests take them."""
    before, after = row.judgement.baseline, row.judgement.candidate
    return Pair(before.passed, before.decided, after.passed, after.decided)


def pairs_of(rows: Iterable[Row[V]]) -> list[Pair]:
    """Return ``pair_of`` each row; rows that share their judgement share the pair."""
    known: dict[int, Pair] = {}
    pairs = []
    for row in rows:
        pair = known.get(id(row.judgement))
        if pair is None:
            pair = known[id(row.judgement)] = pair_of(row)
        pairs.append(pair)
    return pairs


def assess(
    comparison: Comparison[V],
    *,
    scenario_of: Callable[[V], str],
    policy: Policy = DEFAULT_POLICY,
    is_critical: Callable[[V], bool] = lambda _variant: False,
    is_known: Callable[[Row[V]], bool] = lambda _row: False,
    is_same: bool = False,
    unmatched: Unmatched = NOTHING_UNMATCHED,
) -> Assessment:
    """Judge a comparison by a policy. ``is_same`` tells that both sides are the same runs, which passes at any size.

    ``unmatched`` is what the policy calls critical and neither side has a case of.
    """
    rows = comparison.rows
    chosen = select(comparison, scenario_of=scenario_of, policy=policy, is_known=is_known)
    counted, paired = chosen.counted, chosen.paired
    test = redeal(pairs_of(paired))
    change = mean_change(_clusters(paired, scenario_of))
    completeness = _completeness(rows, {id(row) for row in counted})
    errors = sum(row.candidate.statuses.count("error") for row in rows)
    reasons = [
        *_not_comparable(comparison, counted, policy),
        *_critical_regressions(counted, scenario_of, is_critical, is_known),
        *_too_many_errors(errors, rows, scenario_of, policy),
        *_got_worse(test, paired, scenario_of),
        *([] if is_same else _too_few(len(paired), policy)),
        *_incomplete(completeness, policy),
        *([] if is_same else _critical_open(rows, {id(row) for row in counted}, scenario_of, is_critical)),
        *([] if is_same else _critical_unknown(unmatched)),
        *([] if is_same else _margin(change, policy)),
    ]
    verdict = next((each for each in _ORDER if any(reason.verdict is each for reason in reasons)), Verdict.PASS)
    return Assessment(
        verdict=verdict,
        reasons=tuple(sorted(reasons, key=lambda reason: reason.verdict is not verdict)),
        test=test,
        change=change,
        pairs=len(paired),
        left_out=len(rows) - len(paired),
        completeness=completeness,
        errors=errors,
        regressions=comparison.regressions,
        fallen=sum(row.judgement.drop > 0 for row in paired),
        policy=policy,
    )


_ORDER: Final = (Verdict.NOT_COMPARABLE, Verdict.REGRESSED, Verdict.INCONCLUSIVE)


def _clusters(rows: Iterable[Row[V]], scenario_of: Callable[[V], str]) -> list[list[float]]:
    by_scenario: dict[str, list[float]] = {}
    for row in rows:
        by_scenario.setdefault(scenario_of(row.variant), []).append(-row.judgement.drop)
    return list(by_scenario.values())


def _completeness(rows: Sequence[Row[V]], counted: set[int]) -> Completeness:
    asked = [row for row in rows if row.judgement.baseline.decided]
    decided = [
        row
        for row in asked
        if id(row) in counted and row.judgement.candidate.decided and not row.judgement.fewer_decided
    ]
    return Completeness(len(decided), len(asked))


# ------------------------------------------------------------------------------------------------------------ the rules


def _not_comparable(comparison: Comparison[V], counted: Sequence[Row[V]], policy: Policy) -> Iterable[Reason]:
    for difference in comparison.differences:
        if difference.kind == FOLLOW_UP:
            text = f"the {difference.name} is a follow-up, whose scenarios were chosen by their outcome"
            yield Reason(Verdict.NOT_COMPARABLE, FOLLOW_UP, text)
    if not policy.other_target:
        for difference in comparison.differences:
            if difference.kind in ("target", "suite"):
                text = f"the sides have different {difference.name} ids"
                yield Reason(Verdict.NOT_COMPARABLE, f"other_{difference.kind}", text)
    common = sum(1 for row in counted if row.judgement.baseline.total and row.judgement.candidate.total)
    if 2 * common < len(comparison.rows) or not comparison.rows:
        text = f"only {common} of {len(comparison.rows)} scenario variants stand on both sides with the same definition"
        yield Reason(Verdict.NOT_COMPARABLE, "overlap", text)


def _critical_regressions(
    rows: Iterable[Row[V]],
    scenario_of: Callable[[V], str],
    is_critical: Callable[[V], bool],
    is_known: Callable[[Row[V]], bool],
) -> Iterable[Reason]:
    for change in (Change.BROKEN, Change.LOST):
        found = [row for row in rows if row.change is change and is_critical(row.variant) and not is_known(row)]
        if found:
            words = _variants(len(found), "critical scenario variant")
            names = _scenarios(found, scenario_of)
            yield Reason(Verdict.REGRESSED, f"critical_{change.value}", f"{words} {change.value}", names)


def _too_many_errors(
    errors: int, rows: Iterable[Row[V]], scenario_of: Callable[[V], str], policy: Policy
) -> Iterable[Reason]:
    if policy.max_errors is not None and errors > policy.max_errors:
        names = _scenarios([row for row in rows if "error" in row.candidate.statuses], scenario_of)
        text = f"{errors} cases ended in an error, {policy.max_errors} allowed"
        yield Reason(Verdict.REGRESSED, "errors", text, names)


def _got_worse(test: Redealing, paired: Iterable[Row[V]], scenario_of: Callable[[V], str]) -> Iterable[Reason]:
    if test.p_value <= ALPHA:
        fallen = sorted((row for row in paired if row.judgement.drop > 0), key=lambda row: -row.judgement.drop)
        expected = f", {test.expected_regressions:.1f} expected by chance" if test.can_estimate_noise else ""
        text = f"{_variants(len(fallen), 'scenario variant')} fell{expected} (p {p_text(test.p_value)})"
        yield Reason(Verdict.REGRESSED, "got_worse", text, _scenarios(fallen, scenario_of))


def _too_few(pairs: int, policy: Policy) -> Iterable[Reason]:
    if pairs < policy.min_pairs:
        text = f"{_variants(pairs, 'scenario variant')} decided on both sides, {policy.min_pairs} needed"
        yield Reason(Verdict.INCONCLUSIVE, "pairs", text)


def _incomplete(completeness: Completeness, policy: Policy) -> Iterable[Reason]:
    if completeness.share < policy.completeness:
        text = (
            f"{completeness.decided} of {completeness.asked} scenario variants that the baseline decided are decided "
            f"again, {fraction_text(policy.completeness)} needed"
        )
        yield Reason(Verdict.INCONCLUSIVE, "completeness", text)


def _critical_open(
    rows: Iterable[Row[V]], counted: set[int], scenario_of: Callable[[V], str], is_critical: Callable[[V], bool]
) -> Iterable[Reason]:
    critical = [row for row in rows if is_critical(row.variant)]
    open_ = {
        "undecided": [row for row in critical if row.change is Change.UNDECIDED],
        "removed": [row for row in critical if row.change is Change.REMOVED],
        "redefined": [row for row in critical if id(row) not in counted],
    }
    for kind, found in open_.items():
        if found:
            words = _variants(len(found), "critical scenario variant")
            yield Reason(Verdict.INCONCLUSIVE, f"critical_{kind}", f"{words} {kind}", _scenarios(found, scenario_of))


def _critical_unknown(unmatched: Unmatched) -> Iterable[Reason]:
    """What was to be guarded and was not looked at makes no verdict; a misspelt name shows here."""
    if number := len(unmatched.scenarios):
        words = "1 critical scenario of the policy stands" if number == 1 else f"{number} critical scenarios stand"
        yield Reason(Verdict.INCONCLUSIVE, "critical_unknown", f"{words} on neither side", unmatched.scenarios)
    if number := len(unmatched.tags):
        named = ", ".join(f"“{on_one_line(tag, _LONGEST_TAG)}”" for tag in unmatched.tags[:_TAGS_NAMED])
        more = f" and {number - _TAGS_NAMED:,} more" if number > _TAGS_NAMED else ""
        words = f"no scenario on either side has the critical tag{'' if number == 1 else 's'} {named}{more}"
        yield Reason(Verdict.INCONCLUSIVE, "critical_tag_unknown", words)


def _margin(change: MeanChange | None, policy: Policy) -> Iterable[Reason]:
    if change is not None and change.low < -policy.margin:
        fallen = _past(-100 * change.low, 100 * policy.margin)
        text = f"the pass rate may have fallen by {fallen} points (95% interval), {100 * policy.margin:g} accepted"
        yield Reason(Verdict.INCONCLUSIVE, "margin", text)


def _variants(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _scenarios(rows: Iterable[Row[V]], scenario_of: Callable[[V], str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(scenario_of(row.variant) for row in rows))


def _past(value: float, bound: float) -> str:
    """Write a number above a bound with one decimal, or with as many as it takes to be seen above it."""
    texts = (f"{value:.{decimals}f}" for decimals in range(1, 9))
    return next((text for text in texts if float(text) > bound), f"{value:.1f}")


def p_text(p_value: float) -> str:
    """Return a p value for a sentence: two significant digits, "< 0.0001" below that.

    What decides nothing is not rounded to what would: a p value just above 0.05 gets the digits that tell.
    """
    if p_value < 0.0001:
        return "< 0.0001"
    texts = (f"{p_value:.{digits}g}" for digits in range(2, 9))
    told = next((text for text in texts if (float(text) <= ALPHA) == (p_value <= ALPHA)), f"{p_value:.2g}")
    return f"= {told}"
