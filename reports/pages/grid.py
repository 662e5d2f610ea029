"""The grid of a target: scenario variants down, versions across, what broke last on top."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import reverse
from evalrunner.compare import Tally

from reports.domain.grammar import Sign, sign_of
from reports.domain.history import WORDS, History, history_of
from reports.domain.wording import day_in_words
from reports.models import Team
from reports.pages.parts import Crumb, Empty, Pager
from reports.pages.run import variants_words
from reports.selectors.baselines import version_baselines
from reports.selectors.grid import VERSIONS, Cell, Column, Grid, GridVariant, read_grid
from reports.selectors.targets import find_target, list_target_suites

ROWS_A_PAGE = 40
SORTS = (("broke", "Broke last"), ("flips", "Most flips"), ("name", "Scenario"))
ONLY = (("failing", "Failing"), ("new", "Failing since the newest version"), ("flips", "Flipped more than once"))


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

    def query(self, **changes: object) -> str:
        named: dict[str, object] = {
            "suite": self.suite or "",
            "versions": "" if self.versions == VERSIONS[1] else self.versions,
            "sort": "" if self.sort == "broke" else self.sort,
            "all": "1" if self.is_all else "",
            "only": self.only,
            "q": self.text,
            "tag": self.tag,
            "start": "",
        } | changes
        return urlencode({name: value for name, value in named.items() if value})


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
class CellView:
    """One cell; ``share`` stands beside the symbol where repetitions are mixed. ``is_redefined``: another ruler than
    in the version before."""

    sign: Sign
    share: str
    href: str
    text: str
    is_redefined: bool


@dataclass(frozen=True, slots=True)
class GridRow:
    scenario_id: str
    name: str
    variants: str
    cells: tuple[CellView | None, ...]
    failing_since: str
    last_good: str
    flips: int
    history: History


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
    rows: tuple[GridRow, ...]
    pager: Pager
    filters: GridFilters
    sorts: tuple[Link, ...]
    scopes: tuple[Link, ...]
    widths: tuple[Link, ...]
    suites: tuple[Link, ...]
    empty: Empty


def grid_page(*, team: Team, pk: int, filters: GridFilters) -> GridPage | None:
    """Read and decide the grid; None where the team has no such target or it never ran the suite."""
    target = find_target(team=team, pk=pk)
    suites = list_target_suites(team=team, target_pk=pk) if target else ()
    suite = next((each for each in suites if not filters.suite or each.pk == filters.suite), None)
    if target is None or suite is None:
        return None
    grid = read_grid(team=team, target_pk=pk, suite_pk=suite.pk, versions=filters.versions)
    rows = _sorted(_fitting(_histories(grid), grid, filters), filters.sort)
    shown = rows[filters.start : filters.start + ROWS_A_PAGE]

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
        rows=tuple(_row(variant, history, grid) for variant, history in shown),
        pager=_pager(len(rows), filters),
        filters=filters,
        sorts=tuple(link(text, filters.sort == name, sort="" if name == "broke" else name) for name, text in SORTS),
        scopes=(
            link("What changed", not (filters.is_all or filters.only), all="", only=""),
            *(link(text, filters.only == name, all="", only=name) for name, text in ONLY),
            link("All scenario variants", filters.is_all and not filters.only, all="1", only=""),
        ),
        widths=tuple(link(f"{number} versions", number == filters.versions, versions=number) for number in VERSIONS),
        suites=tuple(link(each.suite_id, each.pk == suite.pk, suite=each.pk) for each in suites if len(suites) > 1),
        empty=_empty(grid, filters),
    )


Ranked = tuple[GridVariant, History]


def _histories(grid: Grid) -> list[Ranked]:
    return [
        (variant, history_of([_tally(column.get(pk)) for column in grid.cells]))
        for pk, variant in grid.variants.items()
    ]


def _tally(cell: Cell | None) -> Tally | None:
    return cell.tally if cell is not None else None


def _fitting(rows: Sequence[Ranked], grid: Grid, filters: GridFilters) -> list[Ranked]:
    sought, newest = filters.text.lower(), len(grid.columns) - 1
    return [
        (variant, history)
        for variant, history in rows
        if _is_wanted(history, filters, newest)
        and (not sought or sought in variant.scenario_id.lower() or sought in _name(grid, variant).lower())
        and (not filters.tag or filters.tag in grid.tags.get(variant.scenario_key, ()))
    ]


def _is_wanted(history: History, filters: GridFilters, newest: int) -> bool:
    if filters.only:
        return _is_among(history, filters.only, newest)
    return filters.is_all or history.is_changed or history.is_failing


def _is_among(history: History, only: str, newest: int) -> bool:
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


def _name(grid: Grid, variant: GridVariant) -> str:
    return grid.names.get(variant.scenario_key, "")


def _sentence(grid: Grid, filters: GridFilters) -> tuple[Link, ...]:
    """Return the answer in phrases; each number leads to the rows that it counts."""
    histories = [history for _, history in _histories(grid)]
    newest = len(grid.columns) - 1

    def counted(only: str, *forms: str) -> Link:
        number = sum(_is_among(history, only, newest) for history in histories)
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


def _row(variant: GridVariant, history: History, grid: Grid) -> GridRow:
    return GridRow(
        scenario_id=variant.scenario_id,
        name=_name(grid, variant),
        variants=variants_words(variant.variants),
        cells=tuple(cell_view(grid, place, variant) for place in range(len(grid.columns))),
        failing_since=_version_name(grid, history.failing_since),
        last_good=_version_name(grid, history.last_good),
        flips=history.flips,
        history=history,
    )


def _version_name(grid: Grid, place: int | None) -> str:
    if place is None:
        return ""
    version = grid.columns[place].version
    return version.label or version.fingerprint


def history_words(grid: Grid, variant_pk: int) -> str:
    """Say how one scenario variant fared: failing since, last good and flips; "" where it was decided only once."""
    history = history_of([_tally(column.get(variant_pk)) for column in grid.cells])
    since, good = _version_name(grid, history.failing_since), _version_name(grid, history.last_good)
    words = [f"failing since {since}" if since else "", f"last good {good}" if good and since else ""]
    words.append(f"{history.flips} flip{'' if history.flips == 1 else 's'}" if history.flips else "")
    return ", ".join(each for each in words if each)


def cell_view(grid: Grid, place: int, variant: GridVariant) -> CellView | None:
    """Return what one cell shows; None where the version has no case of the scenario variant."""
    cell = grid.cells[place].get(variant.pk)
    if cell is None:
        return None
    tally, (run, position) = cell.tally, cell.place
    return CellView(
        sign=cell_sign(cell),
        share=f"{tally.passed}/{tally.decided}" if 0 < tally.passed < tally.decided else "",
        href=reverse("case", args=[run, position]),
        text=f"{_version_name(grid, place)}: {tally.words}",
        is_redefined=_is_redefined(grid, place, variant),
    )


def cell_sign(cell: Cell) -> Sign:
    """Return how a cell is marked: passed, failed (any that did not pass), error (nothing but errors), or undecided."""
    tally = cell.tally
    if not tally.decided:
        return sign_of(next(iter(cell.counts)), "case")
    if tally.passed == tally.decided:
        return sign_of("passed", "case")
    return sign_of("failed" if cell.counts.get("failed") or tally.passed else "error", "case")


def _is_redefined(grid: Grid, place: int, variant: GridVariant) -> bool:
    """Tell whether the scenario asks something else than in the version before that has it."""
    asked = [_ruler(grid, earlier, variant) for earlier in range(place + 1)]
    before = next((ruler for ruler in reversed(asked[:-1]) if ruler), "")
    return bool(before and asked[-1] and before != asked[-1])


def _ruler(grid: Grid, place: int, variant: GridVariant) -> str:
    side = grid.columns[place].side
    return grid.rulers.get((side.revision.pk, variant.scenario_key), "") if side is not None else ""


def _pager(found: int, filters: GridFilters) -> Pager:
    last = min(found, filters.start + ROWS_A_PAGE)
    return Pager(
        text=f"{filters.start + 1:,} to {last:,} of {found:,} scenario variants" if found else "no scenario variants",
        first_href=f"?{filters.query()}" if filters.start else "",
        next_href=f"?{filters.query(start=last)}" if last < found else "",
        next_text="Next",
    )


def _empty(grid: Grid, filters: GridFilters) -> Empty:
    if not grid.variants:
        return Empty("No version has a completed run of this suite", "The grid fills with the first one.")
    if filters.text or filters.tag:
        return Empty("No scenario variant fits this filter", "Look for another text, or show all of them.")
    return Empty("Nothing changed over these versions", "Show all scenario variants to see every cell.")
