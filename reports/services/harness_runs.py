"""Running scenario files: the harness runs the rows, each becomes a case, checkpoints go out as those of other runs do.

What the harness guarantees holds here too: rows run one after the other, in one workspace, each in a session of its
own. The run ends early after a row that did not pass if that was asked for, after a number of failures, or when it is
cancelled; rows that were not reached stay pending, and the row that was under way when it was cancelled is cancelled.
"""

from __future__ import annotations

import asyncio
import contextlib
import uuid
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from evalrunner.cases import expand_cases, run_fingerprint
from evalrunner.codes import OBSERVER_FAILED
from evalrunner.errors import EvaluationError
from evalrunner.events import EvaluationCheckpoint, EventType, RunEvent
from evalrunner.harness.policies import ApprovalPolicy, parse_approval_policy, parse_sandbox_policy
from evalrunner.harness.rows import RowData
from evalrunner.harness.run import RunOptions as HarnessRunOptions
from evalrunner.harness.run import run_scenarios
from evalrunner.harness.runtime.local import LocalRuntime, RuntimeOptions
from evalrunner.harness.scenarios import Scenario
from evalrunner.models import CaseStatus, EvaluationCase, EvaluationSuite, EvaluationTarget, ExpandedCase, RunStatus
from evalrunner.reports import parse_evaluation_case
from evalrunner.runner.conclusion import now_text
from evalrunner.runner.journal import Journal, ReportHead

from reports.domain.harness.cases import case_of_row
from reports.domain.harness.options import Allowed, policies_of
from reports.domain.run_options import RunOptions, without_tags
from reports.runnable.harness import HarnessMaker
from reports.services.workspaces import RunFolder, run_folder

ADAPTER = ("scenario-harness", "1")

OnCheckpoint = Callable[[EvaluationCheckpoint], Awaitable[None]]
OnEvent = Callable[[RunEvent], Awaitable[None]]


@dataclass(frozen=True)
class HarnessReach:
    """How the rows of a run are reached, read before it begins.

    ``may_run_commands``: the rows come from a file that the operator's target names, and it allows commands.
    """

    maker: HarnessMaker
    allowed: Allowed
    scenarios: Mapping[str, Scenario]
    may_run_commands: bool


async def run_harness(
    *,
    run_pk: uuid.UUID,
    suite: EvaluationSuite,
    target: Mapping[str, str],
    reach: HarnessReach,
    options: RunOptions,
    cancel: asyncio.Event,
    on_checkpoint: OnCheckpoint,
    on_event: OnEvent,
) -> None:
    """Run the chosen rows and tell of each step. EvaluationError for options, and when an observer failed."""
    chosen = expand_cases(
        suite,
        scenario_ids=options.scenario_ids,
        tags=options.tags,
        repetitions=options.repetitions,
        max_cases=options.max_cases,
    )
    cases = without_tags(chosen, options.harness.exclude_tags)
    teller = _Teller(_head(suite, target, cases), cases, on_checkpoint, on_event)
    await teller.tell(EventType.RUN_STARTED)
    with run_folder(run_pk, reach.maker.workspace) as folder:
        await _Rows(teller, cases, reach, options, folder).run(cancel)
    teller.conclude(_final_status(teller, is_cancelled=cancel.is_set()))
    await teller.tell(EventType.RUN_COMPLETED)


def _head(suite: EvaluationSuite, target: Mapping[str, str], cases: Sequence[ExpandedCase]) -> ReportHead:
    fingerprint = run_fingerprint(suite, [case.id for case in cases], target, *ADAPTER)
    version = EvaluationTarget(target["id"], target["fingerprint"])
    return ReportHead(str(uuid.uuid4()), suite, fingerprint, version, now_text(), None)


def _final_status(teller: _Teller, *, is_cancelled: bool) -> RunStatus:
    if is_cancelled:
        return RunStatus.CANCELLED
    return RunStatus.LIMITED if teller.journal.summarise().pending else RunStatus.COMPLETED


class _Teller:
    """Records each step of a run and tells of it, one at a time and in order."""

    def __init__(
        self, head: ReportHead, cases: Sequence[ExpandedCase], on_checkpoint: OnCheckpoint, on_event: OnEvent
    ) -> None:
        self.journal = Journal(head, [_pending(head.run_id, case) for case in cases])
        self._on_checkpoint, self._on_event = on_checkpoint, on_event
        self._sequence = 0

    def conclude(self, status: RunStatus) -> None:
        self.journal.conclude(status, now_text(), ())

    async def tell(self, type: EventType, index: int | None = None, case: EvaluationCase | None = None) -> None:
        """Record the new state of a case and wait until everybody knows it."""
        if index is not None and case is not None:
            self.journal.record(index, case)
        self._sequence += 1
        event = RunEvent(self._sequence, type, self.journal.head.run_id, case.id if case is not None else None, index)
        try:
            await self._on_checkpoint(self.journal.snapshot(event))
            await self._on_event(event)
        except Exception as error:  # isolation point, as in the runner: whoever stores may fail in many ways
            raise EvaluationError(OBSERVER_FAILED) from error


class _Rows:
    """The rows of a run on their way through the harness; told of by the harness itself."""

    def __init__(
        self,
        teller: _Teller,
        cases: Sequence[ExpandedCase],
        reach: HarnessReach,
        options: RunOptions,
        folder: RunFolder,
    ) -> None:
        self._teller, self._cases, self._reach, self._options = teller, cases, reach, options
        self._failures = 0
        self._telling: asyncio.Task[None] | None = None
        self._cancel = asyncio.Event()
        environment = reach.maker.child_environment(home=folder.home, temporary=folder.temporary)
        self._environment, self._workspace = environment, folder.workspace.resolve()

    async def run(self, cancel: asyncio.Event) -> None:
        """Run until all is done or ``cancel`` is set."""
        self._cancel = cancel
        work = asyncio.create_task(run_scenarios(self._scenarios(), self._runtime(), self._run_options(), self))
        watch = asyncio.create_task(cancel.wait())
        try:
            await asyncio.wait({work, watch}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            watch.cancel()
            work.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await work
            await self._settle()
        await self._cancel_open_row()

    def _scenarios(self) -> Iterator[Scenario]:
        """Give the rows until there were enough failures; the harness takes the next one when a row has ended."""
        for case in self._cases:
            if self._failures >= self._options.max_failures or self._cancel.is_set():
                return
            yield self._reach.scenarios[case.scenario.id]

    def _runtime(self) -> LocalRuntime:
        maker = self._reach.maker
        options = RuntimeOptions(
            workspace=self._workspace,
            approvals=maker.approvals,
            enable_mcp=maker.mcp,
            enable_hooks=maker.hooks,
            tools=maker.all_tools,
            environment=self._environment,
        )
        return LocalRuntime(maker.read_config(), options)

    def _run_options(self) -> HarnessRunOptions:
        asked, allowed = self._options.harness, self._reach.allowed
        approval, sandbox = policies_of(asked, allowed)
        return HarnessRunOptions(
            workspace=self._workspace,
            profile=asked.profile or self._reach.maker.default_profile(allowed),
            approval_policy=_approval(approval),
            sandbox_policy=parse_sandbox_policy(sandbox),
            include_trace=self._reach.maker.trace,
            scenario_timeout_ms=self._options.timeout_ms,
            allow_post_run_commands=self._reach.may_run_commands,
            fail_fast=asked.fail_fast,
            command_environment=self._environment,
        )

    # -------------------------------------------------------------------------------------------- told by the harness

    async def row_started(self, index: int, scenario: Scenario) -> None:
        running = replace(self._teller.journal.cases[index], status=CaseStatus.RUNNING)
        await self._tell(EventType.CASE_STARTED, index, running)

    async def row_finished(self, index: int, row: RowData) -> None:
        self._failures += not row["passed"]
        await self._tell(EventType.CASE_COMPLETED, index, self._case(index, row))

    async def _tell(self, type: EventType, index: int, case: EvaluationCase) -> None:
        """Tell to the end, whatever becomes of the harness meanwhile."""
        self._telling = asyncio.create_task(self._teller.tell(type, index, case))
        await asyncio.shield(self._telling)

    async def _settle(self) -> None:
        if self._telling is not None and not self._telling.done():
            await self._telling

    async def _cancel_open_row(self) -> None:
        for index, case in enumerate(self._teller.journal.cases):
            if case.status == CaseStatus.RUNNING:
                await self._teller.tell(EventType.CASE_COMPLETED, index, replace(case, status=CaseStatus.CANCELLED))

    def _case(self, index: int, row: RowData) -> EvaluationCase:
        """Make the case of a row; a trace beyond the bounds of a report is left out."""
        try:
            return self._made(index, row)
        except EvaluationError:
            return self._made(index, {name: value for name, value in row.items() if name != "trace"})

    def _made(self, index: int, row: RowData) -> EvaluationCase:
        waiting, expanded = self._teller.journal.cases[index], self._cases[index]
        data = case_of_row(
            row,
            scenario_id=expanded.scenario.id,
            scenario=self._reach.scenarios[expanded.scenario.id],
            repetition=expanded.repetition,
            id=waiting.id,
            name=waiting.name,
        )
        return parse_evaluation_case(data | {"threadId": waiting.thread_id})


def _approval(name: str) -> ApprovalPolicy:
    return parse_approval_policy(name)


def _pending(run_id: str, case: ExpandedCase) -> EvaluationCase:
    return EvaluationCase(
        case.id,
        case.scenario.id,
        case.scenario.name,
        case.repetition,
        case.variants,
        f"{run_id}:{case.id}",
        CaseStatus.PENDING,
    )
