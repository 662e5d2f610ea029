"""The policy by which a team's comparisons are judged."""

from functools import lru_cache

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
