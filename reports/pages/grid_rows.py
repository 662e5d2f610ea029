"""The rows of the grid: scenario variants folded under their scenarios, with their cells and how each fared."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from django.urls import reverse

from reports.domain.grammar import Sign, sign_of
from reports.domain.history import History, history_of
from reports.pages.compare_frame import Address
from reports.pages.grid_filters import GridFilters, Ranked, name_of, tally_of
from reports.pages.run_words import variants_words
from reports.selectors.compare_filters import RowFilters
from reports.selectors.grid import Cell, Grid, GridVariant


@dataclass(frozen=True, slots=True)
class CellView:
    """One cell; ``share`` stands beside the symbol where repetitions are mixed. ``is_redefined``: another ruler than
    in the version before."""

    sign: Sign
    share: str
    href: str
    text: str
    is_redefined: bool


@dataclass(frozen=True, slots=True)
class Fact:
    """A version that a row names, and where what happened there can be looked at; ``text`` says what that is."""

    name: str
    href: str
    text: str


@dataclass(frozen=True, slots=True)
class GridRow:
    """A scenario variant, or a scenario over those of its variants that are listed.

    ``failing`` counts the variants that fail ("2 of 3 fail"), "" in the row of a single one.
    """

    scenario_id: str
    name: str
    variants: str
    cells: tuple[CellView | None, ...]
    failing_since: Fact | None
    last_good: Fact | None
    flips: int
    flips_href: str
    failing: str = ""


@dataclass(frozen=True, slots=True)
class GridGroup:
    """A scenario: ``whole`` is its own row, above those that it folds; None where only one variant is listed."""

    whole: GridRow | None
    words: str
    rows: tuple[GridRow, ...]


@dataclass(frozen=True, slots=True)
class GridRows:
    """Makes the rows of one grid; ``suite`` is its primary key."""

    grid: Grid
    filters: GridFilters
    suite: int

    def groups(self, rows: Sequence[Ranked], start: int, end: int) -> tuple[GridGroup, ...]:
        """Fold the rows of a page under their scenarios; what is said of a scenario counts its rows on other pages."""
        listed: dict[str, list[Ranked]] = {}
        for row in rows:
            listed.setdefault(row[0].scenario_key, []).append(row)
        known = Counter(variant.scenario_key for variant in self.grid.variants.values())
        return tuple(
            self._group(list(shown), listed[key], known[key])
            for key, shown in groupby(rows[start:end], key=lambda row: row[0].scenario_key)
        )

    def _group(self, shown: Sequence[Ranked], listed: Sequence[Ranked], known: int) -> GridGroup:
        rows = tuple(self._row(variant, history) for variant, history in shown)
        if len(listed) == 1:
            return GridGroup(None, "", rows)
        number = f"{len(listed):,}" if len(listed) == known else f"{len(listed):,} of {known:,}"
        here = f", {len(shown):,} here" if len(shown) < len(listed) else ""
        return GridGroup(self._whole(listed), f"{number} variants{here}", rows)

    def _row(self, variant: GridVariant, history: History) -> GridRow:
        cells = tuple(cell_view(self.grid, place, variant) for place in range(len(self.grid.columns)))
        newest = next((cell for cell in reversed(cells) if cell is not None), None)
        return GridRow(
            scenario_id=variant.scenario_id,
            name=name_of(self.grid, variant),
            variants=variants_words(variant.variants),
            cells=cells,
            failing_since=self._since(variant, history, cells),
            last_good=self._good(history.last_good, cells),
            flips=history.flips,
            flips_href=f"{newest.href}#versions" if newest is not None and history.flips else "",
        )

    def _whole(self, listed: Sequence[Ranked]) -> GridRow:
        """Sum up the listed variants of a scenario: what broke last, and where all of them were good."""
        variants = [variant for variant, _history in listed]
        merged = [_merged(column, variants) for column in self.grid.cells]
        cells = tuple(
            _view(self.grid, place, cell, is_redefined=any(is_redefined(self.grid, place, each) for each in variants))
            for place, cell in enumerate(merged)
        )
        failing = [row for row in listed if row[1].failing_since is not None]
        broke = max(failing, key=lambda row: row[1].failing_since or 0, default=None)
        flips = sum(history.flips for _variant, history in listed)
        first = variants[0]
        rows_of_it = self.filters.query(q=first.scenario_id, all="1", only="", unfold="1")
        return GridRow(
            scenario_id=first.scenario_id,
            name=name_of(self.grid, first),
            variants="",
            cells=cells,
            failing_since=self._since(*broke, cells) if broke else None,
            last_good=self._good(history_of([tally_of(cell) for cell in merged]).last_good, cells),
            flips=flips,
            flips_href=f"?{rows_of_it}" if flips else "",
            failing=f"{len(failing):,} of {len(listed):,} fail" if failing else "",
        )

    def _since(self, variant: GridVariant, history: History, cells: Sequence[CellView | None]) -> Fact | None:
        """Lead to the side by side of the last good version and the first bad one; to the bad case without a good."""
        since, good = history.failing_since, history.last_good
        if since is None:
            return None
        name, cell = version_name(self.grid, since), cells[since]
        if good is None or self.grid.columns[good].side is None or self.grid.columns[since].side is None:
            return Fact(name, cell.href if cell else "", "the first failing case")
        before, after = (self.grid.columns[place].version.side for place in (good, since))
        address = Address(before, after, self.suite, RowFilters()).case(variant.key)
        return Fact(name, f"{address}#divergence", f"{version_name(self.grid, good)} and {name} side by side")

    def _good(self, place: int | None, cells: Sequence[CellView | None]) -> Fact | None:
        cell = cells[place] if place is not None else None
        return Fact(version_name(self.grid, place), cell.href, "a case that passed") if cell else None


def _merged(column: Mapping[int, Cell], variants: Sequence[GridVariant]) -> Cell | None:
    """Add up the cells of several scenario variants in one version; None where it has none of them."""
    found = [column[variant.pk] for variant in variants if variant.pk in column]
    if not found:
        return None
    whole = Cell()
    for cell in found:
        for status, number in cell.counts.items():
            whole.counts[status] = whole.counts.get(status, 0) + number
        for status, place in cell.places.items():
            whole.places.setdefault(status, place)
    return whole


def version_name(grid: Grid, place: int | None) -> str:
    if place is None:
        return ""
    version = grid.columns[place].version
    return version.label or version.fingerprint


def history_words(grid: Grid, variant_pk: int) -> str:
    """Say how one scenario variant fared: failing since, last good and flips; "" where it was decided only once."""
    history = history_of([tally_of(column.get(variant_pk)) for column in grid.cells])
    since, good = version_name(grid, history.failing_since), version_name(grid, history.last_good)
    words = [f"failing since {since}" if since else "", f"last good {good}" if good and since else ""]
    words.append(f"{history.flips} flip{'' if history.flips == 1 else 's'}" if history.flips else "")
    return ", ".join(each for each in words if each)


def cell_view(grid: Grid, place: int, variant: GridVariant) -> CellView | None:
    """Return what one cell shows; None where the version has no case of the scenario variant."""
    cell = grid.cells[place].get(variant.pk)
    return _view(grid, place, cell, is_redefined=cell is not None and is_redefined(grid, place, variant))


def _view(grid: Grid, place: int, cell: Cell | None, *, is_redefined: bool) -> CellView | None:
    if cell is None:
        return None
    tally, (run, position) = cell.tally, cell.place
    return CellView(
        sign=cell_sign(cell),
        share=f"{tally.passed}/{tally.decided}" if 0 < tally.passed < tally.decided else "",
        href=reverse("case", args=[run, position]),
        text=f"{version_name(grid, place)}: {tally.words}",
        is_redefined=is_redefined,
    )


def cell_sign(cell: Cell) -> Sign:
    """Return how a cell is marked: passed, failed (any that did not pass), error (nothing but errors), or undecided."""
    tally = cell.tally
    if not tally.decided:
        return sign_of(next(iter(cell.counts)), "case")
    if tally.passed == tally.decided:
        return sign_of("passed", "case")
    return sign_of("failed" if cell.counts.get("failed") or tally.passed else "error", "case")


def is_redefined(grid: Grid, place: int, variant: GridVariant) -> bool:
    """Tell whether the scenario asks something else than in the version before that has it."""
    asked = [_ruler(grid, earlier, variant) for earlier in range(place + 1)]
    before = next((ruler for ruler in reversed(asked[:-1]) if ruler), "")
    return bool(before and asked[-1] and before != asked[-1])


def _ruler(grid: Grid, place: int, variant: GridVariant) -> str:
    side = grid.columns[place].side
    return grid.rulers.get((side.revision.pk, variant.scenario_key), "") if side is not None else ""
