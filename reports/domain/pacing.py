"""How long a run will take, or goes on for: from earlier runs of its target, then more and more from its own pace.

Each case is given an expected length: the median of its scenario variant in earlier runs, else its turns times the mean
length of a turn there. What is left takes the sum of these lengths, shared out among the conversations that go on at
once, and never less than the longest case. The more cases have ended, the more this run's own pace counts: the time
that it took for the lengths it has behind it. From ``settled_after`` on it counts alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from evalrunner.cases import expand_cases
from evalrunner.models import EvaluationSuite, ExpandedCase, WritePolicy

from reports.domain.run_options import RunOptions, without_tags
from reports.domain.wording import counted, duration_in_words
from reports.keys import variant_key

_SETTLED = 20  # cases; with many at once, two rounds of them


@dataclass(frozen=True, slots=True)
class Earlier:
    """What earlier runs of a target tell: how many they were, and milliseconds.

    ``variant_ms`` maps the key of a scenario variant to the median of its cases, ``turn_ms`` is the mean of all turns.
    """

    runs: int = 0
    variant_ms: Mapping[str, float] = field(default_factory=dict)
    turn_ms: float = 0.0

    def case_ms(self, variant: str, turns: int) -> float:
        """Return the expected length of a case; without earlier runs its number of turns, which weighs likewise."""
        if not turns:
            return 0.0
        return self.variant_ms.get(variant) or turns * (self.turn_ms or 1.0)


@dataclass(frozen=True, slots=True)
class VariantCases:
    """The cases of one scenario variant, by how far they are; ``turns`` is 0 where none will be held."""

    variant: str
    turns: int
    waiting: int = 0
    running: int = 0
    ended: int = 0


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is: ``ended`` cases of its own within ``elapsed_ms``; ``lanes`` conversations go on at once."""

    lanes: int
    ended: int = 0
    elapsed_ms: float = 0.0


@dataclass(frozen=True, slots=True)
class Estimate:
    """``left_ms`` from now on, 0 where it should have ended by now; ``source`` says in words where that comes from."""

    left_ms: float
    source: str

    @property
    def words(self) -> str:
        if not self.left_ms:
            return "it takes longer than earlier runs did"
        return f"about {duration_in_words(self.left_ms)} left, {self.source}"


def settled_after(lanes: int) -> int:
    """Return after how many ended cases a run is judged by its own pace alone."""
    return max(_SETTLED, 2 * lanes)


def estimate_left(cases: Sequence[VariantCases], earlier: Earlier, progress: Progress) -> Estimate | None:
    """Return how long the cases that have not ended will take; None where nothing tells, or nothing is left."""
    if not any(each.waiting or each.running for each in cases):
        return None
    ahead = _ahead_ms(cases, earlier, progress) if earlier.runs else None
    own = _own_ms(cases, earlier, progress)
    if own is None:
        return None if ahead is None else Estimate(ahead, _earlier_words(cases, earlier))
    if ahead is None or progress.ended >= settled_after(progress.lanes):
        return Estimate(own, "at the pace of this run")
    weight = progress.ended / settled_after(progress.lanes)
    mixed = weight * own + (1 - weight) * ahead
    return Estimate(mixed, f"by the pace of this run and {_runs(earlier)}")


def estimate_words(cases: Sequence[VariantCases], earlier: Earlier, *, lanes: int) -> str:
    """Say how long a run that has not been asked for yet will take, and from what that is known."""
    found = estimate_left(cases, earlier, Progress(lanes))
    if found is None:
        return "No earlier run of this target tells how long it will take."
    return f"About {duration_in_words(found.left_ms)}, {found.source}."


def planned_cases(suite: EvaluationSuite, options: RunOptions) -> tuple[VariantCases, ...]:
    """Return the cases that a request will hold. Raises EvaluationError where the runner would refuse it."""
    cases = expand_cases(
        suite, scenario_ids=options.scenario_ids, tags=options.tags, repetitions=1, max_cases=options.max_cases
    )
    return tuple(
        VariantCases(
            variant_key(case.scenario.id, case.variants), _planned_turns(case, options), waiting=options.repetitions
        )
        for case in without_tags(cases, options.harness.exclude_tags)
    )


def _planned_turns(case: ExpandedCase, options: RunOptions) -> int:
    is_blocked = case.scenario.write_policy == WritePolicy.EXTERNAL and not options.allow_external_writes
    return 0 if is_blocked or case.scenario.skip_reason is not None else len(case.steps)


def _ahead_ms(cases: Sequence[VariantCases], earlier: Earlier, progress: Progress) -> float:
    """Return what is left if this run is like earlier ones.

    Until a case has ended, those that go on have taken as long as the run itself; later they are half done, as far as
    anybody knows.
    """
    done = 0.5 if progress.ended else 0.0
    left = sum((each.waiting + each.running * (1 - done)) * earlier.case_ms(each.variant, each.turns) for each in cases)
    number = sum(each.waiting + each.running for each in cases if each.turns)
    longest = max((earlier.case_ms(each.variant, each.turns) for each in cases if each.waiting), default=0.0)
    gone = 0.0 if progress.ended else progress.elapsed_ms
    return max(left / max(1, min(progress.lanes, number)) - gone, longest)


def _own_ms(cases: Sequence[VariantCases], earlier: Earlier, progress: Progress) -> float | None:
    """Return what is left at the run's own pace; None before a case of it has ended.

    Cases that were taken over from another run have ended too, so those of this one are counted by ``progress``.
    """
    ended = sum(each.ended for each in cases if each.turns)
    behind = sum(each.ended * earlier.case_ms(each.variant, each.turns) for each in cases)
    if not (progress.ended and behind):
        return None
    behind *= min(progress.ended, ended) / ended
    waiting = sum(each.waiting * earlier.case_ms(each.variant, each.turns) for each in cases)
    running = sum(each.running * earlier.case_ms(each.variant, each.turns) for each in cases) / 2
    return progress.elapsed_ms * (waiting + running) / (behind + running)


def _earlier_words(cases: Sequence[VariantCases], earlier: Earlier) -> str:
    held = [each.variant for each in cases if each.turns and (each.waiting or each.running)]
    known = sum(variant in earlier.variant_ms for variant in held)
    if known == len(held):
        return f"as {'this scenario variant' if known == 1 else 'these scenario variants'} took in {_runs(earlier)}"
    if not known:
        return f"as turns took in {_runs(earlier)}"
    variants = counted(len(held), "scenario variant")
    return f"as {known:,} of {variants} took in {_runs(earlier)}; the others are reckoned by their turns"


def _runs(earlier: Earlier) -> str:
    return counted(earlier.runs, "earlier run")
