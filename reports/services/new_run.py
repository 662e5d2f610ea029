"""Starting a run from the form: the draft becomes a request."""

from __future__ import annotations

from dataclasses import replace

from reports.domain.run_draft import RunDraft
from reports.domain.run_options import RequestRefused, check_options
from reports.models import Team, User
from reports.services.executions import Requested, RunRequest, find_entry, limits_of, request_run
from reports.services.run_suites import find_suite, store_suite


def choose_upload(*, team: Team, draft: RunDraft, content: bytes | None) -> RunDraft:
    """Store a suite that was brought along and choose it: a browser cannot send the same file again by itself.

    Raises RequestRefused.
    """
    if content is None:
        return draft
    return replace(draft, suite=f"revision:{store_suite(team=team, content=content).pk}")


def start_run(*, team: Team, user: User, draft: RunDraft, is_admin: bool) -> Requested:
    """Ask for the run that a draft describes. Raises RequestRefused with everything that speaks against it."""
    options, refusals = draft.options()
    entry = find_entry(draft.target)
    try:
        suite = find_suite(team, entry, draft.suite)
    except RequestRefused as refused:
        refusals += check_options(options, limits_of(entry), allows_external_writes=is_admin)
        raise RequestRefused([*refusals, *refused.refusals]) from refused
    request = RunRequest(entry.name, draft.fingerprint, suite, options)
    if refusals:
        raise RequestRefused(refusals)
    return request_run(
        team=team,
        user=user,
        origin="web",
        request=request,
        may_authorise_writes=is_admin,
        idempotency_key=draft.idempotency_key(),
    )
