"""The audit trail of a team."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from reports.models import AuditEntry, Team

ENTRIES_A_PAGE = 50


@dataclass(frozen=True, slots=True)
class AuditRow:
    """One thing that a person changed; ``details`` is what they said (texts in stored form), empty members left out."""

    pk: int
    at: datetime
    actor: str
    action: str
    subject: str
    details: Mapping[str, Any]


def list_audit(*, team: Team, before: int | None = None) -> tuple[tuple[AuditRow, ...], bool]:
    """Return entries, the newest first, from a cursor on, and whether more follow."""
    rows = AuditEntry.objects.for_team(team).order_by("-pk")
    if before is not None:
        rows = rows.filter(pk__lt=before)
    columns = ("pk", "at", "actor__username", "action", "subject", "details")
    found = list(rows.values_list(*columns)[: ENTRIES_A_PAGE + 1])
    shown = tuple(
        AuditRow(pk, at, actor or "", action, subject, _said(details))
        for pk, at, actor, action, subject, details in found[:ENTRIES_A_PAGE]
    )
    return shown, len(found) > ENTRIES_A_PAGE


def _said(details: Mapping[str, Any]) -> dict[str, Any]:
    kept = ("before", "after")
    return {name: value for name, value in details.items() if name in kept or value not in (None, "", [], False)}
