"""Which rows of a comparison are shown, and a page of them; the rows themselves are in memory."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

from evalrunner.compare import FOLDED, IMPROVEMENTS, MATRIX_ORDER, REGRESSIONS, Change, Group, Row

from reports.domain.unseen import unstored
from reports.models import Signature, Team
from reports.selectors.compare import StoredComparison, variant_of_key

ROWS_A_PAGE = 50
REGRESSED, IMPROVED, EVERYTHING = "regressions", "improvements", "all"
CLASSES = tuple(dict.fromkeys((*map(str, Change), *map(str, Group), REGRESSED, IMPROVED, EVERYTHING)))
STATUSES = MATRIX_ORDER


@dataclass(frozen=True, slots=True)
class RowFilters:
    """What the rows are narrowed to; every field's empty value asks for nothing.

    ``only`` is a change class, a group, "regressions", "improvements" or "all"; without it and any other filter the
    rows that did not change stay folded. ``before`` and ``after`` are a cell of the from/to matrix (either may be
    empty). ``signature`` is a signature's key, ``scenario`` that of a scenario id. ``tag`` and ``text`` are in stored
    form; text is looked for literally.
    """

    only: str = ""
    tag: str = ""
    text: str = ""
    before: str = ""
    after: str = ""
    signature: str = ""
    scenario: str = ""

    @property
    def is_narrow(self) -> bool:
        return self != RowFilters()

    def query(self) -> dict[str, str]:
        """Return the members that stand in an address."""
        named = {"class": self.only, "tag": self.tag, "q": self.text, "from": self.before, "to": self.after}
        named |= {"signature": self.signature, "scenario": self.scenario}
        return {name: value for name, value in named.items() if value}

    def but(self, **changes: str) -> Self:
        return replace(self, **changes)


@dataclass(frozen=True, slots=True)
class RowsPage:
    """A page of rows. ``cursor`` opens the next page, "" on the last one; ``found`` counts all that fit.

    ``first`` is the place of the first row among those found, from 0; ``groups`` counts what fits by group.
    ``is_found`` is False where a cursor names no row that fits; the page is the first one then.
    """

    rows: tuple[Row[int], ...]
    first: int
    found: int
    cursor: str
    groups: Mapping[Group, int]
    is_found: bool = True


def matching_rows(stored: StoredComparison, filters: RowFilters, *, team: Team) -> list[Row[int]]:
    """Return the rows that fit, in the order of the comparison."""
    rows: Iterable[Row[int]] = stored.result.rows
    if not filters.is_narrow:
        return [row for row in rows if row.group not in FOLDED]
    if filters.only and filters.only != EVERYTHING:
        rows = [row for row in rows if _is_of_class(row, filters.only)]
    if filters.signature:
        rows = _with_signature(rows, filters.signature, team)
    if filters.scenario:
        rows = [row for row in rows if stored.variants[row.variant].scenario_key == filters.scenario]
    if filters.tag:
        rows = [
            row for row in rows if (facts := stored.facts_of(row.variant)) is not None and filters.tag in facts.tags
        ]
    if filters.text:
        rows = [row for row in rows if _says(stored, row, unstored(filters.text).casefold())]
    if filters.before or filters.after:
        rows = [row for row in rows if _has_cell(row, filters.before, filters.after)]
    return list(rows)


def _is_of_class(row: Row[int], only: str) -> bool:
    if only == Group.REDEFINED or row.is_redefined:
        return row.is_redefined and only == Group.REDEFINED
    if only == REGRESSED:
        return row.change in REGRESSIONS
    if only == IMPROVED:
        return row.change in IMPROVEMENTS
    return only in (row.change, row.group)


def _with_signature(rows: Iterable[Row[int]], key: str, team: Team) -> list[Row[int]]:
    pk = str(Signature.objects.filter(team=team, key=key).values_list("pk", flat=True).first())
    return [
        row for row in rows if any(pk == each for each, _n in (*row.baseline.signatures, *row.candidate.signatures))
    ]


def _says(stored: StoredComparison, row: Row[int], text: str) -> bool:
    """Look for a text in what names a row: scenario id, its name, and its chosen variants."""
    name, facts = stored.variants[row.variant], stored.facts_of(row.variant)
    texts = (name.scenario_id, facts.name if facts else "", *name.chosen.values())
    return any(text in unstored(each).casefold() for each in texts)


def _has_cell(row: Row[int], before: str, after: str) -> bool:
    return any((not before or cell[0] == before) and (not after or cell[1] == after) for cell in row.cells())


def page_of(stored: StoredComparison, rows: Sequence[Row[int]], cursor: str, *, team: Team) -> RowsPage:
    """Cut a page that begins after the row whose variant's key is the cursor, "" for the first page."""
    last = variant_of_key(team, cursor)
    first = next((place + 1 for place, row in enumerate(rows) if row.variant == last), 0) if last else 0
    shown = tuple(rows[first : first + ROWS_A_PAGE])
    has_more = first + ROWS_A_PAGE < len(rows)
    groups: dict[Group, int] = {}
    for row in rows:
        groups[row.group] = groups.get(row.group, 0) + 1
    following = stored.variants[shown[-1].variant].key if has_more else ""
    return RowsPage(shown, first, len(rows), following, groups, is_found=bool(first) or not cursor)


def tags_of(stored: StoredComparison) -> tuple[str, ...]:
    """Return the tags of all scenarios, in order."""
    return tuple(sorted({tag for facts in stored.scenarios.values() for tag in facts.tags}))
