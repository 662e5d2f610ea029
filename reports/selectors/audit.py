"""The audit trail of a team."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from reports.models import AuditEntry, Team

ENTRIES_A_PAGE = 50


@dataclass(frozen=True, slots=True)
class AuditRow:
    """One thing that a person changed; ``details`` is JSON text of what they said."""

    pk: int
    at: datetime
    actor: str
    action: str
    subject: str
    details: str


def list_audit(*, team: Team, before: int | None = None) -> tuple[tuple[AuditRow, ...], bool]:
    """Return entries, the newest first, from a cursor on, and whether more follow."""
    rows = AuditEntry.objects.for_team(team).order_by("-pk")
    if before is not None:
        rows = rows.filter(pk__lt=before)
    columns = ("pk", "at", "actor__username", "action", "subject", "details")
    found = list(rows.values_list(*columns)[: ENTRIES_A_PAGE + 1])
    shown = tuple(
        AuditRow(pk, at, actor or "", action, subject, _text(details))
        for pk, at, actor, action, subject, details in found[:ENTRIES_A_PAGE]
    )
    return shown, len(found) > ENTRIES_A_PAGE


def _text(details: Mapping[str, Any]) -> str:
    said = {name: value for name, value in details.items() if value not in (None, "", [], False)}
    return json.dumps(said, ensure_ascii=False) if said else ""
