"""Resume a run, or retry what failed in it: what would happen, and doing it."""

import uuid
from typing import Any, Literal, cast

from django.http import HttpRequest, HttpResponse
from ninja import Field, Path, Schema
from pydantic import ConfigDict

from reports.access import TeamRequest
from reports.api import schemas
from reports.api.auth import needs
from reports.api.executions import (
    answer_of,
    idempotency_key_of,
    is_admin_in_browser,
    problem_of,
    refuse_writes_by_token,
)
from reports.api.problems import Problem, ProblemOut, not_found
from reports.api.runs import router as runs_router
from reports.domain.continuation import Verb, sentences_of
from reports.domain.run_options import RequestRefused
from reports.services.continuing import CannotContinue, Prospect, continue_run, look_ahead
from reports.services.executions import IdempotencyConflict

# The router of the other operations on runs: one address is served by one router, whatever the method.
router = runs_router

_REFUSALS: dict[Any, Any] = {401: ProblemOut, 403: ProblemOut, 404: ProblemOut, 409: ProblemOut, 422: ProblemOut}


class ContinueIn(Schema):
    """Everything else is as the earlier run was asked for; writing outside is authorised anew each time."""

    model_config = ConfigDict(extra="forbid", strict=True)

    allowExternalWrites: bool = Field(False, description="Only for an admin who is signed in with a browser.")


class OutlookOut(Schema):
    """What would become of the cases, named by their places in the report, by the runner's own rules.

    `fresh` begin new conversations, `continued` go on after their last turn, `kept` stay as they are; `blocked` holds
    by code those that are blocked instead. `sentences` say the same.
    """

    verb: Literal["resume", "retry"]
    target: str
    fresh: list[int]
    continued: list[int]
    kept: int
    blocked: dict[str, list[int]]
    turns: int
    sentences: list[str]


def _answer_outlook(request: HttpRequest, run: uuid.UUID, verb: Verb) -> HttpResponse:
    try:
        ahead = look_ahead(team=cast(TeamRequest, request).team, run_pk=run, verb=verb)
    except CannotContinue as refused:
        raise _problem(refused) from refused
    return schemas.json_response(_outlook_out(ahead))


def _answer_start(request: HttpRequest, run: uuid.UUID, verb: Verb, given: ContinueIn | None) -> HttpResponse:
    asked = cast(TeamRequest, request)
    is_allowed = given is not None and given.allowExternalWrites
    refuse_writes_by_token(asked, is_allowed)
    key = idempotency_key_of(asked)
    try:
        requested = continue_run(
            team=asked.team,
            user=asked.user,
            origin="api",
            run_pk=run,
            verb=verb,
            allow_external_writes=is_allowed,
            may_authorise_writes=is_admin_in_browser(asked),
            idempotency_key=key,
        )
    except CannotContinue as refused:
        raise _problem(refused) from refused
    except RequestRefused as refused:
        raise problem_of(refused) from refused
    except IdempotencyConflict:
        raise Problem(409, "idempotency_key_reused", "This Idempotency-Key was used for another request.") from None
    return answer_of(asked, requested)


@router.get(
    "/runs/{run}/resume",
    response={200: OutlookOut, **_REFUSALS},
    url_name="foresee_resume",
    summary="Say what resuming a run would do",
)
def foresee_resume(request: HttpRequest, run: Path[uuid.UUID]) -> HttpResponse:
    """409 with the reason where it cannot be resumed here; nothing is started."""
    return _answer_outlook(request, run, Verb.RESUME)


@router.get(
    "/runs/{run}/retry",
    response={200: OutlookOut, **_REFUSALS},
    url_name="foresee_retry",
    summary="Say what retrying the failed cases of a run would do",
)
def foresee_retry(request: HttpRequest, run: Path[uuid.UUID]) -> HttpResponse:
    """409 with the reason where nothing can be retried here; nothing is started."""
    return _answer_outlook(request, run, Verb.RETRY)


@router.post(
    "/runs/{run}/resume",
    auth=needs("runner"),
    response={201: schemas.RunOut, 200: schemas.RunOut, **_REFUSALS},
    url_name="resume_run",
    summary="Resume a run",
    description="A new run, linked by `resumedFrom`, goes on with what never ended. `Idempotency-Key` as for a run.",
)
def resume_run(request: HttpRequest, run: Path[uuid.UUID], given: ContinueIn | None = None) -> HttpResponse:
    return _answer_start(request, run, Verb.RESUME, given)


@router.post(
    "/runs/{run}/retry",
    auth=needs("runner"),
    response={201: schemas.RunOut, 200: schemas.RunOut, **_REFUSALS},
    url_name="retry_run",
    summary="Retry the failed cases of a run",
    description=(
        "A new run, linked by `resumedFrom`, holds failed, errored, blocked and cancelled conversations anew. Rates go "
        "on counting the first decided attempt. `Idempotency-Key` as for a run."
    ),
)
def retry_run(request: HttpRequest, run: Path[uuid.UUID], given: ContinueIn | None = None) -> HttpResponse:
    return _answer_start(request, run, Verb.RETRY, given)


def _outlook_out(ahead: Prospect) -> dict[str, Any]:
    outlook = ahead.outlook
    return {
        "verb": str(ahead.verb),
        "target": ahead.entry.name,
        "fresh": list(outlook.fresh),
        "continued": list(outlook.continued),
        "kept": len(outlook.kept),
        "blocked": {code: list(places) for code, places in outlook.blocked.items()},
        "turns": outlook.turns,
        "sentences": list(sentences_of(outlook)),
    }


def _problem(refused: CannotContinue) -> Problem:
    if refused.code == "not_found":
        return not_found("run")
    return Problem(409, refused.code, refused.sentence)
