"""The changed definitions of a comparison: accepting them, and what was accepted by whom and why."""

from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlencode

from django.urls import reverse

from reports.pages.compare_frame import Address, comparison_crumbs
from reports.pages.parts import Crumb
from reports.selectors.compare import StoredComparison


@dataclass(frozen=True, slots=True)
class ChangedLine:
    """A scenario that both sides define differently; ``rows`` counts its scenario variants."""

    key: str
    scenario_id: str
    rows: int


@dataclass(frozen=True, slots=True)
class AcceptedLine:
    pk: int
    scenario_id: str
    by: str
    at: datetime
    reason: str


@dataclass(frozen=True, slots=True)
class DefinitionsPage:
    crumbs: tuple[Crumb, ...]
    sentence: str
    changed: tuple[ChangedLine, ...]
    accepted: tuple[AcceptedLine, ...]
    difference_href: str
    back_href: str
    may_accept: bool


def definitions_href(address: Address) -> str:
    return f"{reverse('compare-definitions')}?{urlencode(address.query())}"


def definitions_page(stored: StoredComparison, address: Address, *, may_accept: bool) -> DefinitionsPage:
    counted: dict[str, int] = {}
    names: dict[str, str] = {}
    for row in stored.result.rows:
        if row.is_redefined:
            name = stored.variants[row.variant]
            counted[name.scenario_key] = counted.get(name.scenario_key, 0) + 1
            names[name.scenario_key] = name.scenario_id
    changed = tuple(ChangedLine(key, names[key], number) for key, number in counted.items())
    sides = (stored.baseline, stored.candidate)
    query = urlencode({"revision": stored.candidate.revision.pk, "against": stored.baseline.revision.pk})
    return DefinitionsPage(
        crumbs=comparison_crumbs(*sides, Crumb("Definitions"), href=address.page()),
        sentence=_sentence(len(changed), len(stored.accepted)),
        changed=changed,
        accepted=tuple(
            AcceptedLine(row.pk, row.scenario_id, row.by, row.at, row.reason) for row in stored.accepted.values()
        ),
        difference_href=f"{reverse('suite', args=[stored.candidate.suite])}?{query}",
        back_href=address.page(),
        may_accept=may_accept,
    )


def _sentence(changed: int, accepted: int) -> str:
    said = "No scenario" if not changed else f"{changed:,} scenario{'' if changed == 1 else 's'}"
    verb = "is" if changed <= 1 else "are"
    words = f"{said} {verb} defined differently and left out of rates and test"
    return f"{words}; {accepted:,} accepted." if accepted else f"{words}."
