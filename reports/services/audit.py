"""The audit trail: one line for each thing that a person changed."""

from typing import Any

from reports.models import AuditEntry, Team, User


def record(*, team: Team, actor: User, action: str, subject: str, **details: Any) -> None:
    """Write who did what; to be called inside the transaction that does it. ``subject`` is in stored form."""
    AuditEntry.objects.create(team=team, actor=actor, action=action, subject=subject, details=details)
