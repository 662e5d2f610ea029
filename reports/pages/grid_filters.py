"""What of the grid is asked for, and in which order its rows stand."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from evalrunner.compare import Tally

from reports.domain.history import History, history_of
from reports.pages.run_words import variants_words
from reports.selectors.grid import VERSIONS, Cell, Grid, GridVariant

SORTS = (("broke", "Broke last"), ("flips", "Most flips"), ("name", "Scenario"))
ONLY = (("failing", "Failing"), ("new", "Failing since the newest version"), ("flips", "Flipped more than once"))

Ranked = tuple[GridVariant, History]


@dataclass(frozen=True, slots=True)
class GridFilters:
    """``suite`` 0 is the one that ran last; ``text`` is looked for in scenario ids and names; ``start`` is a row.

    ``only`` is a name of ``ONLY``, "" for the rows that changed or fail, which ``is_all`` widens to all.
    """

    suite: int = 0
    versions: int = VERSIONS[1]
    sort: str = "broke"
    is_all: bool = False
    only: str = ""
    text: str = ""
    tag: str = ""
    start: int = 0
    is_unfolded: bool = False

    def query(self, **changes: object) -> str:
        named: dict[str, object] = {
            "suite": self.suite or "",
            "versions": "" if self.versions == VERSIONS[1] else self.versions,
            "sort": "" if self.sort == "broke" else self.sort,
            "all": "1" if self.is_all else "",
            "only": self.only,
            "q": self.text,
            "tag": self.tag,
            "unfold": "1" if self.is_unfolded else "",
            "start": "",
        } | changes
        return urlencode({name: value for name, value in named.items() if value})


def histories_of(grid: Grid) -> list[Ranked]:
    return [
        (variant, history_of([tally_of(column.get(pk)) for column in grid.cells]))
        for pk, variant in grid.variants.items()
    ]


def tally_of(cell: Cell | None) -> Tally | None:
    return cell.tally if cell is not None else None


def wanted_rows(rows: Iterable[Ranked], grid: Grid, filters: GridFilters) -> list[Ranked]:
    """Return the rows that fit, in their order; those of one scenario follow the first of them."""
    fitting = _sorted(_fitting(rows, grid, filters), filters.sort)
    by_scenario: dict[str, list[Ranked]] = {}
    for row in fitting:
        by_scenario.setdefault(row[0].scenario_key, []).append(row)
    return [row for rows_of_one in by_scenario.values() for row in rows_of_one]


def _fitting(rows: Iterable[Ranked], grid: Grid, filters: GridFilters) -> list[Ranked]:
    sought, newest = filters.text.lower(), len(grid.columns) - 1
    return [
        (variant, history)
        for variant, history in rows
        if _is_wanted(history, filters, newest)
        and (not sought or sought in variant.scenario_id.lower() or sought in name_of(grid, variant).lower())
        and (not filters.tag or filters.tag in grid.tags.get(variant.scenario_key, ()))
    ]


def _is_wanted(history: History, filters: GridFilters, newest: int) -> bool:
    if filters.only:
        return is_among(history, filters.only, newest)
    return filters.is_all or history.is_changed or history.is_failing


def is_among(history: History, only: str, newest: int) -> bool:
    """Tell whether a row is one of those that a number of the sentence counts; ``newest`` is the last column."""
    if only == "failing":
        return history.is_failing
    return history.failing_since == newest if only == "new" else history.flips > 1


def _sorted(rows: list[Ranked], sort: str) -> list[Ranked]:
    rows.sort(key=lambda row: (row[0].scenario_id, variants_words(row[0].variants)))
    if sort == "flips":
        rows.sort(key=lambda row: -row[1].flips)
    if sort == "broke":
        rows.sort(key=lambda row: (-_place(row[1].failing_since), -row[1].flips))
    return rows


def _place(place: int | None) -> int:
    return -1 if place is None else place


def name_of(grid: Grid, variant: GridVariant) -> str:
    return grid.names.get(variant.scenario_key, "")


def scenario_keys(rows: Sequence[Ranked]) -> int:
    """Count the scenarios of rows."""
    return len({variant.scenario_key for variant, _history in rows})
