"""How a run changed against its baseline and what the verdict on that is: the comparison of both runs, summed up.

What lists, home and pages say of a run is computed here once, by the selectors of the comparison page, and stored.
"""

from dataclasses import dataclass
from datetime import date
from typing import Any
from uuid import UUID

from evalrunner.canonical import digest
from evalrunner.compare.answer import answer
from evalrunner.compare.policy import Policy

from reports.models import Team
from reports.selectors.compare import compare_sides
from reports.selectors.compare_sides import Side, SideProblem, resolve_sides
from reports.selectors.compare_verdict import assess_stored, known_rule
from reports.selectors.definitions import accepted_between
from reports.selectors.notes import NotedSide, noted_side
from reports.selectors.policies import policy_of_team
from reports.selectors.run_changes import baseline_of, counted_run
from reports.selectors.verdict_rules import rules_digest

_NO_NOTES = NotedSide(())


@dataclass(frozen=True, slots=True)
class JudgedChange:
    """What ``RunChange`` stores of a run; its members are those of the table."""

    baseline_id: UUID
    basis: str
    rules: str
    counts: dict[str, int]
    verdict: str
    sentence: str
    reason: str
    holds_until: date | None


@dataclass(frozen=True, slots=True)
class Ground:
    """All that a verdict stands on, read but not yet compared."""

    team: Team
    policy: Policy
    baseline: Side
    candidate: Side
    noted: NotedSide
    holds_until: date | None
    basis: str


def ground_of(run_pk: UUID) -> Ground | None:
    """Return what the change of a run stands on; None where it has none: it goes on, or nothing is its baseline."""
    run = counted_run(run_pk)
    baseline = baseline_of(run) if run and run.is_countable else None
    if run is None or baseline is None:
        return None
    team = Team.objects.get(pk=run.team_pk)
    try:
        sides = resolve_sides(team=team, baseline=f"run:{baseline.pk}", candidate=f"run:{run.pk}")
    except SideProblem:  # a baseline that has lost its cases meanwhile
        return None
    policy = policy_of_team(team)
    noted = noted_side(team=team, target=run.target_pk, version=run.version_pk)
    heeded = noted if policy.heeds_known_issues else _NO_NOTES
    holds_until = min((note.expires_on for note in heeded.notes if note.expires_on), default=None)
    return Ground(team, policy, *sides, heeded, holds_until, _basis(team, sides, heeded, holds_until))


def judged_change(ground: Ground) -> JudgedChange:
    """Compare a run with its baseline and judge that as the page of their comparison does."""
    baseline, candidate = ground.baseline, ground.candidate
    stored = compare_sides(
        team=ground.team,
        baseline=str(baseline.token),
        candidate=str(candidate.token),
        accepted=ground.policy.accepted_definitions,
    )
    found = assess_stored(stored, ground.policy, is_known=known_rule(ground.noted))
    counts = {str(change): number for change, number in stored.result.counts().items() if number}
    assert baseline.token.run is not None
    return JudgedChange(
        baseline_id=baseline.token.run,
        basis=ground.basis,
        rules=rules_digest(),
        counts=dict(sorted(counts.items())),
        verdict=str(found.verdict),
        sentence="".join(phrase.text for phrase in answer(stored.result, found)),
        reason=found.reasons[0].text if found.reasons else "",
        holds_until=ground.holds_until,
    )


def _basis(team: Team, sides: tuple[Side, Side], noted: NotedSide, holds_until: date | None) -> str:
    """Return the digest of all that is judged: cases (a generation never changes at rest), rulers, policy and notes.

    The day until which it holds is part of it: where only that has moved, it must be stored as well.
    """
    revisions = (sides[0].revision.pk, sides[1].revision.pk)
    accepted = accepted_between(team=team, revisions=revisions) if revisions[0] != revisions[1] else {}
    notes = [
        [note.variant, note.signature, sorted(note.known), note.state, note.knows_undecided, note.every_failure]
        for note in noted.notes
    ]
    value: dict[str, Any] = {
        "sides": [[str(side.token), *side.generations] for side in sides],
        "revisions": list(revisions),
        "accepted": sorted(accepted),
        "policy": team.policy,
        "notes": notes,
    }
    if holds_until is not None:
        value["holdsUntil"] = holds_until.isoformat()
    if any(side.is_follow_up for side in sides):
        value["followUps"] = [side.is_follow_up for side in sides]
    return digest(value)
