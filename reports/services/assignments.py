"""What an execution needs before it begins: the suite, the target and what reaches it, the report that it continues."""

from __future__ import annotations

import uuid
from dataclasses import dataclass

from evalrunner import parse_evaluation_report, parse_evaluation_suite
from evalrunner.errors import RESUME_INVALID, EvaluationError
from evalrunner.jsontext import parse_json
from evalrunner.models import EvaluationReport, EvaluationSuite

from reports.collector import collector_paused
from reports.domain.run_options import RunOptions
from reports.models import Execution
from reports.payloads import unpack
from reports.runnable import TargetEntry, TargetsFileError, TargetUnusable, find_target
from reports.runnable.entries import RunnableAdapter
from reports.runnable.harness import HarnessMaker
from reports.services.export import NoReportError, iter_report_json
from reports.services.harness_requests import make_harness_reach
from reports.services.harness_runs import HarnessReach
from reports.text import restored

TARGET_UNUSABLE = "TARGET_UNUSABLE"
TARGET_CHANGED = "TARGET_FINGERPRINT_CHANGED"


@dataclass(frozen=True)
class Assignment:
    """All that an execution needs, read before it begins. ``previous`` is the report that it resumes or retries."""

    suite: EvaluationSuite
    target: dict[str, str]
    reach: RunnableAdapter | HarnessReach
    options: RunOptions
    minutes: int | None
    previous: EvaluationReport | None = None
    retries: bool = False


class Unassignable(Exception):
    """The run cannot begin here; ``code`` is stable, the text a sentence."""

    def __init__(self, code: str, sentence: str) -> None:
        self.code = code
        super().__init__(sentence)


def assign(run_pk: uuid.UUID, *, has_begun: bool = False) -> Assignment:
    """Read what was asked for and make what reaches the target. Raises Unassignable.

    A run that has begun has its first checkpoint: nobody needs the report that it continues any more.
    """
    executions = Execution.objects.select_related("run__version__target", "run__revision", "continues__revision")
    execution = executions.get(pk=run_pk)
    version = execution.run.version
    fingerprint = restored(version.fingerprint)
    try:
        entry = find_target(execution.target_name)
        if entry is None:
            raise TargetUnusable(f"no target {execution.target_name!r} is registered here")
        suite = parse_evaluation_suite(unpack(execution.run.revision.definition))
        reach = _reach(entry, fingerprint, suite, execution)
        _refuse_another_version(entry, fingerprint)
    except (TargetUnusable, TargetsFileError) as error:
        raise Unassignable(TARGET_UNUSABLE, str(error)) from error
    return Assignment(
        suite=suite,
        target={"id": restored(version.target.target_id), "fingerprint": fingerprint},
        reach=reach,
        options=RunOptions.from_data(execution.request),
        minutes=entry.limits.minutes,
        previous=None if has_begun else _previous_report(execution),
        retries=execution.verb == Execution.Verb.RETRY,
    )


def _reach(
    entry: TargetEntry, fingerprint: str, suite: EvaluationSuite, execution: Execution
) -> RunnableAdapter | HarnessReach:
    if isinstance(entry.maker, HarnessMaker):
        was_offered = execution.request.get("is_offered") is True
        return make_harness_reach(entry, entry.maker, suite, was_offered=was_offered)
    return entry.make(fingerprint)


def _previous_report(execution: Execution) -> EvaluationReport | None:
    """Read the report that is to go on. Raises Unassignable where it is gone, or cannot be read."""
    if execution.verb == Execution.Verb.RUN:
        return None
    if execution.continues is None:
        raise Unassignable(RESUME_INVALID, "the run that it goes on from was deleted")
    try:
        with collector_paused():
            return parse_evaluation_report(parse_json(b"".join(iter_report_json(execution.continues))))
    except NoReportError as error:
        raise Unassignable(RESUME_INVALID, str(error)) from error
    except EvaluationError as error:
        raise Unassignable(error.code, f"the report of the earlier run cannot be read: {error}") from error


def _refuse_another_version(entry: TargetEntry, fingerprint: str) -> None:
    """A report must not name a version that is not there any more: found anew where it can be found."""
    if entry.fingerprint_source().kind in ("command", "env"):
        found = entry.find_fingerprint("")
        if found != fingerprint:
            sentence = f"the target is now at {found!r}, the run was asked for {fingerprint!r}"
            raise Unassignable(TARGET_CHANGED, sentence)
