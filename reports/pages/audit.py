"""The audit trail of a team, the newest first."""

from dataclasses import dataclass

from django.urls import reverse

from reports.models import Team
from reports.pages.parts import Empty, Pager
from reports.selectors.audit import AuditRow, list_audit


@dataclass(frozen=True, slots=True)
class AuditPage:
    lines: tuple[AuditRow, ...]
    pager: Pager
    empty: Empty


def audit_page(*, team: Team, before: int | None) -> AuditPage:
    rows, has_more = list_audit(team=team, before=before)
    here = reverse("audit")
    return AuditPage(
        lines=rows,
        pager=Pager(
            text=f"{len(rows):,} {'entry' if len(rows) == 1 else 'entries'} shown",
            first_href=here if before is not None else "",
            next_href=f"{here}?before={rows[-1].pk}" if has_more else "",
        ),
        empty=Empty("Nothing has been changed yet", "Baselines, notes, definitions and rules leave a line here."),
    )
