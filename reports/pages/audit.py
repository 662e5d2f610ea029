"""The audit trail of a team, the newest first."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.urls import reverse

from reports.models import Team
from reports.pages.parts import Crumb, Empty, LongText, Pager, settings_crumbs
from reports.selectors.audit import AuditRow, list_audit

_LONGEST = 160  # characters of a value before it is folded


@dataclass(frozen=True, slots=True)
class AuditDetail:
    """One thing that was said; ``before`` is what it replaced, None where an entry gives nothing replaced."""

    name: str
    before: LongText | None
    after: LongText


@dataclass(frozen=True, slots=True)
class AuditLine:
    """One thing that a person changed."""

    at: datetime
    actor: str
    action: str
    subject: str
    details: tuple[AuditDetail, ...]


@dataclass(frozen=True, slots=True)
class AuditPage:
    crumbs: tuple[Crumb, ...]
    lines: tuple[AuditLine, ...]
    pager: Pager
    empty: Empty


def audit_page(*, team: Team, before: int | None) -> AuditPage:
    rows, has_more = list_audit(team=team, before=before)
    here = reverse("audit")
    return AuditPage(
        crumbs=settings_crumbs(team.name, Crumb("Audit trail")),
        lines=tuple(_line(row) for row in rows),
        pager=Pager(
            text=f"{len(rows):,} {'entry' if len(rows) == 1 else 'entries'} shown",
            first_href=here if before is not None else "",
            next_href=f"{here}?before={rows[-1].pk}" if has_more else "",
        ),
        empty=Empty("Nothing has been changed yet", "Baselines, notes, definitions and rules leave a line here."),
    )


def _line(row: AuditRow) -> AuditLine:
    return AuditLine(row.at, row.actor, row.action, row.subject, _details(row))


def _details(row: AuditRow) -> tuple[AuditDetail, ...]:
    """Set out what an entry says: what it replaced beside what it said instead, then everything else."""
    before, after = (_members(row, name) for name in ("before", "after"))
    others = {name: value for name, value in row.details.items() if name not in ("before", "after")}
    return (
        *(AuditDetail(name, _value(before.get(name)), _value(after.get(name))) for name in {**before, **after}),
        *(AuditDetail(name, None, _value(value)) for name, value in others.items()),
    )


def _members(row: AuditRow, name: str) -> Mapping[str, Any]:
    """Return one side of a change; a single value is named by what the action is about ("policy")."""
    value = row.details.get(name)
    if value is None or isinstance(value, Mapping):
        return value or {}
    return {row.action.partition(".")[0]: value}


def _value(value: object) -> LongText:
    if value in (None, "", []):
        return LongText.of("nothing", _LONGEST)
    return LongText.of(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False), _LONGEST)
