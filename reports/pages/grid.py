"""The grid of a target: scenario variants down, versions across, what broke last on top."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.urls import reverse
from evalrunner.compare import Tally

from reports.domain.history import WORDS
from reports.domain.wording import day_in_words
from reports.models import Team
from reports.pages.grid_filters import (
    ONLY,
    SORTS,
    GridFilters,
    Ranked,
    histories_of,
    is_among,
    scenario_keys,
    wanted_rows,
)
from reports.pages.grid_rows import GridGroup, GridRow, GridRows
from reports.pages.parts import Action, Crumb, Empty, Pager
from reports.selectors.baselines import version_baselines
from reports.selectors.grid import VERSIONS, Column, Grid, read_grid
from reports.selectors.targets import find_target, list_target_suites

ROWS_A_PAGE = 60


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a column: a version and what a comparison calls it ("" without runs that count).

    ``baselines`` are the names of the baselines that point to a run of it.
    """

    name: str
    label: str
    day: str
    side: str
    baselines: tuple[str, ...]
    is_baseline: bool
    is_candidate: bool
    tally: Tally


@dataclass(frozen=True, slots=True)
class Link:
    text: str
    href: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class GridPage:
    target_id: str
    crumbs: tuple[Crumb, ...]
    sentence: tuple[Link, ...]
    words: tuple[tuple[str, str], ...]
    heads: tuple[Head, ...]
    groups: tuple[GridGroup, ...]
    pager: Pager
    filters: GridFilters
    sorts: tuple[Link, ...]
    scopes: tuple[Link, ...]
    widths: tuple[Link, ...]
    suites: tuple[Link, ...]
    folds: tuple[Link, ...]
    empty: Empty

    @property
    def rows(self) -> tuple[GridRow, ...]:
        """Return the scenario variants on the page in their order, folded or not."""
        return tuple(row for group in self.groups for row in group.rows)


def grid_page(*, team: Team, pk: int, filters: GridFilters) -> GridPage | None:
    """Read and decide the grid; None where the team has no such target or it never ran the suite."""
    target = find_target(team=team, pk=pk)
    suites = list_target_suites(team=team, target_pk=pk) if target else ()
    suite = next((each for each in suites if not filters.suite or each.pk == filters.suite), None)
    if target is None or suite is None:
        return None
    grid = read_grid(team=team, target_pk=pk, suite_pk=suite.pk, versions=filters.versions)
    rows = wanted_rows(histories_of(grid), grid, filters)
    groups = GridRows(grid, filters, suite.pk).groups(rows, filters.start, filters.start + ROWS_A_PAGE)

    def link(text: str, is_chosen: bool, **changes: object) -> Link:
        return Link(text, f"?{filters.query(**changes)}", is_chosen)

    return GridPage(
        target_id=target.target_id,
        crumbs=(
            Crumb("Targets", reverse("targets")),
            Crumb(target.target_id, reverse("target", args=[pk])),
            Crumb(f"grid of {suite.suite_id}"),
        ),
        sentence=_sentence(grid, filters),
        words=WORDS,
        heads=_heads(grid.columns, version_baselines(team=team, target=pk, suite=suite.pk)),
        groups=groups,
        pager=_pager(rows, filters),
        filters=filters,
        sorts=tuple(link(text, filters.sort == name, sort="" if name == "broke" else name) for name, text in SORTS),
        scopes=(
            link("What changed", not (filters.is_all or filters.only), all="", only=""),
            *(link(text, filters.only == name, all="", only=name) for name, text in ONLY),
            link("All scenario variants", filters.is_all and not filters.only, all="1", only=""),
        ),
        widths=tuple(link(f"{number} versions", number == filters.versions, versions=number) for number in VERSIONS),
        suites=tuple(link(each.suite_id, each.pk == suite.pk, suite=each.pk) for each in suites if len(suites) > 1),
        folds=(
            (
                link(
                    "Fold all" if filters.is_unfolded else "Unfold all",
                    False,
                    unfold="" if filters.is_unfolded else "1",
                ),
            )
            if any(group.whole for group in groups)
            else ()
        ),
        empty=_empty(grid, filters, len(rows)),
    )


def _sentence(grid: Grid, filters: GridFilters) -> tuple[Link, ...]:
    """Return the answer in phrases; each number leads to the rows that it counts."""
    histories = [history for _, history in histories_of(grid)]
    newest = len(grid.columns) - 1

    def counted(only: str, *forms: str) -> Link:
        number = sum(is_among(history, only, newest) for history in histories)
        words = forms[0] if number == 1 else forms[-1]
        return Link(
            f"{number:,} {words}", f"?{filters.query(only=only, all='', q='', tag='')}" if number else "", False
        )

    variants = f"{len(histories):,} scenario variant{'' if len(histories) == 1 else 's'}"
    versions = f"{newest + 1} version{'' if newest == 0 else 's'}"
    return (
        Link(f"Of {variants} over {versions}, ", "", False),
        counted("failing", "fails", "fail"),
        Link(", ", "", False),
        counted("new", "of them since the newest version"),
        Link("; ", "", False),
        counted("flips", "flipped more than once"),
        Link(".", "", False),
    )


def _heads(columns: Sequence[Column], baselines: Mapping[int, Sequence[str]]) -> tuple[Head, ...]:
    comparable = [place for place, column in enumerate(columns) if column.side is not None]
    chosen = (comparable[-2:-1] or [-1])[0], (comparable[-1:] or [-1])[0]
    return tuple(
        Head(
            name=column.version.fingerprint,
            label=column.version.label,
            day=day_in_words(column.version.first_at),
            side=column.version.side if column.side is not None else "",
            baselines=tuple(baselines.get(column.version.pk, ())),
            is_baseline=place == chosen[0],
            is_candidate=place == chosen[1],
            tally=column.tally,
        )
        for place, column in enumerate(columns)
    )


def _pager(rows: Sequence[Ranked], filters: GridFilters) -> Pager:
    found, scenarios = len(rows), scenario_keys(rows)
    last = min(found, filters.start + ROWS_A_PAGE)
    of_scenarios = f"{scenarios:,} scenario{'' if scenarios == 1 else 's'}"
    return Pager(
        text=f"{filters.start + 1:,} to {last:,} of {found:,} scenario variants of {of_scenarios}",
        first_href=f"?{filters.query()}" if filters.start else "",
        next_href=f"?{filters.query(start=last)}" if last < found else "",
        next_text="Next",
    )


def _empty(grid: Grid, filters: GridFilters, found: int) -> Empty:
    if not grid.variants:
        return Empty("No version has a completed run of this suite", "The grid fills with the first one.")
    if found:
        fit = "1 scenario variant fits" if found == 1 else f"{found:,} scenario variants fit"
        first = Action("Show the first of them", f"?{filters.query()}")
        return Empty(f"There is no row {filters.start + 1:,}", f"{fit}.", (first,))
    everything = (Action("Show all scenario variants", f"?{filters.query(all='1', only='', q='', tag='')}"),)
    if filters.text or filters.tag or filters.only:
        return Empty("No scenario variant fits this filter", "Look for another text, or show all of them.", everything)
    return Empty("Nothing changed over these versions", "All scenario variants show every cell.", everything)
