"""Addresses around a run, and the breadcrumb of its pages."""

from urllib.parse import urlencode

from django.urls import reverse

from reports.models import Run
from reports.pages.parts import Crumb
from reports.selectors.run import CaseFilters


def case_href(run: Run, position: int, filters: CaseFilters | None = None) -> str:
    """Return the address of a case, with the filter in which its reader walks."""
    query = filters.query() if filters else {}
    return reverse("case", args=[run.pk, position]) + (f"?{urlencode(query)}" if query else "")


def cases_href(run: Run, filters: CaseFilters, cursor: str | None) -> str:
    query = filters.query() | ({"after": cursor} if cursor else {})
    return reverse("run", args=[run.pk]) + (f"?{urlencode(query)}" if query else "") + "#cases"


def definition_href(run: Run) -> str:
    return f"{reverse('suite', args=[run.revision.suite_id])}?revision={run.revision_id}"


def run_crumbs(run: Run, *further: Crumb) -> tuple[Crumb, ...]:
    """Return the breadcrumb of a run's pages: target @ fingerprint, suite, when."""
    target = run.version.target
    here = Crumb(f"run of {run.revision.suite.name}", reverse("run", args=[run.pk]), run.ordered_at)
    return (
        Crumb("Runs", reverse("runs")),
        Crumb(target.target_id, reverse("target", args=[target.pk])),
        Crumb(run.version.label or run.version.fingerprint),
        here,
        *further,
    )
