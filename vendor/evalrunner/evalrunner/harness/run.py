"""Running scenarios: one row after the other, each in a session of its own (SPEC 5 and 6)."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol, TypeVar

from evalrunner.harness.commands import judge_commands
from evalrunner.harness.errors import HarnessError, HarnessSetupError, TurnError
from evalrunner.harness.expectations import judge, read_observed
from evalrunner.harness.figures import fold_events
from evalrunner.harness.policies import DEFAULT_APPROVAL, DEFAULT_SANDBOX, ApprovalPolicy, SandboxPolicy
from evalrunner.harness.rows import RowData, Verdict, build_bare_row, build_row
from evalrunner.harness.runtime.base import Runtime, RuntimeSession, SessionSpec
from evalrunner.harness.runtime.events import Event
from evalrunner.harness.scenarios import Scenario
from evalrunner.harness.workspace import judge_files

MOST_RETRIES: Final = 10
RETRY_AFTER_S: Final = 0.1
LOOK_AGAIN_S: Final = 0.025
PATIENCE_S: Final = 3.0
_BUSY: Final = "busy"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What holds for all rows of a run; a row's own profile and policies come first.

    ``profile`` None: the runtime's default. Times in milliseconds, None: no limit, no waiting. ``command_environment``
    is what post-run commands see, None: our own environment.
    """

    workspace: Path
    profile: str | None = None
    approval_policy: ApprovalPolicy = DEFAULT_APPROVAL
    sandbox_policy: SandboxPolicy = DEFAULT_SANDBOX
    include_trace: bool = False
    wait_timeout_ms: int | None = None
    scenario_timeout_ms: int | None = None
    seed_synthetic_pairs: int | None = None
    allow_post_run_commands: bool = False
    fail_fast: bool = False
    command_environment: Mapping[str, str] | None = None


class RunObserver(Protocol):
    """Is told how a run goes on; what it returns to be awaited is waited for before the run goes on."""

    def row_started(self, index: int, scenario: Scenario) -> Awaitable[None] | None:
        """A row begins; ``index`` counts the rows of this run from 0."""

    def row_finished(self, index: int, row: RowData) -> Awaitable[None] | None:
        """A row has ended."""


class NoObserver:
    """Tells nobody."""

    def row_started(self, index: int, scenario: Scenario) -> None:
        """Do nothing."""

    def row_finished(self, index: int, row: RowData) -> None:
        """Do nothing."""


async def run_scenarios(
    scenarios: Iterable[Scenario], runtime: Runtime, options: RunOptions, observer: RunObserver | None = None
) -> list[RowData]:
    """Run rows in order and give their results; with ``fail_fast`` the first one that did not pass is the last.

    The runtime is started and closed here. Cancelling ends the row that is under way and raises CancelledError.
    """
    observer = observer if observer is not None else NoObserver()
    rows: list[RowData] = []
    try:
        await runtime.start()
        for index, scenario in enumerate(scenarios):
            await _told(observer.row_started(index, scenario))
            rows.append(await _RowRun(scenario, runtime, options).result())
            await _told(observer.row_finished(index, rows[-1]))
            if options.fail_fast and not rows[-1]["passed"]:
                break
    finally:
        await runtime.close()
    return rows


async def _told(answer: Awaitable[None] | None) -> None:
    if answer is not None:
        await answer


class _RowRun:
    """One row: its session, its clock and its limit."""

    def __init__(self, scenario: Scenario, runtime: Runtime, options: RunOptions) -> None:
        self._scenario, self._runtime, self._options = scenario, runtime, options
        self._profile = _given(scenario.profile, _given(options.profile, runtime.default_profile()))
        self._session: RuntimeSession | None = None

    async def result(self) -> RowData:
        """Run the row within its limit; whatever happens, nothing of it runs on afterwards."""
        work = asyncio.create_task(self._run())
        limit_ms = self._options.scenario_timeout_ms
        try:
            await asyncio.wait({work}, timeout=None if limit_ms is None else limit_ms / 1000)
            if not work.done() and limit_ms is not None:
                return self._timed_out(limit_ms)
            return work.result()
        except HarnessError as error:
            return build_bare_row(self._scenario.id, self._profile, str(error))
        finally:
            await self._end(work)

    async def _run(self) -> RowData:
        """Open a session, use it and close it, all in one task: what a session holds may be bound to it."""
        self._session = session = await self._open()
        try:
            return await self._use(session)
        finally:
            await _close(session)

    async def _use(self, session: RuntimeSession) -> RowData:
        began = time.monotonic()
        failures, error = await self._talk(session)
        elapsed_ms = max(1, int((time.monotonic() - began) * 1000))
        await self._wait_for_events(session)
        events = _read_back(session)
        failures += await self._judge(events, elapsed_ms)
        return self._row(Verdict(tuple(failures), elapsed_ms, error), events)

    async def _open(self) -> RuntimeSession:
        """Open the session; whatever a runtime raises makes a bare row, as one row must not end the run."""
        options, scenario = self._options, self._scenario
        spec = SessionSpec(
            profile=self._profile,
            workspace=options.workspace,
            scenario_id=scenario.id,
            approval_policy=_given(scenario.approval_policy, options.approval_policy),
            sandbox_policy=_given(scenario.sandbox_policy, options.sandbox_policy),
            system_instructions=scenario.system_instructions,
            seed_pairs=options.seed_synthetic_pairs,
            tags=scenario.tags,
        )
        try:
            return await self._runtime.open(spec)
        except HarnessError:
            raise
        except HarnessSetupError as error:
            raise HarnessError(str(error)) from error
        except Exception as error:
            raise HarnessError(f"the session cannot be opened: {_describe(error)}") from error

    # --------------------------------------------------------------------------------------------------------- turns

    async def _talk(self, session: RuntimeSession) -> tuple[list[str], str | None]:
        """Send all messages, also after one that failed; gives the sentences and the error of the first message."""
        error = await _send(session, self._scenario.prompt)
        failures = [] if error is None else [f"runtime error: {error}"]
        for message in self._scenario.turns:
            later = await _send_patiently(session, message)
            if later is not None:
                failures.append(f"multi-turn error: {later}")
        return failures, error

    async def _wait_for_events(self, session: RuntimeSession) -> None:
        """Give events that come late some time to come: all listed types, or until the wait is over."""
        wait_ms, wanted = self._options.wait_timeout_ms, frozenset(self._scenario.expected.event_types)
        if wait_ms is None:
            return
        end = time.monotonic() + wait_ms / 1000
        while not _has_all(session, wanted) and time.monotonic() < end:  # noqa: ASYNC110 (a runtime tells nobody)
            await asyncio.sleep(LOOK_AGAIN_S)

    # ------------------------------------------------------------------------------------------------------- verdict

    async def _judge(self, events: Sequence[Event], elapsed_ms: int) -> list[str]:
        options, expected = self._options, self._scenario.expected
        figures = fold_events([{"event_type": event.event_type, "payload": event.payload} for event in events])
        sentences = judge(expected, read_observed({**figures, "elapsed_ms": elapsed_ms}))
        sentences += judge_files(expected.workspace_files, options.workspace)
        return sentences + await judge_commands(
            expected.post_run_commands,
            options.workspace,
            is_allowed=options.allow_post_run_commands,
            environment=options.command_environment,
        )

    def _timed_out(self, limit_ms: int) -> RowData:
        text = f"scenario timed out after {limit_ms} ms"
        events = self._session.events() if self._session is not None else ()
        return self._row(Verdict((text,), limit_ms, text), events)

    def _row(self, verdict: Verdict, events: Sequence[Event]) -> RowData:
        include_trace = self._options.include_trace
        return build_row(self._scenario.id, self._profile, verdict, events, include_trace=include_trace)

    # ----------------------------------------------------------------------------------------------------------- end

    async def _end(self, work: asyncio.Task[RowData]) -> None:
        """End what still runs; a runtime that will not end is left behind after a while."""
        if work.done():
            return
        if self._session is not None:
            self._session.cancel("the scenario has ended")
        work.cancel()
        await asyncio.wait({work}, timeout=2 * PATIENCE_S)
        if work.done() and not work.cancelled():
            work.exception()  # no longer matters; asyncio would report it as lost


async def _send(session: RuntimeSession, message: str) -> str | None:
    """Send one message; gives the text of its error. Whatever else a runtime raises is an error of the turn, too."""
    try:
        await session.send(message)
    except TurnError as error:
        return str(error)
    except Exception as error:
        return _describe(error)
    return None


async def _send_patiently(session: RuntimeSession, message: str) -> str | None:
    """Send a later message, again and again while the runtime is busy."""
    for _ in range(MOST_RETRIES):
        error = await _send(session, message)
        if error is None or _BUSY not in error:
            return error
        await asyncio.sleep(RETRY_AFTER_S)
    return await _send(session, message)


async def _close(session: RuntimeSession) -> None:
    """Close a session, but do not wait for ever; how that goes no longer matters for the row."""
    with contextlib.suppress(Exception):
        async with asyncio.timeout(PATIENCE_S):
            await session.close()


def _read_back(session: RuntimeSession) -> Sequence[Event]:
    try:
        return session.events()
    except Exception as error:
        raise HarnessError(f"the session cannot be read back: {_describe(error)}") from error


def _has_all(session: RuntimeSession, wanted: frozenset[str]) -> bool:
    return wanted <= {event.event_type for event in _read_back(session)}


def _describe(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _given(value: T | None, default: T) -> T:
    return default if value is None else value
