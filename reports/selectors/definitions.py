"""Accepted definitions: changed scenarios that a triager said to measure the same as before."""

from dataclasses import dataclass
from datetime import datetime

from reports.models import AcceptedDefinition, Team


@dataclass(frozen=True, slots=True)
class AcceptedRow:
    """Who accepted a changed definition, when and why; texts in stored form."""

    pk: int
    scenario_key: str
    scenario_id: str
    by: str
    at: datetime
    reason: str


def accepted_between(*, team: Team, revisions: tuple[int, int]) -> dict[str, AcceptedRow]:
    """Return what was accepted between two suite revisions, in either direction, by scenario key."""
    rows = AcceptedDefinition.objects.for_team(team).filter(first=min(revisions), second=max(revisions))
    columns = ("pk", "scenario_key", "scenario_id", "by__username", "at", "reason")
    return {
        key: AcceptedRow(pk, key, scenario, by or "", at, reason)
        for pk, key, scenario, by, at, reason in rows.order_by("scenario_id", "pk").values_list(*columns)
    }
