"""Baselines, notes and accepted definitions: what the pages of triage can do."""

import uuid
from datetime import date, datetime
from typing import Annotated, Any, cast

from django.http import HttpRequest, HttpResponse
from ninja import Field, Query, Router, Schema
from pydantic import ConfigDict

from reports.access import TeamRequest
from reports.api import compare as comparing
from reports.api import schemas
from reports.api.auth import needs
from reports.api.problems import Problem, ProblemOut, not_found
from reports.selectors.baselines import BaselineRow, list_baselines
from reports.selectors.note_list import NoteRow, find_note, list_notes
from reports.selectors.note_scope import Source, source_of
from reports.services.baselines import BaselineRefused, clear_baseline, set_baseline
from reports.services.definitions import accept_definitions
from reports.services.note_checks import NoteContent, NoteRefused
from reports.services.notes import change_note, close_notes, note_cluster, note_signature, note_variant
from reports.text import restored

router = Router(tags=["triage"])
_REFUSED: dict[Any, Any] = dict.fromkeys((400, 401, 403, 404, 409, 422), ProblemOut)
_UNKNOWN = {"run_unknown", "target_unknown", "variant_unknown", "signature_unknown", "note_unknown"}
_IN_THE_WAY = {"note_exists", "note_changed"}
_TRIAGER = needs("triager")
Key = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
Pk = Annotated[int, Field(ge=1, le=2**31 - 1)]


class PlaceIn(Schema):
    target: Pk
    suite: Pk


class BaselineIn(Schema):
    """``force`` takes a run that is not completed; ``isDefault`` makes it what every run is measured against."""

    model_config = ConfigDict(extra="forbid")

    run: uuid.UUID
    name: Annotated[str, Field(min_length=1, max_length=100)]
    reason: Annotated[str, Field(max_length=2_000)] = ""
    isDefault: bool = False
    force: bool = False


class BaselineOut(Schema):
    id: int
    name: str
    isDefault: bool
    run: str
    fingerprint: str
    setBy: str
    setAt: datetime
    reason: str


class ClearIn(Schema):
    reason: Annotated[str, Field(max_length=2_000)] = ""


class NoteChangeIn(Schema):
    """What a note says. One on a scenario variant covers, beside what it has covered, how the variant fails in ``run``
    or ``version`` (or that it is not decided there); with ``everyFailure`` it covers whatever becomes of it.

    Versions are primary keys.
    """

    model_config = ConfigDict(extra="forbid")

    run: uuid.UUID | None = None
    version: Pk | None = None
    everyFailure: bool = False
    state: str
    text: Annotated[str, Field(max_length=10_000)] = ""
    link: Annotated[str, Field(max_length=2_000)] = ""
    owner: Annotated[str, Field(max_length=200)] = ""
    expiresOn: date | None = None
    firstVersion: Pk | None = None
    lastVersion: Pk | None = None

    def content(self) -> NoteContent:
        return NoteContent(
            state=self.state,
            text=self.text,
            link=self.link,
            owner=self.owner,
            expires_on=self.expiresOn,
            first_version=self.firstVersion,
            last_version=self.lastVersion,
            every_failure=self.everyFailure,
        )


class NoteIn(NoteChangeIn):
    """On one of ``variant`` and ``signature`` (keys) of a ``target`` (primary key), or on each variant of a cluster.

    ``run`` or ``version`` is where it was found: a note on a scenario variant covers how that fails there (or that it
    is not decided there), and without either it covers no failure unless it says ``everyFailure``. With ``signature``
    and ``eachVariant`` they name the cluster; scenario variants that have a note keep it.
    """

    target: Pk
    variant: Key | None = None
    signature: Key | None = None
    eachVariant: bool = False


class NotesIn(Schema):
    closed: bool = False
    before: Pk | None = Field(None, description="`nextCursor` of the page before.")


class AcceptIn(comparing.SidesIn):
    """``scenarios`` are keys of scenarios that both sides define differently."""

    scenarios: Annotated[list[Key], Field(max_length=10_000)]
    reason: Annotated[str, Field(max_length=2_000)] = ""


@router.get("/baselines", auth=needs("viewer"), response={200: list[BaselineOut], **_REFUSED}, url_name="baselines")
def baselines(request: HttpRequest, given: Query[PlaceIn]) -> HttpResponse:
    """The named baselines of a target and suite (primary keys), the default first."""
    rows = list_baselines(team=_team(request).team, target=given.target, suite=given.suite)
    return schemas.json_response([_baseline_out(row) for row in rows])


@router.post("/baselines", auth=_TRIAGER, response={200: dict[str, Any], **_REFUSED}, url_name="set-baseline")
def pin(request: HttpRequest, given: BaselineIn) -> HttpResponse:
    """Point a named baseline of the run's target and suite to the run; the same again can give it another reason."""
    asked = _team(request)
    try:
        baseline = set_baseline(
            team=asked.team,
            user=asked.user,
            run_pk=given.run,
            name=given.name,
            reason=given.reason,
            is_default=given.isDefault,
            is_forced=given.force,
        )
    except BaselineRefused as refused:
        raise _problem(refused.code, refused.sentence) from refused
    made = {"id": baseline.pk, "name": restored(baseline.name), "isDefault": baseline.is_default}
    return schemas.json_response(made | {"run": str(baseline.run_id), "reason": restored(baseline.reason)})


@router.delete("/baselines/{int:pk}", auth=_TRIAGER, response={204: None, **_REFUSED}, url_name="unset-baseline")
def unpin(request: HttpRequest, pk: int, given: Query[ClearIn]) -> HttpResponse:
    """Take a named baseline away; one that is gone already is no error."""
    asked = _team(request)
    clear_baseline(team=asked.team, user=asked.user, pk=pk, reason=given.reason)
    return HttpResponse(status=204)


@router.get("/notes", auth=needs("viewer"), response={200: dict[str, Any], **_REFUSED}, url_name="notes")
def notes(request: HttpRequest, given: Query[NotesIn]) -> HttpResponse:
    """Notes, the newest first, with what each matches in the newest completed runs of its target."""
    rows, has_more = list_notes(team=_team(request).team, is_closed=given.closed, before=given.before)
    cursor = rows[-1].pk if has_more else None
    return schemas.json_response({"notes": [_note_out(row) for row in rows], "nextCursor": cursor})


@router.post("/notes", auth=_TRIAGER, response={200: dict[str, Any], **_REFUSED}, url_name="write-note")
def write_note(request: HttpRequest, given: NoteIn) -> HttpResponse:
    """Write a note. An open one on the same thing that says something else stays (409, `note_exists`): change that one.

    The answer lists the ``notes`` that were written and, for a cluster, those ``kept`` as they are.
    """
    try:
        written, kept = _write(_team(request), given)
    except NoteRefused as refused:
        raise _problem(refused.code, refused.sentence) from refused
    return schemas.json_response({"notes": written, "kept": kept})


def _write(asked: TeamRequest, given: NoteIn) -> tuple[list[int], list[int]]:
    if (given.variant is None) == (given.signature is None):
        sentence = "Name a variant or a signature, one of both."
        raise Problem(
            422, "parameters_invalid", sentence, [(f"body.{name}", sentence) for name in ("variant", "signature")]
        )
    source = _source(asked, given, given.target)
    who: dict[str, Any] = {"team": asked.team, "user": asked.user, "content": given.content()}
    if given.variant is not None:
        return [note_variant(**who, target_pk=given.target, variant=given.variant, source=source, is_new=True).pk], []
    assert given.signature is not None  # one of both is there
    if given.eachVariant and source is not None:
        noted = note_cluster(**who, source=source, signature=given.signature)
        return [note.pk for note in noted.written], [each.note for each in noted.kept if each.note]
    return [note_signature(**who, target_pk=given.target, signature=given.signature, is_new=True).pk], []


def _source(asked: TeamRequest, given: NoteChangeIn, target: int) -> Source | None:
    if given.run is None and given.version is None:
        return None
    source = source_of(team=asked.team, run=given.run, version=given.version)
    if source is None or source.target != target:
        raise not_found("run or version of that target")
    return source


@router.put("/notes/{int:pk}", auth=_TRIAGER, response={200: dict[str, Any], **_REFUSED}, url_name="change-note")
def rewrite_note(request: HttpRequest, pk: int, given: NoteChangeIn) -> HttpResponse:
    """Replace what an open note says."""
    asked = _team(request)
    held = find_note(team=asked.team, pk=pk)
    source = _source(asked, given, held.target) if held else None
    try:
        change_note(team=asked.team, user=asked.user, pk=pk, content=given.content(), source=source)
    except NoteRefused as refused:
        raise _problem(refused.code, refused.sentence) from refused
    row = find_note(team=asked.team, pk=pk)
    assert row is not None  # it was changed just now
    return schemas.json_response(_note_out(row))


@router.post("/notes/{int:pk}/close", auth=_TRIAGER, response={204: None, **_REFUSED}, url_name="close-note")
def close_note(request: HttpRequest, pk: int) -> HttpResponse:
    """Close a note; closing it again is no error."""
    asked = _team(request)
    if find_note(team=asked.team, pk=pk) is None:
        raise not_found("note")
    close_notes(team=asked.team, user=asked.user, pks=[pk])
    return HttpResponse(status=204)


@router.post("/definitions/accept", auth=_TRIAGER, response={200: dict[str, Any], **_REFUSED}, url_name="accept")
def accept(request: HttpRequest, given: AcceptIn) -> HttpResponse:
    """Accept changed definitions between the suite revisions of two sides."""
    asked = _team(request)
    stored = comparing.judged_sides(asked.team, given).stored
    number = accept_definitions(
        team=asked.team,
        user=asked.user,
        revisions=(stored.baseline.revision.pk, stored.candidate.revision.pk),
        scenario_keys=given.scenarios,
        reason=given.reason,
    )
    return schemas.json_response({"accepted": number})


# -------------------------------------------------------------------------------------------------------------- parts


def _team(request: HttpRequest) -> TeamRequest:
    return cast(TeamRequest, request)


def _problem(code: str, sentence: str) -> Problem:
    status = 404 if code in _UNKNOWN else 409 if code.startswith("run_") or code in _IN_THE_WAY else 422
    return Problem(status, code, sentence)


def _baseline_out(row: BaselineRow) -> dict[str, Any]:
    return {
        "id": row.pk,
        "name": restored(row.name),
        "isDefault": row.is_default,
        "run": str(row.run),
        "fingerprint": restored(row.fingerprint),
        "setBy": row.set_by,
        "setAt": row.set_at.isoformat(),
        "reason": restored(row.reason),
    }


def _note_out(row: NoteRow) -> dict[str, Any]:
    return {
        "id": row.pk,
        "target": row.target,
        "variant": row.variant_key or None,
        "signature": row.signature_key or None,
        "about": restored(row.about),
        "state": row.state,
        "owner": row.owner or None,
        "text": restored(row.text),
        "link": restored(row.link),
        "expiresOn": row.expires_on.isoformat() if row.expires_on else None,
        "firstVersion": row.first_version,
        "lastVersion": row.last_version,
        "updatedAt": row.updated_at.isoformat(),
        "closedAt": row.closed_at.isoformat() if row.closed_at else None,
        "covers": {
            "failures": [{"signature": key, "words": restored(words)} for key, words in row.known.items()],
            "undecided": row.knows_undecided,
            "everyFailure": row.every_failure,
        },
        "matches": {"known": row.matches.known, "otherwise": row.matches.otherwise},
        "canBeClosed": row.is_done,
    }
