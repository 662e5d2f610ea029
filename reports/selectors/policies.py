"""The rules of a team: the policy by which comparisons are judged, and what the side by side leaves out."""

import json
from functools import lru_cache

from django.db.models import TextField
from django.db.models.functions import Cast
from evalrunner.compare import DEFAULT_IGNORED, IgnoreRules, ignore_rules
from evalrunner.compare.policy import Policy, Unmatched, parse_policy
from evalrunner.errors import EvaluationError

from reports.keys import text_key
from reports.models import Scenario, Team
from reports.text import restored


def policy_of_team(team: Team) -> Policy:
    """Return the team's own policy, the defaults where it has none."""
    return _parsed(team.policy)


@lru_cache(maxsize=64)
def _parsed(text: str) -> Policy:
    try:
        return parse_policy(text)
    except EvaluationError:  # what an older version of this site took and this one does not
        return Policy()


def unknown_to_team(team: Team, policy: Policy) -> Unmatched:
    """Return what a policy calls critical and no suite of the team has: names written wrong, or not yet imported."""
    if not policy.has_critical:
        return Unmatched()
    scenarios = Scenario.objects.filter(revision__suite__team=team).order_by()
    keys = {text_key(name): name for name in policy.critical_scenarios}
    known = set(scenarios.filter(key__in=keys).values_list("key", flat=True).distinct())
    tags: set[str] = set()
    if policy.critical_tags:
        lists = scenarios.annotate(text=Cast("tags", TextField())).values_list("text", flat=True).distinct()
        tags = {restored(tag) for text in lists for tag in json.loads(text)}
    return Unmatched(
        tuple(sorted(name for key, name in keys.items() if key not in known)),
        tuple(sorted(policy.critical_tags - tags)),
    )


def ignored_of_team(team: Team) -> IgnoreRules:
    """Return what the side by side leaves out: the team's own rules, the usual ones where it has none."""
    return ignore_rules(DEFAULT_IGNORED if team.ignored is None else map(str, team.ignored))
