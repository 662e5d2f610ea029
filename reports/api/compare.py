"""The comparison of two runs or versions as one document; the same engine as the page.

The document is that of ``evalrunner.compare.document``, with what only a site knows beside it: addresses, keys, cases.
"""

from typing import Annotated, Any, Literal, cast

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from evalrunner.compare.policy import Policy
from ninja import Field, Query, Router, Schema

from reports.access import TeamRequest
from reports.api import schemas
from reports.api.auth import needs
from reports.api.problems import Problem, ProblemOut, bad_cursor
from reports.models import Team
from reports.pages.compare_documents import CONTENT_TYPES, comparison_file
from reports.pages.compare_frame import Address
from reports.selectors.compare import compare_sides
from reports.selectors.compare_filters import CLASSES, STATUSES, RowFilters, matching_rows, page_of
from reports.selectors.compare_rows import ShownSide, shown_sides
from reports.selectors.compare_sides import Side, SideProblem, resolve_sides
from reports.selectors.compare_verdict import Judged, document_of, judge_for
from reports.selectors.policies import policy_of_team
from reports.text import restored, storable

router = Router(auth=needs("viewer"), tags=["compare"])

_LARGEST_PK = 2**63 - 1
Text = Annotated[str, Field(max_length=2000)]
Class = Annotated[str, Field(pattern=f"^({'|'.join(CLASSES)})?$")]
Status = Annotated[str, Field(pattern=f"^({'|'.join(STATUSES)})?$")]
Key = Annotated[str, Field(pattern=r"^([0-9a-f]{32})?$")]
PROBLEMS = dict.fromkeys((400, 401, 403, 404, 422), ProblemOut)
_FILE_TEXT: dict[str, dict[str, Any]] = {each: {"schema": {"type": "string"}} for each in CONTENT_TYPES}
_FILES = {"responses": {200: {"content": _FILE_TEXT | {"application/json": {"schema": {"type": "object"}}}}}}


class SidesIn(Schema):
    """Sides are a run's id (also as ``run:<id>``), ``version:<pk>`` or ``version:<pk>:<suite revision pk>``."""

    baseline: Annotated[str, Field(min_length=1, max_length=200)]
    candidate: Annotated[str, Field(min_length=1, max_length=200)]
    suite: int = Field(0, ge=0, le=_LARGEST_PK, description="The pk of the suite in which versions are compared.")


class FilterIn(SidesIn):
    only: Class = Field("", alias="class", description="A class, a group, `regressions`, `improvements` or `all`.")
    tag: Text = ""
    q: Text = Field("", description="Looked for in scenario ids, names and chosen variants.")
    before: Status = Field("", alias="from", description="A row of the matrix.")
    after: Status = Field("", alias="to", description="A column of the matrix.")
    signature: Key = ""
    scenario: Key = Field("", description="The key of a scenario.")

    def filters(self) -> RowFilters:
        return RowFilters(
            only=self.only,
            tag=storable(self.tag),
            text=self.q,
            before=self.before,
            after=self.after,
            signature=self.signature,
            scenario=self.scenario,
        )


class CompareIn(FilterIn):
    cursor: Key = Field("", description="`nextCursor` of the page before.")


class DocumentIn(FilterIn):
    format: Literal["json", "csv", "markdown", "html", "text"] = "json"


class RateOut(schemas.PassRateOut):
    """``percent`` is the rate in words; ``low`` and ``high`` bound its 95% interval (Wilson)."""

    percent: str
    low: float
    high: float


class SideOut(Schema):
    """One side. ``runs`` are pooled, in the order of their start; ``side`` is what an address calls it.

    ``rule`` says how it was found: explicit, named, default or earlier.
    """

    side: str
    rule: dict[str, str]
    label: str
    target: dict[str, str]
    suite: dict[str, str]
    runs: list[dict[str, Any]]
    leftOut: list[dict[str, Any]]
    passRate: RateOut


class ComparisonOut(Schema):
    """``counts`` has every class, zeros included; redefined scenario variants count under ``redefined`` alone.

    ``verdict`` is pass, regressed, inconclusive or not_comparable; ``reasons`` are the rules that speak, those of the
    verdict first. ``matrix`` counts cases: ``matrix[before][after]``. ``rows`` are a page, in order of importance.
    """

    schemaVersion: int
    kind: str
    verdict: str
    sentence: str
    reasons: list[dict[str, Any]]
    baseline: SideOut
    candidate: SideOut
    rates: str
    size: str
    test: dict[str, Any]
    change: dict[str, Any] | None
    completeness: dict[str, Any]
    errors: int
    unchanged: int
    differences: list[dict[str, str]]
    counts: dict[str, int]
    groups: dict[str, int]
    redefined: int
    regressions: int
    improvements: int
    fewerDecided: int
    matrix: dict[str, dict[str, int]]
    clusters: list[dict[str, Any]]
    clustersTotal: int
    rows: list[dict[str, Any]]
    rowsTotal: int
    accepted: list[dict[str, str]]
    plan: dict[str, Any]
    policy: dict[str, Any]
    nextCursor: str | None
    url: str


@router.get(
    "/compare",
    response={200: ComparisonOut, **PROBLEMS},
    url_name="compare",
    summary="Compare two runs or versions",
)
def compare(request: HttpRequest, given: Query[CompareIn]) -> HttpResponse:
    refuse_unknown_parameters(request, CompareIn)
    team = cast(TeamRequest, request).team
    judged, filters = judged_sides(team, given), given.filters()
    stored = judged.stored
    page = page_of(stored, judged.ordered(matching_rows(stored, filters, team=team)), given.cursor, team=team)
    if not page.is_found:
        raise bad_cursor()
    whole = site_document(request, judged, Address(given.baseline, given.candidate, given.suite, filters), page.rows)
    return schemas.json_response(whole | {"rowsTotal": page.found, "nextCursor": page.cursor or None})


@router.get(
    "/compare/document",
    response={200: None, **PROBLEMS},
    openapi_extra=_FILES,
    url_name="compare-document",
    summary="Download a comparison as JSON, CSV, Markdown, HTML or text",
)
def compare_document(request: HttpRequest, given: Query[DocumentIn]) -> HttpResponse:
    """All rows that fit the filter (every row without one), in one file that stands alone."""
    refuse_unknown_parameters(request, DocumentIn)
    team = cast(TeamRequest, request).team
    judged, filters = judged_sides(team, given), given.filters()
    rows = matching_rows(judged.stored, filters, team=team) if filters.is_narrow else judged.stored.result.rows
    return file_response(document_of(judged, team=team, rows=judged.ordered(rows)), given.format)


def file_response(document: dict[str, Any], kind: str) -> HttpResponse:
    file = comparison_file(document, kind)
    disposition = {"Content-Disposition": f'attachment; filename="{file.name}"'}
    return HttpResponse(file.content, content_type=file.content_type, headers=disposition)


def judged_sides(team: Team, given: SidesIn, policy: Policy | None = None) -> Judged:
    """Compare and judge by a policy, the team's own where none is given; a Problem where a side cannot be compared."""
    used = policy or policy_of_team(team)
    try:
        stored = compare_sides(
            team=team,
            baseline=given.baseline,
            candidate=given.candidate,
            suite=given.suite,
            accepted=used.accepted_definitions,
        )
    except SideProblem as problem:
        raise _problem_of(problem) from problem
    return judge_for(team, stored, used)[0]


def sides_of(team: Team, given: SidesIn) -> tuple[Side, Side]:
    """Find both sides; a Problem where one cannot be compared."""
    try:
        return resolve_sides(team=team, baseline=given.baseline, candidate=given.candidate, suite=given.suite)
    except SideProblem as problem:
        raise _problem_of(problem) from problem


def _problem_of(problem: SideProblem) -> Problem:
    code = "not_found" if problem.is_unknown else "side_not_comparable"
    faults = [(f"query.{problem.name}", problem.sentence)]
    return Problem(404 if problem.is_unknown else 400, code, problem.sentence, faults)


def refuse_unknown_parameters(request: HttpRequest, form: type[Schema]) -> None:
    """A filter with a misspelt name must not be a comparison without that filter."""
    known = {field.alias or name for name, field in form.model_fields.items()}
    if unknown := sorted(set(request.GET) - known):
        faults = [(f"query.{name}", "is no parameter of this address") for name in unknown[:20]]
        raise Problem(422, "parameters_invalid", f"{faults[0][0]} {faults[0][1]}.", faults)


# ----------------------------------------------------------------------------------------------- what only a site knows


def site_document(request: HttpRequest, judged: Judged, address: Address, rows: Any) -> dict[str, Any]:
    """Return the document with addresses, and the first repetitions of each row."""
    stored = judged.stored
    document = document_of(judged, team=cast(TeamRequest, request).team, rows=rows)
    shown = shown_sides((stored.baseline, stored.candidate), [row.variant for row in rows])
    sides = (("baseline", stored.baseline), ("candidate", stored.candidate))
    for (name, side), found in zip(sides, stored.rules, strict=True):
        rule = {"rule": str(found.rule), "name": restored(found.name), "sentence": restored(found.words)}
        runs = _runs(request, side, document[name]["runs"])
        document[name] |= {"side": str(side.token), "rule": rule, "runs": runs}
    for made, row in zip(document["rows"], rows, strict=True):
        made |= {"variant": made["key"], "url": request.build_absolute_uri(address.case(made["key"]))}
        for name, side_shown in zip(("baseline", "candidate"), shown[row.variant], strict=True):
            made[name] |= _shown(request, side_shown)
    return document | {"url": request.build_absolute_uri(address.page())}


def _runs(request: HttpRequest, side: Side, named: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {"id": str(run.pk), "url": request.build_absolute_uri(reverse("run", args=[run.pk]))} | name
        for run, name in zip(side.runs, named, strict=True)
    ]


def _shown(request: HttpRequest, shown: ShownSide) -> dict[str, Any]:
    """Tell one side of a row; ``cases`` are its first repetitions."""
    first = shown.first_failing
    return {
        "failing": restored(first.failing) if first is not None else None,
        "meanDurationMs": shown.mean_ms,
        "cases": [
            {
                "run": str(case.run),
                "position": case.position,
                "status": case.status,
                "url": request.build_absolute_uri(reverse("case", args=[case.run, case.position])),
            }
            for case in shown.cases
        ],
    }
