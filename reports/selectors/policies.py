"""The rules of a team: the policy by which comparisons are judged, and what the side by side leaves out."""

from functools import lru_cache

from evalrunner.compare import DEFAULT_IGNORED
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


def ignored_of_team(team: Team) -> frozenset[str]:
    """Return the names of members that the side by side leaves out at any depth."""
    return DEFAULT_IGNORED if team.ignored is None else frozenset(map(str, team.ignored))
