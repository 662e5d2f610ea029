"""The side by side of one scenario variant, as its page shows it."""

from typing import Annotated, Any, cast

from django.http import HttpRequest, HttpResponse
from evalrunner.compare import parse_path
from evalrunner.errors import PathTextError
from ninja import Field, Query, Router, Schema

from reports.access import TeamRequest
from reports.api import schemas
from reports.api.auth import needs
from reports.api.compare import PROBLEMS, SidesIn, judged_sides, refuse_unknown_parameters
from reports.api.problems import Problem, not_found
from reports.domain.anchors import CRITERIA, criterion_anchor
from reports.domain.criterion_pairs import CriterionPair
from reports.pages.compare_case import SideBySidePage, SideHead, side_by_side_page
from reports.pages.compare_conversation import OutlineEntry
from reports.pages.compare_frame import Address
from reports.pages.compare_turns import TurnPairView
from reports.pages.compare_values import ValueLine
from reports.selectors.compare import row_of_key
from reports.selectors.compare_case import Asked
from reports.selectors.compare_filters import RowFilters
from reports.text import restored

router = Router(auth=needs("viewer"), tags=["compare"])
Rank = Annotated[int, Field(ge=0, le=1_000_000_000)]


class SideBySideIn(SidesIn):
    """``b`` and ``c`` choose the repetition of each side, counted from 1; 0 for a typical one."""

    variant: Annotated[str, Field(pattern=r"^[0-9a-f]{32}$", description="The `variant` of a row of the comparison.")]
    b: Rank = 0
    c: Rank = 0
    turn: Annotated[str, Field(pattern=r"^((left-)?[1-9][0-9]{0,8})?$")] = Field(
        "", description="A turn that must be among the pairs: of the candidate, or `left-3` of the baseline."
    )
    path: Annotated[str, Field(max_length=2000)] | None = Field(
        None, description="A path of its observation that must be among the paths, whatever became of it."
    )


class SideBySideOut(Schema):
    """``turns`` are all of both conversations, in order; ``pairs`` the window of them that the page shows in full.

    ``mark`` is equal, changed, flipped, only-left, only-right or unread. An ``anchor`` is the fragment at which ``url``
    opens. ``paths`` are those at which the observations differ without what the ignore rules leave out.
    """

    scenario: str
    variant: str
    change: str
    sentence: str
    isIdentical: bool
    firstDifference: str | None
    baseline: dict[str, Any] | None
    candidate: dict[str, Any] | None
    turns: list[dict[str, Any]]
    pairs: list[dict[str, Any]]
    criteria: list[dict[str, Any]]
    url: str


@router.get(
    "/compare/case",
    response={200: SideBySideOut, **PROBLEMS},
    url_name="compare-case",
    summary="Put two conversations of a scenario variant side by side",
)
def side_by_side(request: HttpRequest, given: Query[SideBySideIn]) -> HttpResponse:
    refuse_unknown_parameters(request, SideBySideIn)
    team = cast(TeamRequest, request).team
    asked = Asked(given.b, given.c, given.turn, _steps(given))
    stored = judged_sides(team, given).stored
    row = row_of_key(team, stored, given.variant)
    if row is None:
        raise not_found("scenario variant of these sides")
    address = Address(given.baseline, given.candidate, given.suite, RowFilters())
    page = side_by_side_page(stored, row, RowFilters(), team=team, address=address, asked=asked)
    if page.missing:
        raise Problem(404, "not_found", " ".join(page.missing))
    return schemas.json_response(_document(request, page, variant=given.variant, change=row.change.value))


def _steps(given: SideBySideIn) -> tuple[str | int, ...] | None:
    if given.path is None:
        return None
    if not given.turn:
        raise _invalid("path", "needs the turn in whose observation it lies")
    try:
        return parse_path(given.path)
    except PathTextError as error:
        raise _invalid("path", str(error)) from None


def _invalid(name: str, reason: str) -> Problem:
    return Problem(422, "parameters_invalid", f"{name}: {reason}.", [(f"query.{name}", reason)])


def _document(request: HttpRequest, page: SideBySidePage, *, variant: str, change: str) -> dict[str, Any]:
    first = next((entry for entry in page.outline if entry.is_first), None)
    at_end = CRITERIA if page.is_first_at_end else None
    return {
        "scenario": restored(page.scenario_id),
        "variant": variant,
        "change": change,
        "sentence": restored(page.sentence),
        "isIdentical": page.is_identical,
        "firstDifference": _anchor(first) if first else at_end,
        "baseline": _side(request, page.left),
        "candidate": _side(request, page.right),
        "turns": [_turn(request, page, entry) for entry in page.outline],
        "pairs": [_pair(request, block.pair) for block in page.blocks if block.pair],
        "criteria": _criteria(page.criteria, CRITERIA),
        "url": request.build_absolute_uri(page.base),
    }


def _side(request: HttpRequest, head: SideHead) -> dict[str, Any] | None:
    case = head.case
    if case is None:
        return None
    return {
        "run": str(case.run),
        "position": case.position,
        "repetition": case.rank,
        "status": case.status,
        "failing": restored(case.failing),
        "url": request.build_absolute_uri(head.case_href),
    }


def _anchor(entry: OutlineEntry) -> str:
    return entry.href.partition("#")[2]


def _turn(request: HttpRequest, page: SideBySidePage, entry: OutlineEntry) -> dict[str, Any]:
    anchor = _anchor(entry)
    url = request.build_absolute_uri(f"{page.base}&turn={anchor.removeprefix('turn-')}#{anchor}")
    return {"anchor": anchor, "step": restored(entry.step_id), "mark": entry.mark, "url": url}


def _pair(request: HttpRequest, pair: TurnPairView) -> dict[str, Any]:
    found = pair.observation
    lines = (*((found.asked,) if found and found.asked else ()), *(found.lines if found else ()))
    return {
        "anchor": pair.anchor,
        "step": restored(pair.step_id),
        "differs": pair.differs,
        "mayFollow": pair.follows,
        "paths": [_path(line) for line in lines],
        "pathsHidden": found.hidden if found else 0,
        "criteria": _criteria(pair.criteria, pair.anchor),
        "url": request.build_absolute_uri(f"{pair.base}#{pair.anchor}"),
    }


def _path(line: ValueLine) -> dict[str, Any]:
    """``baseline`` and ``candidate`` are JSON, shortened; null where the side has nothing there."""
    return {
        "path": line.path,
        "kind": line.kind,
        "baseline": line.left or None,
        "candidate": line.right or None,
        "anchor": line.anchor,
    }


def _criteria(pairs: tuple[CriterionPair, ...], owner: str) -> list[dict[str, Any]]:
    return [
        {
            "anchor": criterion_anchor(owner, pair.path),
            "title": pair.shown.title,
            "change": pair.change,
            "baseline": pair.left.status if pair.left else None,
            "candidate": pair.right.status if pair.right else None,
            "children": _criteria(tuple(child for child in pair.children if child.change != "same"), owner),
        }
        for pair in pairs
    ]
