"""What may be asked of a target of kind ``harness``, and what its worker needs before it begins."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from evalrunner.canonical import digest
from evalrunner.errors import OPTIONS_INVALID, SUITE_INVALID
from evalrunner.harness.errors import HarnessSetupError
from evalrunner.harness.runtime.local import LocalRuntime, RuntimeOptions
from evalrunner.models import EvaluationSuite

from reports.domain.harness.options import USUAL, faults_of_options, faults_of_rows
from reports.domain.harness.suites import ScenariosUnusable, scenarios_of
from reports.domain.run_options import Refusal, RequestRefused, RunOptions
from reports.runnable import TargetEntry, TargetUnusable
from reports.runnable.harness import HarnessMaker
from reports.services.harness_runs import HarnessReach
from reports.services.run_suites import offered_suite
from reports.services.workspaces import remove_abandoned_folders

NOT_OF_HARNESS = "Only targets of kind harness have profiles, policies and tags to leave out."
NOT_SPLIT = "Rows of a scenario file run one after the other in one workspace: their run is not split into shards."
NOT_ALLOWED = "TARGET_DOES_NOT_ALLOW"


def check_harness(entry: TargetEntry, suite: EvaluationSuite, options: RunOptions) -> list[Refusal]:
    """Return what speaks against running a suite with a target, as far as the scenario harness is concerned."""
    if not isinstance(entry.maker, HarnessMaker):
        return [Refusal("harness", OPTIONS_INVALID, NOT_OF_HARNESS)] if options.harness != USUAL else []
    try:
        allowed = entry.maker.allowed()
    except TargetUnusable as error:
        return [Refusal("target", "TARGET_UNUSABLE", f"It cannot be run: {error}.")]
    try:
        scenarios = scenarios_of(suite)
    except ScenariosUnusable as error:
        return [Refusal("suite", SUITE_INVALID, f"This target runs scenario files. {error}")]
    refused = [Refusal("shards", NOT_ALLOWED, NOT_SPLIT)] if options.shards > 1 else []
    refused += [Refusal(field, NOT_ALLOWED, words) for field, words in faults_of_options(options.harness, allowed)]
    return refused + [Refusal("suite", NOT_ALLOWED, words) for words in faults_of_rows(scenarios.values(), allowed)]


def make_harness_reach(
    entry: TargetEntry, maker: HarnessMaker, suite: EvaluationSuite, *, was_offered: bool
) -> HarnessReach:
    """Read what the rows of a run need. Raises TargetUnusable; everything is checked anew, files may have changed."""
    remove_abandoned_folders()
    try:
        scenarios = scenarios_of(suite)
    except ScenariosUnusable as error:
        raise TargetUnusable(str(error)) from error
    allowed = maker.allowed()
    faults = faults_of_rows(scenarios.values(), allowed)
    if faults:
        raise TargetUnusable(faults[0])
    _try_runtime(maker)
    may_run_commands = maker.post_run_commands and was_offered and _is_on_disk(entry, suite)
    return HarnessReach(maker, allowed, scenarios, may_run_commands)


def _try_runtime(maker: HarnessMaker) -> None:
    """Make the runtime once to see that options and configuration go together. Raises TargetUnusable."""
    options = RuntimeOptions(workspace=Path("/"), enable_mcp=maker.mcp, enable_hooks=maker.hooks, tools=maker.all_tools)
    try:
        LocalRuntime(maker.read_config(), options)
    except HarnessSetupError as error:
        raise TargetUnusable(str(error)) from error


def _is_on_disk(entry: TargetEntry, suite: EvaluationSuite) -> bool:
    """Tell whether a suite is one of the operator's files as they are now.

    A stored suite may have come from anywhere. Commands are run only from a file that the operator himself has put
    there, and only as it stands there at this moment.
    """
    wanted = digest(suite.to_data())
    return any(wanted == found for found in _digests(entry))


def _digests(entry: TargetEntry) -> Sequence[str]:
    digests = []
    for place in range(len(entry.suites)):
        try:
            digests.append(digest(offered_suite(entry, place).to_data()))
        except RequestRefused:  # a file that is no scenario file (any more) vouches for nothing
            continue
    return digests
