"""Resuming a run and retrying what failed in it: a new run, linked to the earlier one, by the runner's rules.

What speaks against it is said before anything is queued; what would happen to which cases can be asked beforehand.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass, replace

from django.utils import timezone
from evalrunner.cases import expand_cases, run_fingerprint
from evalrunner.codes import EVALUATOR_NOT_FOUND, RESUME_INCOMPATIBLE
from evalrunner.errors import EvaluationError
from evalrunner.models import EvaluationSuite, ExpandedCase
from evalrunner.runner.resume import ResumePolicy

from reports.domain.continuation import Outlook, Verb, concludes, foretell, nothing_words
from reports.domain.evaluators import missing_words
from reports.domain.run_options import RunOptions
from reports.domain.snapshots import AWAITED_S
from reports.models import Run, Team, User
from reports.runnable import TargetEntry, TargetsFileError, TargetUnusable, runnable_targets
from reports.selectors.continuation import EarlierRun, get_run_to_continue, inferred_options, light_cases
from reports.selectors.harness import is_of_harness
from reports.services.executions import (
    TARGET_UNKNOWN,
    TARGET_UNUSABLE,
    Continuation,
    Requested,
    RunRequest,
    request_run,
)
from reports.services.run_suites import parsed_suite

NOTHING_TO_DO = "NOTHING_TO_CONTINUE"
STILL_GOING = "RUN_IS_UNDER_WAY"
OF_HARNESS = "RUN_IS_OF_HARNESS"
NO_REPORT = "RUN_HAS_NO_REPORT"
TARGET_CHANGED = "TARGET_FINGERPRINT_CHANGED"
CASES_LAID_OUT = 2_000  # whenever a page is shown


class CannotContinue(Exception):
    """The run cannot be continued here; ``code`` is stable, the text a sentence."""

    def __init__(self, code: str, sentence: str) -> None:
        self.code, self.sentence = code, sentence
        super().__init__(sentence)


@dataclass(frozen=True)
class Prospect:
    """What continuing a run would do. ``external_allowed``: its target may be allowed to write outside."""

    earlier: EarlierRun
    verb: Verb
    entry: TargetEntry
    options: RunOptions
    outlook: Outlook
    external_allowed: bool


def look_ahead(*, team: Team, run_pk: uuid.UUID, verb: Verb, allow_external_writes: bool = False) -> Prospect:
    """Say what would become of each case. Raises CannotContinue, with the code of the runner where it is its rule."""
    earlier = get_run_to_continue(team=team, pk=run_pk)
    if earlier is None:
        raise CannotContinue("not_found", "There is no such run in your team.")
    _refuse_unfit(earlier)
    entry = _entry_of(earlier)
    _refuse_another_version(entry, earlier)
    suite = parsed_suite(earlier.run.revision)
    options = _options(earlier, suite, allow_external_writes=allow_external_writes)
    cases = _expand(suite, options)
    resumes = _check_fit(entry, earlier, suite, cases)
    policy = ResumePolicy(verb is Verb.RETRY, resumes)
    outlook = foretell(zip(light_cases(earlier.run), cases, strict=True), policy, may_write=allow_external_writes)
    outlook = replace(outlook, concludes=concludes(verb, earlier.run.status))
    return Prospect(earlier, verb, entry, options, outlook, entry.allows_external_writes)


def find_hindrance(earlier: EarlierRun) -> CannotContinue | None:
    """Return why neither verb can be used on a run, as far as that is told at once; None where nothing is known.

    For a page that offers the verbs: no program is asked for the version, and whether a report would go on as it was
    made is looked up only for imported ones that are small. ``look_ahead`` tells the rest.
    """
    try:
        _refuse_unfit(earlier)
        entry = _entry_of(earlier)
        if entry.source is None or entry.source.kind != "command":
            _refuse_another_version(entry, earlier)
        if not earlier.is_executed and earlier.run.total <= CASES_LAID_OUT:
            suite = parsed_suite(earlier.run.revision)
            options = _options(earlier, suite, allow_external_writes=False)
            _check_fit(entry, earlier, suite, _expand(suite, options))
    except CannotContinue as refused:
        return refused
    return None


def continue_run(
    *,
    team: Team,
    user: User,
    origin: str,
    run_pk: uuid.UUID,
    verb: Verb,
    allow_external_writes: bool = False,
    may_authorise_writes: bool = False,
    idempotency_key: str = "",
) -> Requested:
    """Queue the run that resumes or retries another. A request with the key of an earlier one gives that one's run.

    Raises CannotContinue, RequestRefused with what else speaks against it, and IdempotencyConflict.
    """
    ahead = look_ahead(team=team, run_pk=run_pk, verb=verb, allow_external_writes=allow_external_writes)
    if ahead.outlook.is_idle:
        raise CannotContinue(NOTHING_TO_DO, nothing_words(verb, ahead.outlook))
    request = RunRequest(
        target_name=ahead.entry.name,
        fingerprint=ahead.earlier.fingerprint,
        suite=ahead.earlier.run.revision,
        options=ahead.options,
        continues=Continuation(ahead.earlier.run, verb, ahead.outlook.work, ahead.outlook.turns),
    )
    return request_run(
        team=team,
        user=user,
        origin=origin,
        request=request,
        may_authorise_writes=may_authorise_writes,
        idempotency_key=idempotency_key,
    )


# ------------------------------------------------------------------------------------------------------------- refusals


def _refuse_unfit(earlier: EarlierRun) -> None:
    run = earlier.run
    if is_of_harness(run):
        sentence = "Rows of the scenario harness share a workspace: rerun them instead of resuming or retrying the run."
        raise CannotContinue(OF_HARNESS, sentence)
    if earlier.is_executed and run.status in ("queued", "running"):
        raise CannotContinue(STILL_GOING, f"The run is {run.status}: wait for its end, or cancel it first.")
    if run.status == "running" and not earlier.is_executed and _is_awaited(run):
        sentence = (
            "The run is still published from elsewhere: it can go on here once its last report has come, or none has "
            "for half an hour."
        )
        raise CannotContinue(STILL_GOING, sentence)
    if not run.run_id or run.generation_id is None:
        sentence = f"The run is {run.status} and has no report to go on from; start a fresh run instead."
        raise CannotContinue(NO_REPORT, sentence)


def _is_awaited(run: Run) -> bool:
    return (timezone.now() - run.updated_at).total_seconds() < AWAITED_S


def _entry_of(earlier: EarlierRun) -> TargetEntry:
    """Return the registered target that the run was executed with, for an imported one the first with its id."""
    try:
        entries = runnable_targets()
    except TargetsFileError as error:
        raise CannotContinue(TARGET_UNUSABLE, f"The targets file of this site cannot be used: {error}.") from error
    by_name = [entry for entry in entries if entry.name == earlier.target_name]
    fitting = [entry for entry in by_name or entries if entry.target_id == earlier.target_id]
    if not fitting:
        sentence = f"The target {earlier.target_id} is not registered on this site, so the run cannot go on here."
        raise CannotContinue(TARGET_UNKNOWN, sentence)
    return fitting[0]


def _refuse_another_version(entry: TargetEntry, earlier: EarlierRun) -> None:
    """Only the version that the report names may go on with it."""
    try:
        found = entry.find_fingerprint(earlier.fingerprint)
    except TargetUnusable as error:
        raise CannotContinue(TARGET_CHANGED, f"The version of the run cannot be run: {error}.") from error
    if found != earlier.fingerprint:
        sentence = f"The target is now at {found}, the run was of {earlier.fingerprint}: start a fresh run instead."
        raise CannotContinue(TARGET_CHANGED, sentence)


def _options(earlier: EarlierRun, suite: EvaluationSuite, *, allow_external_writes: bool) -> RunOptions:
    """Return the request of the earlier run; writing outside is never taken over, it is authorised anew."""
    options = earlier.options or inferred_options(earlier.run, [scenario.id for scenario in suite.scenarios])
    return replace(options, allow_external_writes=allow_external_writes)


def _expand(suite: EvaluationSuite, options: RunOptions) -> tuple[ExpandedCase, ...]:
    try:
        return expand_cases(
            suite,
            scenario_ids=options.scenario_ids,
            tags=options.tags,
            repetitions=options.repetitions,
            max_cases=options.max_cases,
        )
    except EvaluationError as error:
        raise CannotContinue(
            RESUME_INCOMPATIBLE, f"Its suite does not make the cases of the report: {error}."
        ) from error


def _check_fit(
    entry: TargetEntry, earlier: EarlierRun, suite: EvaluationSuite, cases: tuple[ExpandedCase, ...]
) -> bool:
    """Refuse a report that was made otherwise than it would go on; return whether the adapter resumes conversations."""
    if len(cases) != earlier.run.total:
        sentence = f"The report has {earlier.run.total:,} cases, its suite makes {len(cases):,} here: it cannot go on."
        raise CannotContinue(RESUME_INCOMPATIBLE, sentence)
    try:
        reach = entry.make(earlier.fingerprint)
    except TargetUnusable as error:
        raise CannotContinue(TARGET_UNUSABLE, f"The target cannot be run: {error}.") from error
    if words := missing_words(suite, reach.evaluators, {case.scenario.id for case in cases}):
        raise CannotContinue(EVALUATOR_NOT_FOUND, f"The run cannot go on here: its suite {words}.")
    adapter = reach.adapter
    target = {"id": entry.target_id, "fingerprint": earlier.fingerprint}
    ids = [case.id for case in cases]
    if run_fingerprint(suite, ids, target, adapter.id, adapter.version) != earlier.compatibility:
        raise CannotContinue(RESUME_INCOMPATIBLE, _incompatible_words(adapter.id, adapter.version))
    return getattr(adapter, "supports_resume", False) is True


def _incompatible_words(adapter_id: str, adapter_version: str) -> str:
    return (
        "The run was executed otherwise than it would go on here: with another adapter or adapter version, or another "
        f"selection of cases. Here it would be {adapter_id} {adapter_version}. Start a fresh run instead."
    )
