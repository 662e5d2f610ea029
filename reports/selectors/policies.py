"""The rules of a team: the policy by which comparisons are judged, and what the side by side leaves out."""

from functools import lru_cache

from evalrunner.compare import DEFAULT_IGNORED, IgnoreRules, ignore_rules
from evalrunner.compare.policy import Policy, parse_policy
from evalrunner.errors import EvaluationError

from reports.models import Team


def policy_of_team(team: Team) -> Policy:
    """Return the team's own policy, the defaults where it has none."""
    return _parsed(team.policy)


@lru_cache(maxsize=64)
def _parsed(text: str) -> Policy:
    try:
        return parse_policy(text)
    except EvaluationError:  # what an older version of this site took and this one does not
        return Policy()


def ignored_of_team(team: Team) -> IgnoreRules:
    """Return what the side by side leaves out: the team's own rules, the usual ones where it has none."""
    return ignore_rules(DEFAULT_IGNORED if team.ignored is None else map(str, team.ignored))
