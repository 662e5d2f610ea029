"""Sides of a comparison that are named by a rule: ``baseline:<name>``, or ``baseline`` for what the rules resolve to.

A name belongs to a target and suite: those of the other side.
"""

from dataclasses import dataclass
from typing import Final

from reports.domain.baselines import Resolution, Rule
from reports.models import Run, Team
from reports.selectors.baselines import find_named
from reports.selectors.compare_sides import POOLED, SideProblem, parse_token
from reports.selectors.run_changes import CountedRun, counted_run, resolve_baseline
from reports.text import storable

BASELINE: Final = "baseline"
_PREFIX: Final = f"{BASELINE}:"
EXPLICIT: Final[Resolution[CountedRun]] = Resolution(Rule.EXPLICIT)


@dataclass(frozen=True, slots=True)
class NamedSides:
    """Both sides as runs and versions, and by which rule each was found."""

    baseline: str
    candidate: str
    baseline_rule: Resolution[CountedRun] = EXPLICIT
    candidate_rule: Resolution[CountedRun] = EXPLICIT


def with_baselines(*, team: Team, baseline: str, candidate: str, suite: int = 0) -> NamedSides:
    """Replace names of baselines by the runs they point to; SideProblem where there is none."""
    left = _found(team, "baseline", baseline, candidate, suite) if _is_named(baseline) else EXPLICIT
    right = _found(team, "candidate", candidate, baseline, suite) if _is_named(candidate) else EXPLICIT
    return NamedSides(_side(left, baseline), _side(right, candidate), left, right)


def _is_named(text: str) -> bool:
    return text == BASELINE or text.startswith(_PREFIX)


def _side(found: Resolution[CountedRun], text: str) -> str:
    return f"run:{found.run.pk}" if found.run is not None else text


def _found(team: Team, role: str, text: str, other: str, suite: int) -> Resolution[CountedRun]:
    context = None if _is_named(other) else _newest_run(team, other, suite)
    if text == BASELINE:
        return _by_rules(role, context)
    name = storable(text.removeprefix(_PREFIX))
    places = [(context.target_pk, suite or context.suite_pk)] if context else []
    runs = find_named(team=team, name=name, places=places)
    if not runs:
        raise SideProblem(role, f"The {role} {name} is no baseline of that target and suite.", is_unknown=True)
    if len(runs) > 1:
        sentence = f"The {role} {name} is a baseline of several targets or suites: name a run on the other side."
        raise SideProblem(role, sentence, is_unknown=False)
    return Resolution(Rule.NAMED, counted_run(runs[0]), name)


def _by_rules(role: str, context: CountedRun | None) -> Resolution[CountedRun]:
    if context is None:
        raise SideProblem(role, f"The {role} follows from the other side, which names no run.", is_unknown=False)
    found = resolve_baseline(context)
    if found.run is None:
        raise SideProblem(role, f"The {role} was not found: {found.words}.", is_unknown=False)
    return found


def _newest_run(team: Team, text: str, suite: int) -> CountedRun | None:
    """Return the run that an address names, of a version the newest that counts."""
    token = parse_token(text)
    if token is None:
        return None
    runs = Run.objects.for_team(team)
    if token.run is not None:
        runs = runs.filter(pk=token.run)
    else:
        runs = runs.filter(version=token.version, status__in=POOLED, follow_up="")
        runs = runs.filter(revision=token.revision) if token.revision else runs
        runs = runs.filter(revision__suite=suite) if suite else runs
    pk = runs.newest_first().values_list("pk", flat=True).first()
    return counted_run(pk) if pk else None
