"""A team's own rules: what the side by side leaves out, and the policy by which comparisons are judged."""

from collections.abc import Sequence

from django.db import transaction
from evalrunner.compare import DEFAULT_IGNORED
from evalrunner.compare.policy import parse_policy
from evalrunner.errors import EvaluationError

from reports.models import Team, User
from reports.services.audit import record

MOST_NAMES, LONGEST_NAME, LONGEST_POLICY = 1_000, 200, 100_000


class RulesRefused(Exception):
    """Rules that cannot be kept; ``sentence`` says what to mend."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


def set_ignored(*, team: Team, user: User, names: Sequence[str]) -> None:
    """Keep the names of members that the side by side leaves out; the usual ones again become "the usual ones"."""
    kept = sorted(set(names))
    if len(kept) > MOST_NAMES or any(len(name) > LONGEST_NAME or "\0" in name for name in kept):
        raise RulesRefused(f"At most {MOST_NAMES:,} names of at most {LONGEST_NAME} characters each.")
    value = None if frozenset(kept) == DEFAULT_IGNORED else kept
    with transaction.atomic():
        before = Team.objects.select_for_update().get(pk=team.pk).ignored
        if before == value:
            return
        Team.objects.filter(pk=team.pk).update(ignored=value)
        old, new = (DEFAULT_IGNORED if before is None else frozenset(before)), frozenset(kept)
        added, removed = sorted(new - old), sorted(old - new)
        record(team=team, actor=user, action="ignore_rules.changed", subject="", added=added, removed=removed)
    team.ignored = value


def set_policy(*, team: Team, user: User, text: str) -> None:
    """Keep the policy as TOML text, "" for the defaults; RulesRefused names what cannot be read."""
    if len(text) > LONGEST_POLICY or "\0" in text:
        raise RulesRefused(f"A policy has at most {LONGEST_POLICY:,} characters.")
    try:
        parse_policy(text)
    except EvaluationError as error:
        raise RulesRefused(f"The policy cannot be used: {', '.join(error.paths)}.") from error
    with transaction.atomic():
        before = Team.objects.select_for_update().get(pk=team.pk).policy
        if before == text:
            return
        Team.objects.filter(pk=team.pk).update(policy=text)
        record(team=team, actor=user, action="policy.changed", subject="", before=before, after=text)
    team.policy = text
