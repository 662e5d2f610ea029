"""The from/to matrix as a table: only statuses that occur, each number a link to the rows it counts."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from evalrunner.compare import DECIDED, MATRIX_ORDER, MISSING

from reports.domain.grammar import Sign, sign_of
from reports.pages.compare_frame import Address
from reports.selectors.compare_filters import RowFilters

Tone = Literal["same", "worse", "better", "lost", "gained", "other"]


@dataclass(frozen=True, slots=True)
class MatrixCell:
    """``text`` says the whole cell for screen readers; ``href`` is empty where nothing is counted."""

    count: int
    tone: Tone
    text: str
    href: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class MatrixRow:
    sign: Sign
    cells: tuple[MatrixCell, ...]
    total: int
    total_href: str


@dataclass(frozen=True, slots=True)
class MatrixView:
    """Rows are the baseline's statuses, columns the candidate's."""

    columns: tuple[Sign, ...]
    rows: tuple[MatrixRow, ...]
    totals: tuple[tuple[int, str], ...]
    total: int


def matrix_view(cells: Mapping[tuple[str, str], int], address: Address) -> MatrixView:
    before = [status for status in MATRIX_ORDER if any(cell[0] == status for cell in cells)]
    after = [status for status in MATRIX_ORDER if any(cell[1] == status for cell in cells)]
    totals = [sum(number for cell, number in cells.items() if cell[1] == status) for status in after]
    return MatrixView(
        columns=tuple(sign_of(status, "case") for status in after),
        rows=tuple(_row(status, after, cells, address) for status in before),
        totals=tuple(
            (total, address.filtered(RowFilters(after=status))) for total, status in zip(totals, after, strict=True)
        ),
        total=sum(totals),
    )


def _row(before: str, columns: list[str], cells: Mapping[tuple[str, str], int], address: Address) -> MatrixRow:
    counts = [cells.get((before, after), 0) for after in columns]
    return MatrixRow(
        sign=sign_of(before, "case"),
        cells=tuple(_cell(before, after, n, address) for after, n in zip(columns, counts, strict=True)),
        total=sum(counts),
        total_href=address.filtered(RowFilters(before=before)),
    )


def _cell(before: str, after: str, count: int, address: Address) -> MatrixCell:
    return MatrixCell(
        count=count,
        tone=_tone(before, after),
        text=f"{count:,} {'case' if count == 1 else 'cases'}: {before} before, {after} now",
        href=address.filtered(RowFilters(before=before, after=after)) if count else "",
        is_chosen=(address.filters.before, address.filters.after) == (before, after),
    )


def _tone(before: str, after: str) -> Tone:
    """Shade by direction: from and to passing, from and to a decision."""
    if before == after:
        return "same"
    if before in DECIDED and after in DECIDED:
        return "worse" if before == "passed" else "better" if after == "passed" else "other"
    if before in DECIDED:
        return "other" if after == MISSING else "lost"
    return "gained" if after in DECIDED and before != MISSING else "other"
