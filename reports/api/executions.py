"""Runs that this site executes: start one, cancel one."""

import uuid
from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any, Literal, cast

from django.http import HttpRequest, HttpResponse
from evalrunner.models import EvaluationSuite
from ninja import Field, Path, Query, Schema
from pydantic import ConfigDict

from reports.access import TeamRequest, role_includes
from reports.api import schemas
from reports.api.auth import needs
from reports.api.problems import Problem, ProblemOut, not_found
from reports.api.runs import router as runs_router
from reports.api.texts import Text
from reports.domain.harness.options import USUAL, HarnessOptions
from reports.domain.run_options import RequestRefused, RunOptions
from reports.models import SuiteRevision
from reports.selectors import run_records
from reports.selectors.live import EventRow, ExecutionRow, execution_row, list_events
from reports.selectors.run import get_run
from reports.services.cancelling import NotCancellable, request_cancel
from reports.services.executions import (
    FollowUp,
    IdempotencyConflict,
    Requested,
    RunRequest,
    find_entry,
    request_run,
)
from reports.services.run_suites import MOST_BYTES, find_suite, is_offered, read_scenario_file, suite_of_value
from reports.text import restored

# The router of the other operations on runs: one address is served by one router, whatever the method.
router = runs_router

_MOST_PICKED = 10_000
_DEFAULTS = RunOptions()
_LONGEST_KEY = 200
_REFUSALS: dict[Any, Any] = {401: ProblemOut, 403: ProblemOut, 404: ProblemOut, 409: ProblemOut, 422: ProblemOut}
Number = Annotated[int, Field(ge=-(2**53), le=2**53)]


class FollowUpIn(Schema):
    """By what outcome of which run the scenarios were chosen: such a run joins no version and no gate."""

    model_config = ConfigDict(extra="forbid")

    run: uuid.UUID
    chosenBy: Literal["failures", "broken", "filter"]


class HarnessIn(Schema):
    """Profile and policies of rows that name none, among those that the target allows; "" is its default."""

    model_config = ConfigDict(extra="forbid", strict=True)

    profile: Text = ""
    approvalPolicy: Text = ""
    sandboxPolicy: Text = ""
    excludeTags: list[Text] = Field([], max_length=_MOST_PICKED, description="Leaves out rows with any of these.")
    failFast: bool = Field(False, description="Stop after the first row that does not pass.")


class RunIn(Schema):
    """What is to run. Numbers out of range are refused with the code of the runner.

    `suite` names one that is stored ("revision:12") or offered by the target ("offered:0", the default), or is the
    definition itself.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    target: Text = Field(description="The name of a registered target.")
    fingerprint: Text = Field("", description="The version, where the target leaves the choice.")
    suite: Annotated[str, Field(max_length=500)] | dict[str, Any] = "offered:0"
    scenarioFile: str | None = Field(
        None, max_length=MOST_BYTES, description="The text of a scenario file, instead of a suite."
    )
    scenarios: list[Text] | None = Field(None, max_length=_MOST_PICKED, description="Scenario ids; all if left out.")
    tags: list[Text] | None = Field(None, max_length=_MOST_PICKED, description="Any of these; all if left out.")
    repetitions: Number = _DEFAULTS.repetitions
    concurrency: Number = Field(_DEFAULTS.concurrency, description="Conversations at once, in each shard.")
    shards: Number = Field(_DEFAULTS.shards, description="Over how many workers the cases are spread, at most.")
    maxCases: Number = _DEFAULTS.max_cases
    maxFailures: Number = _DEFAULTS.max_failures
    timeoutMs: Number = _DEFAULTS.timeout_ms
    allowExternalWrites: bool = Field(False, description="Only for an admin who is signed in with a browser.")
    followUp: FollowUpIn | None = Field(None, description="Where an outcome chose the scenarios; say so honestly.")
    harness: HarnessIn | None = Field(None, description="For targets of kind harness alone.")
    earlyAlarm: bool = Field(True, description="Cancel when the first five cases end in the same error code.")


class EventOut(Schema):
    sequence: int
    type: str
    position: int | None
    stepId: str | None
    at: str


class ExecutionOut(Schema):
    """How this site executes a run. `lastEvent` counts the events so far; `request` are the options of the runner."""

    target: str
    request: dict[str, Any]
    plannedCases: int
    plannedTurns: int
    claimedAt: str | None
    heartbeatAt: str | None
    cancelRequestedAt: str | None
    cancelRequestedBy: str | None
    stopReason: str | None
    errorCode: str | None
    errorPaths: list[str]
    lastEvent: int
    events: list[EventOut]


class EventsIn(Schema):
    after: int = Field(0, ge=0, le=2**31 - 1, description="Only events behind this sequence number.")
    limit: int = Field(0, ge=0, le=1000, description="So many of the newest events, newest last.")


class CancelOut(Schema):
    """`cancelled`: nothing was under way and it is over; `requested`: its workers end the turns in flight;
    `interrupted`: nothing was under way, and a part of it had broken off before.
    """

    outcome: Literal["cancelled", "requested", "interrupted"]


@router.post(
    "/runs",
    auth=needs("runner"),
    response={201: schemas.RunOut, 200: schemas.RunOut, **_REFUSALS},
    summary="Start a run",
    description=(
        "The header `Idempotency-Key`, up to 200 characters, makes a repeated request one run: 200 instead of 201 for "
        "what was there, 409 (`idempotency_key_reused`) for a key that came with another request. A key belongs to who "
        "asks in this team: the user, for a token its maker. Other members may use the same one for runs of their own."
    ),
)
def start_run(request: HttpRequest, given: RunIn) -> HttpResponse:
    asked = cast(TeamRequest, request)
    is_admin = is_admin_in_browser(asked)
    refuse_writes_by_token(asked, given.allowExternalWrites)
    key = idempotency_key_of(asked)
    try:
        requested = request_run(
            team=asked.team,
            user=asked.user,
            origin="api",
            request=_run_request(asked, given),
            may_authorise_writes=is_admin,
            idempotency_key=key,
        )
    except RequestRefused as refused:
        raise problem_of(
            refused, suite_member="scenarioFile" if given.scenarioFile is not None else "suite"
        ) from refused
    except IdempotencyConflict:
        raise Problem(409, "idempotency_key_reused", "This Idempotency-Key was used for another request.") from None
    return answer_of(asked, requested)


@router.get(
    "/runs/{run}/execution",
    response={200: ExecutionOut, **_REFUSALS},
    url_name="get_execution",
    summary="Read how a run is executed",
)
def get_execution(request: HttpRequest, run: Path[uuid.UUID], given: Query[EventsIn]) -> HttpResponse:
    """The request, its state and its events; 404 for a run that was imported."""
    stored = get_run(team=cast(TeamRequest, request).team, pk=run)
    execution = execution_row(stored) if stored is not None else None
    if stored is None or execution is None:
        raise not_found("executed run")
    events = list_events(stored, after=given.after, limit=given.limit) if given.limit else ()
    return schemas.json_response(_execution_out(execution) | {"events": [_event_out(event) for event in events]})


def _execution_out(execution: ExecutionRow) -> dict[str, Any]:
    options = asdict(execution.options) | {"harness": _harness_out(execution.options.harness)}
    return {
        "target": execution.target_name,
        "request": {_NAMES.get(name, name): value for name, value in options.items()},
        "plannedCases": execution.planned_cases,
        "plannedTurns": execution.planned_turns,
        "claimedAt": _moment(execution.claimed_at),
        "heartbeatAt": _moment(execution.heartbeat_at),
        "cancelRequestedAt": _moment(execution.cancel_requested_at),
        "cancelRequestedBy": execution.cancel_requested_by or None,
        "stopReason": restored(execution.stop_reason) or None,
        "errorCode": restored(execution.error_code) or None,
        "errorPaths": [restored(path) for path in execution.error_paths],
        "lastEvent": execution.last_sequence,
    }


def _harness_out(options: HarnessOptions) -> dict[str, Any] | None:
    """Return what was asked of the scenario harness; None where nothing was."""
    if options == USUAL:
        return None
    return {
        "profile": options.profile,
        "approvalPolicy": options.approval_policy,
        "sandboxPolicy": options.sandbox_policy,
        "excludeTags": list(options.exclude_tags),
        "failFast": options.fail_fast,
    }


def _event_out(event: EventRow) -> dict[str, Any]:
    return {
        "sequence": event.sequence,
        "type": event.type,
        "position": event.position,
        "stepId": restored(event.step_id) or None,
        "at": event.at.isoformat(),
    }


def _moment(at: datetime | None) -> str | None:
    return at.isoformat() if at is not None else None


@router.post(
    "/runs/{run}/cancel",
    auth=needs("runner"),
    response={202: CancelOut, **_REFUSALS},
    url_name="cancel_run",
    summary="Cancel a run",
)
def cancel_run(request: HttpRequest, run: Path[uuid.UUID]) -> HttpResponse:
    """At once while nobody works on it; else its workers end the turns in flight, which leaves them cancelled. Safe to
    repeat.
    """
    asked = cast(TeamRequest, request)
    if get_run(team=asked.team, pk=run) is None:
        raise not_found("run")
    try:
        outcome = request_cancel(team=asked.team, run_pk=run, user=asked.user)
    except NotCancellable as refused:
        raise Problem(409, "not_cancellable", str(refused)) from refused
    return schemas.json_response({"outcome": outcome}, status=202)


def _run_request(asked: TeamRequest, given: RunIn) -> RunRequest:
    entry = find_entry(given.target)
    is_named = isinstance(given.suite, str)
    options = RunOptions(
        scenario_ids=_texts(given.scenarios),
        tags=_texts(given.tags),
        repetitions=given.repetitions,
        concurrency=given.concurrency,
        shards=given.shards,
        max_cases=given.maxCases,
        max_failures=given.maxFailures,
        timeout_ms=given.timeoutMs,
        allow_external_writes=given.allowExternalWrites,
        early_alarm=given.earlyAlarm,
        harness=_harness_options(given.harness),
    )
    if given.scenarioFile is not None:
        suite: SuiteRevision | EvaluationSuite = read_scenario_file(given.scenarioFile.encode("utf-8", "surrogatepass"))
    else:
        suite = find_suite(asked.team, entry, str(given.suite)) if is_named else suite_of_value(given.suite)
    return RunRequest(
        entry.name,
        given.fingerprint,
        suite,
        options,
        follow_up=_follow_up(asked, given.followUp),
        is_offered=is_named and given.scenarioFile is None and is_offered(str(given.suite)),
    )


def _harness_options(given: HarnessIn | None) -> HarnessOptions:
    if given is None:
        return USUAL
    return HarnessOptions(
        given.profile, given.approvalPolicy, given.sandboxPolicy, tuple(given.excludeTags), given.failFast
    )


def _follow_up(asked: TeamRequest, given: FollowUpIn | None) -> FollowUp | None:
    if given is None:
        return None
    run = get_run(team=asked.team, pk=given.run)
    if run is None:
        raise not_found("run to follow up")
    return FollowUp(run, given.chosenBy)


def _texts(given: list[str] | None) -> tuple[str, ...] | None:
    return None if given is None else tuple(given)


def idempotency_key_of(asked: TeamRequest) -> str:
    """Return the key of a request, "" without one; 422 for one that is too long."""
    key = asked.headers.get("Idempotency-Key", "")
    if len(key) > _LONGEST_KEY:
        sentence = f"An Idempotency-Key has at most {_LONGEST_KEY} characters."
        raise Problem(422, "parameters_invalid", sentence, [("header.Idempotency-Key", sentence)])
    return f"api:{key}" if key else ""


def refuse_writes_by_token(asked: TeamRequest, is_asked: bool) -> None:
    """Let only an admin who is signed in with a browser authorise external writes."""
    if is_asked and not is_admin_in_browser(asked):
        sentence = "External writes are authorised by an admin who is signed in with a browser, never by a token."
        raise Problem(403, "admin_needed", sentence)


def is_admin_in_browser(asked: TeamRequest) -> bool:
    is_token = asked.headers.get("Authorization", "").lower().startswith("bearer ")
    return not is_token and role_includes(asked.membership.role, "admin")


_NAMES = {
    "scenario_ids": "scenarios",
    "early_alarm": "earlyAlarm",
    "max_cases": "maxCases",
    "max_failures": "maxFailures",
    "timeout_ms": "timeoutMs",
    "allow_external_writes": "allowExternalWrites",
    "profile": "harness.profile",
    "approval_policy": "harness.approvalPolicy",
    "sandbox_policy": "harness.sandboxPolicy",
    "exclude_tags": "harness.excludeTags",
}


def answer_of(asked: TeamRequest, requested: Requested) -> HttpResponse:
    """Answer with the run of a request: 201 for a new one, 200 where the same request had been made before."""
    record = run_records.get_run_record(team=asked.team, pk=requested.run_pk)
    assert record is not None
    return schemas.json_response(schemas.run_out(asked, record), status=201 if requested.is_new else 200)


def problem_of(refused: RequestRefused, *, suite_member: str = "suite") -> Problem:
    """The first refusal gives the code; each names its member, or the places in the suite, wherever that came in."""
    first = refused.refusals[0]
    names = {**_NAMES, "suite": suite_member, "": "body"}
    faults = []
    for refusal in refused.refusals:
        member = names.get(refusal.field, refusal.field)
        places = [f"{member}.{path}" if path else member for path in refusal.paths] or [member]
        faults += [(place, refusal.sentence) for place in places]
    return Problem(422, first.code, first.sentence, faults)
