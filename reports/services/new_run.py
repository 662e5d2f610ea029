"""Starting a run from the form: the draft becomes a request."""

from __future__ import annotations

from dataclasses import replace

from evalrunner.errors import OPTIONS_INVALID

from reports.domain.harness.options import USUAL
from reports.domain.run_draft import RunDraft
from reports.domain.run_options import Refusal, RequestRefused, RunOptions, check_options
from reports.models import Run, Team, User
from reports.runnable import TargetEntry
from reports.selectors.new_run import get_run_of_choice
from reports.services.executions import FollowUp, Requested, RunRequest, find_entry, limits_of, request_run
from reports.services.run_suites import find_suite, is_offered, store_suite


def choose_upload(*, team: Team, draft: RunDraft, content: bytes | None) -> RunDraft:
    """Store a suite that was brought along and choose it: a browser cannot send the same file again by itself.

    Raises RequestRefused.
    """
    if content is None:
        return draft
    return replace(draft, suite=f"revision:{store_suite(team=team, content=content).pk}")


def follow_up_of(team: Team, draft: RunDraft) -> FollowUp | None:
    """Return by what outcome a draft was chosen; None where it was not. Raises RequestRefused."""
    if not draft.is_follow_up:
        return None
    run = get_run_of_choice(team, draft.follows)
    if run is None or draft.follow_up not in Run.FollowUp.values:
        sentence = "The run by whose outcome the scenarios were chosen is not there any more."
        raise RequestRefused([Refusal("scenarios", OPTIONS_INVALID, sentence)])
    return FollowUp(run, draft.follow_up)


def options_for(entry: TargetEntry, draft: RunDraft) -> tuple[RunOptions, list[Refusal]]:
    """Return the options of a draft and what cannot be read of them; only scenario files have those of the harness."""
    return (draft if entry.kind == "harness" else replace(draft, harness=USUAL)).options()


def start_run(*, team: Team, user: User, draft: RunDraft, is_admin: bool) -> Requested:
    """Ask for the run that a draft describes; the same form sent twice is one run.

    Raises RequestRefused with everything that speaks against it, and IdempotencyConflict where the form has started
    another run before.
    """
    entry = find_entry(draft.target)
    options, refusals = options_for(entry, draft)
    try:
        suite = find_suite(team, entry, draft.suite)
    except RequestRefused as refused:
        refusals += check_options(options, limits_of(entry), allows_external_writes=is_admin)
        raise RequestRefused([*refusals, *refused.refusals]) from refused
    request = RunRequest(
        entry.name,
        draft.fingerprint,
        suite,
        options,
        follow_up=follow_up_of(team, draft),
        is_offered=is_offered(draft.suite),
    )
    if refusals:
        raise RequestRefused(refusals)
    return request_run(
        team=team,
        user=user,
        origin="web",
        request=request,
        may_authorise_writes=is_admin,
        idempotency_key=f"form:{draft.key}" if draft.key else "",
    )
