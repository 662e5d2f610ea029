"""The changed definitions of a comparison: accepting them, and what was accepted by whom and why."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlencode

from django.urls import reverse
from evalrunner.compare.definitions import BY_POLICY

from reports.domain.definition_changes import MOST_CHANGES, MemberChange, member_changes
from reports.keys import text_key
from reports.pages.compare_frame import Address, comparison_crumbs
from reports.pages.parts import Crumb, Pager
from reports.selectors.compare import StoredComparison
from reports.selectors.compare_filters import RowFilters
from reports.selectors.suites import ChangedDefinition, changed_definitions
from reports.text import storable

CHANGED_A_PAGE = 100  # a form of Django takes no more than a thousand fields
_PATHS_NAMED = 3


@dataclass(frozen=True, slots=True)
class ChangedLine:
    """A scenario that both sides define differently; ``rows`` counts its scenario variants.

    ``members`` are what changed in its definition, ``changes`` the same in words.
    """

    key: str
    scenario_id: str
    href: str
    rows: int
    rows_href: str
    changes: str
    members: tuple[MemberChange, ...]


@dataclass(frozen=True, slots=True)
class AcceptedLine:
    """A changed definition that counts. What the policy accepts has neither ``pk`` nor person, moment and reason."""

    pk: int
    scenario_id: str
    rows_href: str
    by: str = ""
    at: datetime | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class DefinitionsPage:
    crumbs: tuple[Crumb, ...]
    sentence: str
    changed: tuple[ChangedLine, ...]
    pager: Pager
    accepted: tuple[AcceptedLine, ...]
    difference_href: str
    back_href: str
    may_accept: bool


def definitions_href(address: Address, **members: str) -> str:
    return f"{reverse('compare-definitions')}?{urlencode(address.query(**members))}"


def definitions_page(
    stored: StoredComparison, address: Address, *, may_accept: bool, start: int = 0
) -> DefinitionsPage:
    """Read and decide a page of the changed definitions, from the one numbered ``start`` on."""
    redefined = [stored.variants[row.variant] for row in stored.result.rows if row.is_redefined]
    rows = Counter(name.scenario_key for name in redefined)
    names = {name.scenario_key: name.scenario_id for name in redefined}
    sides = (stored.baseline, stored.candidate)
    shown = list(rows)[start : start + CHANGED_A_PAGE]
    accepted = _accepted(stored, address)
    return DefinitionsPage(
        crumbs=comparison_crumbs(*sides, Crumb("Definitions"), href=address.page()),
        sentence=_sentence(len(rows), len(accepted)),
        changed=_changed(stored, address, {key: names[key] for key in shown}, rows),
        pager=_pager(address, start, len(shown), len(rows)),
        accepted=accepted,
        difference_href=_suite_href(stored, against=stored.baseline.revision.pk),
        back_href=address.page(),
        may_accept=may_accept,
    )


def _accepted(stored: StoredComparison, address: Address) -> tuple[AcceptedLine, ...]:
    by_people = (
        AcceptedLine(row.pk, row.scenario_id, _rows_href(address, key), row.by, row.at, row.reason)
        for key, row in stored.accepted.items()
    )
    by_policy = (each.scenario_id for each in stored.counted_definitions() if each.rule == BY_POLICY)
    named = (AcceptedLine(0, storable(name), _rows_href(address, text_key(name))) for name in by_policy)
    return (*by_people, *named)


def _changed(
    stored: StoredComparison, address: Address, names: Mapping[str, str], rows: Mapping[str, int]
) -> tuple[ChangedLine, ...]:
    revisions = (stored.baseline.revision.pk, stored.candidate.revision.pk)
    found = changed_definitions(before_pk=revisions[0], after_pk=revisions[1], keys=names)
    return tuple(_line(stored, address, key, name, rows[key], found.get(key)) for key, name in names.items())


def _line(
    stored: StoredComparison, address: Address, key: str, name: str, rows: int, found: ChangedDefinition | None
) -> ChangedLine:
    members = member_changes(found.before, found.after) if found else ()
    number = f"{len(members):,}{' or more' if len(members) == MOST_CHANGES else ''}"
    return ChangedLine(
        key=key,
        scenario_id=name,
        href=f"{_suite_href(stored, start=found.position)}#scenario-{found.position}" if found else "",
        rows=rows,
        rows_href=_rows_href(address, key),
        changes=f"{number} member{'' if len(members) == 1 else 's'} changed: {_paths(members)}",
        members=members,
    )


def _paths(members: Sequence[MemberChange]) -> str:
    named = ", ".join(member.path for member in members[:_PATHS_NAMED])
    return f"{named} …" if len(members) > _PATHS_NAMED else named


def _rows_href(address: Address, key: str) -> str:
    return f"{address.filtered(RowFilters(scenario=key))}#rows"


def _suite_href(stored: StoredComparison, **members: int) -> str:
    query = urlencode({"revision": stored.candidate.revision.pk} | members)
    return f"{reverse('suite', args=[stored.candidate.suite])}?{query}"


def _pager(address: Address, start: int, shown: int, total: int) -> Pager:
    following = start + CHANGED_A_PAGE
    words = f"scenarios {start + 1:,} to {start + shown:,} of {total:,}" if shown else "no more scenarios"
    return Pager(
        text=words,
        first_href=definitions_href(address) if start else "",
        next_href=definitions_href(address, start=str(following)) if following < total else "",
        next_text="More scenarios",
    )


def _sentence(changed: int, accepted: int) -> str:
    said = "No scenario" if not changed else f"{changed:,} scenario{'' if changed == 1 else 's'}"
    verb = "is" if changed <= 1 else "are"
    words = f"{said} {verb} defined differently and left out of rates and test"
    return f"{words}; {accepted:,} accepted." if accepted else f"{words}."
