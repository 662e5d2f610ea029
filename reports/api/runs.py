"""Runs: list, one, its cases, its report; and importing reports."""

from datetime import date
from typing import Annotated, Any, BinaryIO, Literal, cast
from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from ninja import Field, Path, Query, Router, Schema

from reports.access import TeamRequest
from reports.api import schemas
from reports.api.auth import needs
from reports.api.import_form import SCENARIOS, TOLD, given_with, is_form
from reports.api.problems import Problem, ProblemOut, bad_cursor, not_found
from reports.domain.run_query import MOST_TERMS, RunQuery, parse_run_query
from reports.importers.given import LONGEST
from reports.models import Run
from reports.selectors import run_records
from reports.selectors.runs import Cursor
from reports.selectors.stored_reports import get_stored_case
from reports.services.export import NoReportError, iter_report_json
from reports.services.ingest import ingest_report
from reports.text import storable

router = Router(auth=needs("viewer"), tags=["runs"])

_LARGEST_POSITION = 2**31 - 1
Text = Annotated[str, Field(max_length=2000)]
Position = Annotated[int, Field(ge=0, le=_LARGEST_POSITION)]
Status = Literal["queued", "running", "completed", "cancelled", "limited", "interrupted", "rejected"]
CaseStatus = Literal["pending", "running", "passed", "failed", "error", "cancelled", "skipped", "blocked"]
_REFUSALS: dict[Any, Any] = {401: ProblemOut, 403: ProblemOut, 404: ProblemOut, 422: ProblemOut}


class RunsIn(Schema):
    """Several values of one name mean any of them. ``q`` is the text of the search field of the page."""

    q: Text = Field("", description="As in the search field: `target:… status:…` or any text.")
    target: list[Text] = Field([], description="Target ids.")
    version: list[Text] = Field([], description="Fingerprints or labels.")
    suite: list[Text] = Field([], description="Suite ids.")
    status: list[Status] = []
    outcome: list[Literal["passed", "not-passed", "unfinished"]] = []
    origin: list[Literal["upload", "api", "web", "command"]] = []
    since: date | None = Field(None, description="First day, UTC.")
    until: date | None = Field(None, description="Last day, UTC.")
    limit: int = Field(50, ge=1, le=200)
    cursor: Text = Field("", description="`nextCursor` of the page before.")


class CasesIn(Schema):
    status: list[CaseStatus] = Field([], max_length=8)
    scenario: Text = Field("", description="A scenario id, whole.")
    text: Text = Field("", description="Looked for in scenario ids, names and failing criteria.")
    limit: int = Field(50, ge=1, le=200)
    cursor: Text = Field("", description="`nextCursor` of the page before.")


@router.get(
    "/runs", response={200: schemas.RunsOut, **_REFUSALS}, url_name="list_runs", summary="List runs, newest first"
)
def list_runs(request: HttpRequest, given: Query[RunsIn]) -> HttpResponse:
    _refuse_unknown_parameters(request, RunsIn)
    after = Cursor.parse(given.cursor) if given.cursor else None
    if given.cursor and after is None:
        raise bad_cursor()
    team = cast(TeamRequest, request).team
    rows, following = run_records.list_run_records(team=team, query=_query(given), after=after, limit=given.limit)
    items = [schemas.run_out(request, row) for row in rows]
    return schemas.json_response(
        {"items": items, "nextCursor": following.text.replace("+00:00", "Z") if following else None}
    )


def _query(given: RunsIn) -> RunQuery:
    query = parse_run_query(given.q)
    terms = dict(query.terms)
    for name in ("target", "version", "suite", "status", "outcome", "origin"):
        terms[name] = (*terms.get(name, ()), *getattr(given, name))
    days = {"from": given.since, "to": given.until}
    terms |= {name: (day.isoformat(),) for name, day in days.items() if day is not None}
    if query.faults:
        raise Problem(422, "parameters_invalid", query.faults[0], [("query.q", fault) for fault in query.faults])
    if sum(map(len, terms.values())) > MOST_TERMS:
        raise Problem(422, "parameters_invalid", f"More than {MOST_TERMS} conditions.", [("query", "too many values")])
    return RunQuery({name: values for name, values in terms.items() if values}, query.words)


class ImportIn(Schema):
    """What results of the scenario harness do not say themselves; reports with schemaVersion 1 need none of it."""

    target: Text = Field("", description="What was evaluated.")
    fingerprint: Text = Field("", description="Its exact version.")
    suite: Text = Field("", description="Id of the suite that the results are of; `harness` if left out.")


_IMPORT_BODY = {
    "required": True,
    "description": (
        "A report (schemaVersion 1) as JSON, gzip or zstd: the body itself, or one file of a form. Or results of the "
        "scenario harness (rows one a line, or its report), for which `target` and `fingerprint` are needed; in a form "
        "they and `suite` may be fields, and the scenario file may come along as `scenarios`. Other fields are refused."
    ),
    "content": {
        "application/json": {"schema": {"type": "object"}},
        "application/gzip": {"schema": {"type": "string", "format": "binary"}},
        "application/zstd": {"schema": {"type": "string", "format": "binary"}},
        "multipart/form-data": {
            "schema": {
                "type": "object",
                "required": ["file"],
                "properties": {
                    "file": {"type": "string", "format": "binary"},
                    "scenarios": {"type": "string", "format": "binary"},
                    **{name: {"type": "string", "maxLength": LONGEST} for name in TOLD},
                },
            }
        },
    },
}
_IMPORT_ANSWERS: dict[Any, Any] = {
    200: schemas.ImportedOut,
    201: schemas.ImportedOut,
    **dict.fromkeys((400, 401, 403, 409, 411, 413, 415, 422), ProblemOut),
}


@router.post(
    "/runs/import",
    auth=needs("runner"),
    response=_IMPORT_ANSWERS,
    openapi_extra={"requestBody": _IMPORT_BODY},
    url_name="import_run",
    summary="Import a report",
)
def import_run(request: HttpRequest, given: Query[ImportIn]) -> HttpResponse:
    """Store a report once: 201 when it is new, 200 when it was there or a later snapshot of it; safe to repeat."""
    _refuse_unknown_parameters(request, ImportIn)
    asked = cast(TeamRequest, request)
    source, file_name = _uploaded(request)
    done = ingest_report(
        team=asked.team,
        source=source,
        origin=Run.Origin.API,
        created_by=asked.user,
        file_name=file_name,
        given=given_with(request, given.model_dump()),
    )
    body = {"id": str(done.run_pk), "runId": done.run_id, "outcome": done.outcome}
    body |= schemas.run_addresses(request, done.run_pk)
    response = schemas.json_response(body, 201 if done.outcome == "created" else 200)
    response["Location"] = body["api"]
    return response


def _uploaded(request: HttpRequest) -> tuple[BinaryIO, str]:
    """Return the body as it comes in, or the one file of a form."""
    if not is_form(request):
        if "chunked" in request.headers.get("Transfer-Encoding", "") and not request.headers.get("Content-Length"):
            raise Problem(411, "length_required", "Send the body with a Content-Length.")
        return cast(BinaryIO, request), ""
    files = [file for name in request.FILES if name != SCENARIOS for file in request.FILES.getlist(name)]
    if len(files) != 1:
        raise Problem(
            422, "one_file", "Send exactly one file in a form, as `file`.", [("body.file", "must be one file")]
        )
    return cast(BinaryIO, files[0]), files[0].name or ""


@router.get("/runs/{run}", response={200: schemas.RunOut, **_REFUSALS}, url_name="get_run", summary="Read a run")
def get_run(request: HttpRequest, run: Path[UUID]) -> HttpResponse:
    record = run_records.get_run_record(team=cast(TeamRequest, request).team, pk=run)
    if record is None:
        raise not_found("run")
    return schemas.json_response(schemas.run_out(request, record))


@router.get(
    "/runs/{run}/report",
    response={200: dict[str, Any], 409: ProblemOut, **_REFUSALS},
    url_name="get_report",
    summary="Export a run's report",
)
def get_report(request: HttpRequest, run: Path[UUID]) -> HttpResponseBase:
    """The report as it was imported, or as the run that is executed here has come to; 409 while there is none."""
    stored = run_records.get_run_to_export(team=cast(TeamRequest, request).team, pk=run)
    if stored is None:
        raise not_found("run")
    try:
        pieces = iter_report_json(stored)
    except NoReportError as error:
        raise Problem(409, "no_report", str(error)) from None
    return StreamingHttpResponse(pieces, content_type="application/json")


@router.get(
    "/runs/{run}/cases",
    response={200: schemas.CasesOut, **_REFUSALS},
    url_name="list_cases",
    summary="List cases of a run",
)
def list_cases(request: HttpRequest, run: Path[UUID], given: Query[CasesIn]) -> HttpResponse:
    """In the order of the report."""
    _refuse_unknown_parameters(request, CasesIn)
    stored = _run_of_cases(request, run)
    after = _place(given.cursor)
    query = run_records.CaseQuery(tuple(given.status), storable(given.scenario), storable(given.text))
    rows, following = run_records.list_case_records(stored, query, after=after, limit=given.limit)
    items = [schemas.case_out(request, run, row) for row in rows]
    return schemas.json_response({"items": items, "nextCursor": None if following is None else str(following)})


@router.get(
    "/runs/{run}/cases/{position}",
    response={200: schemas.WholeCaseOut, **_REFUSALS},
    url_name="get_case",
    summary="Read a case with its conversation",
)
def get_case(request: HttpRequest, run: Path[UUID], position: Path[Position]) -> HttpResponse:
    stored = _run_of_cases(request, run)
    record = run_records.get_case_record(stored, position)
    case = get_stored_case(stored.generation_id, position)
    if record is None or case is None:
        raise not_found("case")
    return schemas.json_response(schemas.case_out(request, run, record) | {"case": case.to_data()})


def _run_of_cases(request: HttpRequest, pk: UUID) -> Run:
    run = run_records.get_run_of_cases(team=cast(TeamRequest, request).team, pk=pk)
    if run is None:
        raise not_found("run")
    return run


def _place(cursor: str) -> int | None:
    if not cursor:
        return None
    if not (cursor.isascii() and cursor.isdecimal() and len(cursor) < 10):
        raise bad_cursor()
    return int(cursor)


def _refuse_unknown_parameters(request: HttpRequest, known: type[Schema]) -> None:
    """A filter with a misspelt name must not be a list without that filter."""
    unknown = sorted(set(request.GET) - set(known.model_fields))
    if unknown:
        faults = [(f"query.{name}", "is no parameter of this address") for name in unknown[:20]]
        raise Problem(422, "parameters_invalid", f"{faults[0][0]} {faults[0][1]}.", faults)
