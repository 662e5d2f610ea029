"""A team's own rules: what the side by side leaves out, and the policy by which comparisons are judged."""

from collections.abc import Sequence

from django.db import transaction
from django.db.models import Q
from evalrunner.compare import DEFAULT_IGNORED, RuleFault, rule_faults
from evalrunner.compare.policy import parse_policy
from evalrunner.errors import EvaluationError

from reports.models import Run, Team, User
from reports.querysets import WAITING
from reports.services.audit import record
from reports.services.locks import locked_team
from reports.services.run_changes import recount_changes

MOST_RULES, LONGEST_RULE, LONGEST_POLICY = 1_000, 200, 100_000
_FAULTS_TOLD = 5


class RulesRefused(Exception):
    """Rules that cannot be kept; ``sentences`` say what to mend, one a fault.

    ``places`` are all rules at fault: their place in the list from 0, and the sentence of each.
    """

    def __init__(self, *sentences: str, places: Sequence[tuple[int, str]] = ()) -> None:
        super().__init__(*sentences)
        self.sentences, self.places = sentences, places


def check_ignored(rules: Sequence[str]) -> None:
    """Refuse rules that cannot be read, each with its place; RulesRefused."""
    if len(rules) > MOST_RULES or any(len(rule) > LONGEST_RULE or not _is_text(rule) for rule in rules):
        raise RulesRefused(f"At most {MOST_RULES:,} rules of at most {LONGEST_RULE} characters each, written as text.")
    faults = [(fault.number, _sentence(fault)) for fault in rule_faults(rules)]
    if faults:
        sentences = [sentence for _number, sentence in faults[:_FAULTS_TOLD]]
        more = [f"And {len(faults) - _FAULTS_TOLD:,} more."] if len(faults) > _FAULTS_TOLD else []
        raise RulesRefused(*sentences, *more, places=faults)


def _is_text(rule: str) -> bool:
    """Tell whether a database can hold it; what it cannot is written in quotation marks, as an escape."""
    try:
        return "\0" not in rule and bool(rule.encode())
    except UnicodeEncodeError:
        return False


def _sentence(fault: RuleFault) -> str:
    return f"Rule {fault.number + 1}, “{fault.text}”, character {fault.character}: {fault.reason}."


def set_ignored(*, team: Team, user: User, rules: Sequence[str]) -> None:
    """Keep the rules by which the side by side leaves members out; the usual ones again become "the usual ones"."""
    check_ignored(rules)
    kept = sorted(set(rules))
    value = None if frozenset(kept) == DEFAULT_IGNORED else kept
    with transaction.atomic():
        before = locked_team(team.pk).ignored
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
        before = locked_team(team.pk).policy
        if before == text:
            return
        Team.objects.filter(pk=team.pk).update(policy=text)
        record(team=team, actor=user, action="policy.changed", subject="", before=before, after=text)
        recount_changes(Run.objects.for_team(team).filter(Q(change__isnull=False) | WAITING))
    team.policy = text
