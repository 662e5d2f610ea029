"""Asking for runs.

A request becomes a row first; a worker is told after the commit (``services.messages``) and claims it
(``services.leases``). Rows say everything: what was asked, by whom, and what became of it.
"""

from __future__ import annotations

import hashlib
import uuid
from dataclasses import dataclass
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone
from evalrunner.errors import OPTIONS_INVALID
from evalrunner.models import EvaluationSuite
from evalrunner.suites import parse_evaluation_suite

from reports.domain.continuation import Verb
from reports.domain.evaluators import refuse_missing
from reports.domain.run_options import (
    OptionLimits,
    Refusal,
    RequestRefused,
    RunOptions,
    RunPlan,
    check_options,
    plan_run,
)
from reports.models import Execution, Run, SuiteRevision, Team, User
from reports.payloads import unpack
from reports.runnable import TargetEntry, TargetsFileError, TargetUnusable, find_target
from reports.runnable.entries import LONGEST_FINGERPRINT
from reports.services.harness_requests import check_harness
from reports.services.interning import intern_revision, intern_version
from reports.services.messages import EXECUTE_RUN, tell_after_commit
from reports.text import storable

TARGET_UNKNOWN = "TARGET_UNKNOWN"
TARGET_UNUSABLE = "TARGET_UNUSABLE"

__all__ = [
    "Continuation",
    "FollowUp",
    "IdempotencyConflict",
    "RequestRefused",
    "Requested",
    "RunRequest",
    "request_run",
]


@dataclass(frozen=True)
class Continuation:
    """The run that a request resumes or retries, and how many of its cases and turns are ahead."""

    run: Run
    verb: Verb
    cases: int
    turns: int


@dataclass(frozen=True)
class FollowUp:
    """By what outcome of which run the scenarios of a request were chosen."""

    run: Run
    chosen_by: str


@dataclass(frozen=True)
class RunRequest:
    """What somebody asks for. ``fingerprint`` "" leaves the version to the target; ``suite`` is stored or brought.

    ``follow_up`` is None where the choice was made before any outcome was known. ``is_offered``: the suite is a file
    that the target itself names.
    """

    target_name: str
    fingerprint: str
    suite: SuiteRevision | EvaluationSuite
    options: RunOptions
    continues: Continuation | None = None
    follow_up: FollowUp | None = None
    is_offered: bool = False


@dataclass(frozen=True)
class Requested:
    """The run of a request; ``is_new`` is False where the same request had been made before."""

    run_pk: uuid.UUID
    is_new: bool


class IdempotencyConflict(Exception):
    """The key of this request has been used for another one, which asked for the run ``run_pk``."""

    def __init__(self, run_pk: uuid.UUID) -> None:
        super().__init__("the key has been used for another request")
        self.run_pk = run_pk


# --------------------------------------------------------------------------------------------------------------- asking


def request_run(
    *,
    team: Team,
    user: User,
    origin: str,
    request: RunRequest,
    may_authorise_writes: bool = False,
    idempotency_key: str = "",
) -> Requested:
    """Queue a run. A request with the key of an earlier one of this user, other than "", gives the earlier one's run.

    Raises RequestRefused with everything that speaks against it, and IdempotencyConflict.
    """
    key = _stored_key(team, user, idempotency_key)
    earlier = _earlier(key, request)
    if earlier is not None:
        return earlier
    entry = find_entry(request.target_name)
    fingerprint = _find_fingerprint(entry, request.fingerprint)
    plan = check_request(entry, request, may_authorise_writes=may_authorise_writes)
    revision = request.suite if isinstance(request.suite, SuiteRevision) else intern_revision(team, request.suite)
    version = intern_version(team, target_id=entry.target_id, fingerprint=fingerprint)
    run = Run(
        team=team,
        version=version,
        revision=revision,
        status="queued",
        origin=origin,
        format="harness" if entry.kind == "harness" else "report",
        ordered_at=timezone.now(),
        created_by=user,
        **_links(request),
    )
    continues = request.continues
    execution = Execution(
        run=run,
        target_name=entry.name,
        request=request.options.to_data() | _planned(request, plan),
        idempotency_key=key,
        verb=continues.verb if continues else Execution.Verb.RUN,
        continues=continues.run if continues else None,
    )
    try:
        with transaction.atomic():
            run.save(force_insert=True)
            execution.save(force_insert=True)
            tell_after_commit(EXECUTE_RUN, run.pk)
    except IntegrityError:
        earlier = _earlier(key, request)
        if earlier is None:
            raise
        return earlier
    return Requested(run.pk, is_new=True)


def _links(request: RunRequest) -> dict[str, Any]:
    """Return the columns by which a run belongs to an earlier one; what continues a follow-up is one."""
    if request.continues is not None:
        earlier = request.continues.run
        return {
            "resumed_from": earlier.run_id,
            "resumed_key": earlier.run_key,
            "follow_up": earlier.follow_up,
            "follows_id": earlier.follows_id,
        }
    if request.follow_up is not None:
        return {"follow_up": request.follow_up.chosen_by, "follows": request.follow_up.run}
    return {}


def _planned(request: RunRequest, plan: RunPlan) -> dict[str, Any]:
    ahead = request.continues
    return {
        "planned_cases": ahead.cases if ahead else plan.case_count,
        "planned_turns": ahead.turns if ahead else plan.turn_count,
        "asked": storable(request.fingerprint),
        **({"is_offered": True} if request.is_offered else {}),
    }


def check_request(entry: TargetEntry, request: RunRequest, *, may_authorise_writes: bool) -> RunPlan:
    """Return what a request makes; RequestRefused lists everything that speaks against it."""
    refusals = check_options(
        request.options,
        limits_of(entry),
        allows_external_writes=entry.allows_external_writes and may_authorise_writes,
    )
    suite = _suite_of(request)
    refusals += check_harness(entry, suite, request.options)
    try:
        plan = plan_run(suite, request.options)
    except RequestRefused as refused:
        known = {refusal.field for refusal in refusals}
        refusals += [refusal for refusal in refused.refusals if refusal.field not in known]
    else:
        evaluators = entry.known_evaluators()
        refusals += refuse_missing(suite, plan.scenario_ids, evaluators) if evaluators is not None else []
    if refusals:
        raise RequestRefused(refusals)
    if plan.case_count > entry.limits.cases:
        sentence = f"This target takes at most {entry.limits.cases:,} cases a run; this makes {plan.case_count:,}."
        raise RequestRefused([Refusal("repetitions", "TARGET_LIMIT_EXCEEDED", sentence)])
    return plan


def limits_of(entry: TargetEntry) -> OptionLimits:
    limits = entry.limits
    return OptionLimits(
        limits.repetitions, limits.concurrency, limits.shards, limits.lanes, timeout_ms=limits.timeout_ms
    )


def _suite_of(request: RunRequest) -> EvaluationSuite:
    if isinstance(request.suite, EvaluationSuite):
        return request.suite
    return parse_evaluation_suite(unpack(request.suite.definition))


def find_entry(name: str) -> TargetEntry:
    """Return a registered target. Raises RequestRefused."""
    try:
        entry = find_target(name)
    except TargetsFileError as error:
        raise RequestRefused([Refusal("target", TARGET_UNUSABLE, str(error))]) from error
    if entry is None:
        raise RequestRefused([Refusal("target", TARGET_UNKNOWN, f"No target {name!r} is registered on this site.")])
    return entry


def _find_fingerprint(entry: TargetEntry, asked: str) -> str:
    try:
        found = entry.find_fingerprint(asked)
    except TargetUnusable as error:
        raise RequestRefused([Refusal("fingerprint", TARGET_UNUSABLE, _sentence(error))]) from error
    if not found:
        sentence = "Say which exact version of the target is evaluated, for instance its commit."
        raise RequestRefused([Refusal("fingerprint", OPTIONS_INVALID, sentence)])
    if len(found) > LONGEST_FINGERPRINT:
        sentence = f"A fingerprint has at most {LONGEST_FINGERPRINT} characters."
        raise RequestRefused([Refusal("fingerprint", OPTIONS_INVALID, sentence)])
    return found


def _sentence(error: Exception) -> str:
    text = str(error)
    return f"{text[:1].upper()}{text[1:]}."


# ---------------------------------------------------------------------------------------------------------- idempotency


def _stored_key(team: Team, user: User, key: str) -> str:
    """Keys belong to who asks: what one member chose says nothing about the requests of another."""
    whole = f"{team.pk}\n{user.pk}\n{key}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(whole).hexdigest() if key else ""


def _earlier(key: str, request: RunRequest) -> Requested | None:
    """Return the run of an earlier request with this key; IdempotencyConflict if it asked for something else."""
    if not key:
        return None
    execution = Execution.objects.select_related("run__revision").filter(idempotency_key=key).first()
    if execution is None:
        return None
    if not _is_same(execution, request):
        raise IdempotencyConflict(execution.run_id)
    return Requested(execution.run_id, is_new=False)


def _is_same(execution: Execution, request: RunRequest) -> bool:
    revision = execution.run.revision
    if isinstance(request.suite, SuiteRevision):
        is_same_suite = request.suite.pk == revision.pk
    else:
        is_same_suite = request.suite == parse_evaluation_suite(unpack(revision.definition))
    return (
        is_same_suite
        and execution.target_name == request.target_name
        and execution.request.get("asked") == storable(request.fingerprint)
        and execution.request.get("is_offered", False) == request.is_offered
        and RunOptions.from_data(execution.request) == request.options
        and _has_same_links(execution, request)
    )


def _has_same_links(execution: Execution, request: RunRequest) -> bool:
    continues, follow_up = request.continues, request.follow_up
    if continues is not None:
        return (execution.continues_id, execution.verb) == (continues.run.pk, continues.verb)
    followed = (follow_up.run.pk, follow_up.chosen_by) if follow_up else (None, "")
    return execution.continues_id is None and (execution.run.follows_id, execution.run.follow_up) == followed
