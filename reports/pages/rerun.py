"""The form for a new run, filled in with an earlier one."""

from __future__ import annotations

import uuid
from dataclasses import replace

from evalrunner.canonical import digest

from reports.domain.run_draft import RunDraft
from reports.domain.run_options import RequestRefused, RunOptions
from reports.forms.new_run import draft_from_request
from reports.models import Run, Team
from reports.runnable import TargetEntry, TargetsFileError, TargetUnusable, runnable_targets
from reports.selectors.new_run import EarlierRun, get_earlier_run, get_revision, get_run_of_choice, scenarios_of_cases
from reports.selectors.run import CaseFilters
from reports.services.run_suites import offered_suite


def rerun_draft(team: Team, pk: uuid.UUID) -> tuple[RunDraft, str] | None:
    """Return the form filled in with a run of the team and a sentence about it; None if there is no such run.

    A run that was executed here gives its whole request. Of an imported one the suite, the version and the number of
    repetitions are known; where its target is not registered, the sentence says so.
    """
    earlier = get_earlier_run(team, pk)
    if earlier is None:
        return None
    entry = _entry_of(earlier)
    request = earlier.request or RunOptions(repetitions=earlier.repetitions).to_data()
    draft = draft_from_request(entry.name if entry else "", _fingerprint(entry, earlier), earlier.revision_pk, request)
    if entry is not None and request.get("is_offered"):
        draft = _with_offered_file(team, entry, draft, earlier.revision_pk)
    return draft, _note(entry, earlier)


def narrowed_draft(team: Team, draft: RunDraft, pk: uuid.UUID, only: str, filters: CaseFilters) -> tuple[RunDraft, str]:
    """Choose the scenarios of an earlier run that an address asks for, and say so in a sentence.

    ``only`` is "failures", "broken" (the scenarios stand in the address), or "filter" (that of the cases table). What
    was chosen by its outcome becomes a follow-up. A run chooses whole scenarios, with all their variants.
    """
    run = get_run_of_choice(team, str(pk))
    if run is None or only not in Run.FollowUp.values:
        return draft, "It starts a fresh run." if draft.scenarios or draft.tags else _EVERYTHING
    if only == Run.FollowUp.BROKEN or draft.scenarios:
        return _as_follow_up(draft, pk, only), _FOLLOW_UP_NOTE
    wanted = CaseFilters(status="failures") if only == Run.FollowUp.FAILURES else filters
    scenarios = scenarios_of_cases(run, wanted)
    if not scenarios:
        return draft, "No case of that run fits what was asked for; everything is chosen."
    chosen = replace(draft, scenarios=scenarios)
    if only == Run.FollowUp.FILTER and not is_by_outcome(filters):
        return chosen, "The scenarios of the filter are chosen; it asks for no outcome, so the run joins its version."
    return _as_follow_up(chosen, pk, only), _FOLLOW_UP_NOTE


_EVERYTHING = "It starts a fresh run of everything."
_FOLLOW_UP_NOTE = (
    "Its scenarios are chosen by their outcome, so the run becomes a follow-up: marked as such, shown beside its "
    "version, never counted in it and never given to the gate."
)


def is_by_outcome(filters: CaseFilters) -> bool:
    """Tell whether a filter looks at how cases ended; its text is looked for in failing criteria too."""
    return bool(filters.status or filters.signature or filters.text)


def _as_follow_up(draft: RunDraft, pk: uuid.UUID, only: str) -> RunDraft:
    return replace(draft, follow_up=only, follows=str(pk))


def _with_offered_file(team: Team, entry: TargetEntry, draft: RunDraft, revision_pk: int) -> RunDraft:
    """Choose the target's own file again where it is what ran before: only from there may rows run commands."""
    revision = get_revision(team, revision_pk)
    for place in range(len(entry.suites)):
        try:
            is_same = revision is not None and digest(offered_suite(entry, place).to_data()) == revision.digest
        except RequestRefused:
            continue
        if is_same:
            return replace(draft, suite=f"offered:{place}")
    return draft


def _entry_of(earlier: EarlierRun) -> TargetEntry | None:
    try:
        entries = runnable_targets()
    except TargetsFileError:
        return None
    by_name = (entry for entry in entries if entry.name == earlier.target_name)
    by_id = (entry for entry in entries if entry.target_id == earlier.target_id)
    return next(by_name, None) or next(by_id, None)


def _fingerprint(entry: TargetEntry | None, earlier: EarlierRun) -> str:
    if entry is None:
        return ""
    try:
        source = entry.fingerprint_source()
    except TargetUnusable:
        return ""
    is_kept = source.kind == "asked" or earlier.fingerprint in source.values
    return earlier.fingerprint if is_kept else ""


def _note(entry: TargetEntry | None, earlier: EarlierRun) -> str:
    if entry is None:
        return (
            f"The target {earlier.target_id} is not registered on this site, so this run cannot be repeated here as it "
            "was. Its suite is chosen below; choose a target that can hold it."
        )
    if earlier.request is None:
        return (
            f"Filled in from an imported run of {earlier.target_id}: its suite and repetitions are known, "
            "how it was executed is not."
        )
    return f"Filled in with the request of an earlier run of {earlier.target_id}."
