"""Accepting changed definitions per scenario and pair of suite revisions, and withdrawing that."""

from collections.abc import Collection

from django.db import transaction
from django.db.models import Q
from evalrunner.compare import redefined

from reports.models import AcceptedDefinition, Run, Scenario, SuiteRevision, Team, User
from reports.querysets import WAITING
from reports.services.audit import differences, record
from reports.services.run_changes import recount_changes
from reports.text import restored, storable


def accept_definitions(
    *, team: Team, user: User, revisions: tuple[int, int], scenario_keys: Collection[str], reason: str
) -> int:
    """Accept the new definitions of scenarios and return how many were not accepted before; those get another reason.

    Only scenarios that both revisions define, and define otherwise, can be accepted; others are left out.
    """
    first, second = min(revisions), max(revisions)
    if SuiteRevision.objects.filter(pk__in=(first, second), suite__team=team).count() != 2:
        return 0
    changed = _changed(first, second)
    wanted = {key: changed[key] for key in scenario_keys if key in changed}
    with transaction.atomic():
        rows = AcceptedDefinition.objects.for_team(team).filter(first=first, second=second, scenario_key__in=wanted)
        known = {row.scenario_key: row for row in rows.order_by("pk").select_for_update()}
        for row in known.values():
            _explain(row, user, reason)
        new = [(key, wanted[key]) for key in wanted if key not in known]
        AcceptedDefinition.objects.bulk_create(
            [
                AcceptedDefinition(
                    team=team,
                    scenario_key=key,
                    scenario_id=scenario,
                    first_id=first,
                    second_id=second,
                    by=user,
                    reason=storable(reason.strip()),
                )
                for key, scenario in new
            ],
            ignore_conflicts=True,
        )
        for _key, scenario in new:
            details = {"revisions": [first, second], "reason": reason.strip()}
            record(team=team, actor=user, action="definition.accepted", subject=scenario, **details)
        _recount(first, second)
    return len(new)


def _explain(row: AcceptedDefinition, user: User, reason: str) -> None:
    """Give an accepted definition another reason; without one it keeps its own."""
    said = storable(reason.strip())
    if said in ("", row.reason):
        return
    changed = differences({"reason": restored(row.reason)}, {"reason": reason.strip()})
    row.reason, row.by = said, user
    row.save(update_fields=["reason", "by"])
    record(team=row.team, actor=user, action="definition.accepted", subject=row.scenario_id, **changed)


def withdraw_definition(*, team: Team, user: User, pk: int, reason: str = "") -> None:
    """Take an acceptance back; one that is gone already is no error."""
    with transaction.atomic():
        row = AcceptedDefinition.objects.for_team(team).select_for_update().filter(pk=pk).first()
        if row is None:
            return
        first, second = row.first_id, row.second_id
        before = {"by": row.by.username if row.by else "", "reason": restored(row.reason)}
        details = {"before": before, "revisions": [first, second], "reason": reason.strip()}
        record(team=team, actor=user, action="definition.withdrawn", subject=row.scenario_id, **details)
        row.delete()
        _recount(first, second)


def _changed(first: int, second: int) -> dict[str, str]:
    """Return the ids of the scenarios that two revisions define differently, by key."""
    digests: dict[int, dict[str, str]] = {first: {}, second: {}}
    names: dict[str, str] = {}
    rows = Scenario.objects.filter(revision_id__in=digests)
    for revision, key, digest, name in rows.values_list("revision_id", "key", "definition_digest", "scenario_id"):
        digests[revision][key] = digest
        names[key] = name
    return {key: names[key] for key in redefined(digests[first], digests[second])}


def _recount(first: int, second: int) -> None:
    """Count those runs anew that are measured between the two revisions."""
    pair = (first, second)
    recount_changes(Run.objects.filter(revision__in=pair).filter(Q(change__baseline__revision__in=pair) | WAITING))
