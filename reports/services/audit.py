"""The audit trail: one line for each thing that a person changed."""

from collections.abc import Mapping
from typing import Any

from reports.models import AuditEntry, Team, User
from reports.text import storable


def record(*, team: Team, actor: User, action: str, subject: str, **details: Any) -> None:
    """Write who did what; to be called inside the transaction that does it. ``subject`` is in stored form.

    Texts among the details come as they are and are stored in the form that a database can hold. What replaces
    something gives both: ``before`` and ``after`` (see ``differences``).
    """
    AuditEntry.objects.create(team=team, actor=actor, action=action, subject=subject, details=_storable(details))


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the members that a change touched, as they were and as they are: details for ``record``."""
    touched = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    return {
        "before": {name: before.get(name) for name in touched},
        "after": {name: after.get(name) for name in touched},
    }


def _storable(value: Any) -> Any:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, Mapping):
        return {name: _storable(each) for name, each in value.items()}
    return [_storable(each) for each in value] if isinstance(value, list | tuple) else value
