"""The audit trail: one line for each thing that a person changed."""

from typing import Any

from reports.models import AuditEntry, Team, User
from reports.text import storable


def record(*, team: Team, actor: User, action: str, subject: str, **details: Any) -> None:
    """Write who did what; to be called inside the transaction that does it. ``subject`` is in stored form.

    Texts among the details come as they are and are stored in the form that a database can hold.
    """
    details = {name: storable(value) if isinstance(value, str) else value for name, value in details.items()}
    AuditEntry.objects.create(team=team, actor=actor, action=action, subject=subject, details=details)
