"""What becomes of each case when a run is resumed or its failures are retried: the runner's own rules, looked up ahead.

Resume goes on with what never ended. Retry also begins what failed afresh. Scenarios that write outside are never
repeated by themselves: what they may have done already has to be looked at first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from evalrunner.codes import (
    EXTERNAL_WRITE_RESUME,
    EXTERNAL_WRITE_RETRY,
    EXTERNAL_WRITES_NOT_AUTHORIZED,
    TURN_RESUME_NOT_SUPPORTED,
    TURN_RESUME_UNSAFE,
)
from evalrunner.models import CaseStatus, EvaluationCase, ExpandedCase, WritePolicy
from evalrunner.runner.resume import ResumePolicy, take_over_case


class Verb(StrEnum):
    RESUME = "resume"
    RETRY = "retry"


RECONCILED = (EXTERNAL_WRITE_RESUME, EXTERNAL_WRITE_RETRY)
OPEN_STATUSES = ("pending", "running", "cancelled")
RETRIED_STATUSES = ("failed", "error", "blocked", "cancelled")


@dataclass(frozen=True)
class Outlook:
    """The places of cases in the report, by what becomes of them.

    ``fresh`` begin a new conversation, ``continued`` go on after their last turn, ``kept`` stay as they are.
    ``blocked`` holds, by code, those that are blocked instead: the runner's own codes, and
    EXTERNAL_WRITES_NOT_AUTHORIZED for cases that would begin but may not. ``turns`` counts the turns ahead if every
    conversation goes to its end. ``concludes``: the earlier run never came to its end, so a resume also judges the
    suite's assertions, even where every case has ended.
    """

    fresh: tuple[int, ...] = ()
    continued: tuple[int, ...] = ()
    kept: tuple[int, ...] = ()
    blocked: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    turns: int = 0
    concludes: bool = False

    @property
    def is_idle(self) -> bool:
        """Tell whether there is no use in it: no case would be executed, at most others be blocked."""
        return not (self.work or self.concludes)

    @property
    def only_concludes(self) -> bool:
        return self.concludes and not self.work

    @property
    def work(self) -> int:
        """Return how many cases are executed."""
        return len(self.fresh) + len(self.continued)

    @property
    def changed(self) -> int:
        """Return how many cases end otherwise than they were, whether executed or blocked."""
        return self.work + sum(map(len, self.blocked.values()))

    @property
    def to_reconcile(self) -> tuple[int, ...]:
        """Return the cases that wrote outside, or may have, and are blocked until somebody has looked."""
        return tuple(sorted(place for code in RECONCILED for place in self.blocked.get(code, ())))

    @property
    def unauthorised(self) -> tuple[int, ...]:
        return self.blocked.get(EXTERNAL_WRITES_NOT_AUTHORIZED, ())


def foretell(pairs: Iterable[tuple[EvaluationCase, ExpandedCase]], policy: ResumePolicy, *, may_write: bool) -> Outlook:
    """Apply the runner's rules to earlier cases and the cases that the suite makes, in the order of the report."""
    fresh: list[int] = []
    continued: list[int] = []
    kept: list[int] = []
    blocked: dict[str, list[int]] = {}
    turns = 0
    for place, (old, case) in enumerate(pairs):
        state, is_open = take_over_case(old, case, "", policy)
        if not is_open:
            if state is old:
                kept.append(place)
            else:
                blocked.setdefault(state.error_code or "", []).append(place)
        elif case.scenario.skip_reason is not None:
            fresh.append(place)
        elif case.scenario.write_policy == WritePolicy.EXTERNAL and not may_write:
            blocked.setdefault(EXTERNAL_WRITES_NOT_AUTHORIZED, []).append(place)
        else:
            (continued if state.turns else fresh).append(place)
            turns += len(case.steps) - len(state.turns)
    places = {code: tuple(found) for code, found in blocked.items()}
    return Outlook(tuple(fresh), tuple(continued), tuple(kept), places, turns)


def concludes(verb: Verb, run_status: str) -> bool:
    """Tell whether a verb brings a run of this status to the end that it never had."""
    return verb is Verb.RESUME and run_status in ("running", "interrupted")


def is_read_ahead(status: str) -> bool:
    """Tell whether the runner looks into the turns of a case of this status."""
    return status in {CaseStatus.PENDING, CaseStatus.RUNNING, CaseStatus.CANCELLED}


def count_candidates(verb: Verb, counts: Mapping[str, int]) -> int:
    """Return how many cases a verb is about, from counts by status alone."""
    statuses = set(OPEN_STATUSES) | (set(RETRIED_STATUSES) if verb is Verb.RETRY else set())
    return sum(counts.get(status, 0) for status in statuses)


def statuses_in_words(verb: Verb, counts: Mapping[str, int]) -> str:
    """Name the statuses that a verb is about: "4 failed, 2 error"."""
    statuses = RETRIED_STATUSES if verb is Verb.RETRY else OPEN_STATUSES
    return ", ".join(f"{counts[status]:,} {status}" for status in statuses if counts.get(status))


# Singular and plural of what becomes of blocked cases.
BLOCKED_WORDS: Mapping[str, tuple[str, str]] = {
    EXTERNAL_WRITES_NOT_AUTHORIZED: (
        "ends blocked: it writes outside, which is not authorised",
        "end blocked: they write outside, which is not authorised",
    ),
    EXTERNAL_WRITE_RESUME: (
        "is blocked: it was writing outside when it was stopped, so its receipts must be looked at",
        "are blocked: they were writing outside when they were stopped, so their receipts must be looked at",
    ),
    EXTERNAL_WRITE_RETRY: (
        "is blocked: it may have written outside already, so its receipts must be looked at",
        "are blocked: they may have written outside already, so their receipts must be looked at",
    ),
    TURN_RESUME_NOT_SUPPORTED: (
        "is blocked: it has begun, and this target cannot go on with a conversation",
        "are blocked: they have begun, and this target cannot go on with a conversation",
    ),
    TURN_RESUME_UNSAFE: (
        "is blocked: its last turn broke off, or left nothing to go on from",
        "are blocked: their last turn broke off, or left nothing to go on from",
    ),
}


def sentences_of(outlook: Outlook) -> Sequence[str]:
    """Say what will happen to which cases; one sentence for each kind."""
    sentences = [
        _sentence(outlook.fresh, "begins afresh, as a new conversation", "begin afresh, as new conversations"),
        _sentence(outlook.continued, "goes on after its last stored turn", "go on after their last stored turn"),
        *_blocked_sentences(outlook),
        _sentence(outlook.kept, "stays as it is", "stay as they are"),
        CONCLUDES if outlook.only_concludes else "",
    ]
    return [sentence for sentence in sentences if sentence]


def nothing_words(verb: Verb, outlook: Outlook) -> str:
    """Say why there is no use in an idle verb; what is blocked is no reason to begin a run."""
    if outlook.changed:
        return " ".join(["No case would be executed.", *_blocked_sentences(outlook)])
    if verb is Verb.RETRY:
        return "Nothing in this run failed, was blocked or was cancelled: there is nothing to retry."
    return "Every case of this run has ended: there is nothing to resume."


def _blocked_sentences(outlook: Outlook) -> list[str]:
    found = outlook.blocked.items()
    return [_sentence(places, *BLOCKED_WORDS.get(code, (f"is blocked: {code}",) * 2)) for code, places in found]


CONCLUDE = "Conclude the run"
CONCLUDES = "The run gets the end that it never had: its suite's assertions are evaluated."


def _sentence(places: Sequence[int], of_one: str, of_many: str) -> str:
    if not places:
        return ""
    return f"1 case {of_one}." if len(places) == 1 else f"{len(places):,} cases {of_many}."
