"""``evalrunner scenarios run``: run the selected rows, write their files, judge by the exit status."""

from __future__ import annotations

import argparse
import asyncio
import os
import stat
import sys
from pathlib import Path
from typing import Any, Final

from evalrunner.adapters.processes import kill_all_groups
from evalrunner.cli import connect
from evalrunner.cli.ending import SIGNALS, run_to_end
from evalrunner.cli.inputs import InputError
from evalrunner.cli.scenario_flags import Values
from evalrunner.harness.adapter_runtime import AdapterRuntime
from evalrunner.harness.errors import HarnessSetupError
from evalrunner.harness.files import read_text, write_text
from evalrunner.harness.policies import DEFAULT_APPROVAL, DEFAULT_SANDBOX
from evalrunner.harness.rows import RowData, build_report, encode_pretty, encode_rows
from evalrunner.harness.run import RunOptions, run_scenarios
from evalrunner.harness.runtime.base import Runtime
from evalrunner.harness.runtime.config import load_config
from evalrunner.harness.runtime.fake import FirstCall
from evalrunner.harness.runtime.local import LocalRuntime, RuntimeOptions
from evalrunner.harness.scenarios import Scenario, read_scenarios, select_scenarios
from evalrunner.harness.summary import summarize

PASSED: Final = 0
NOT_PASSED: Final = 2
INTERRUPTED: Final = 130

# What only the local runtime knows; beside --adapter it would silently do nothing.
_LOCAL_FLAGS: Final = (
    "enable-mcp",
    "enable-hooks",
    "auto-compact-threshold",
    "fake-emit-tool-call",
    "seed-synthetic-pairs",
    "config",
)
_LONGEST_TURN_MS: Final = 3_600_000


def execute(values: Values, program: str) -> int:
    """Run and give the exit status; HarnessSetupError or OSError for whatever keeps the run from being carried out."""
    scenarios = load_scenarios(values, program)
    workspace = _workspace(values["workspace"])
    runtime = _make_runtime(values, workspace)
    for name in ("output", "summary", "report"):
        _refuse_folder(values[name])
    return run_to_end(_Run(values, program, scenarios).carry_out(runtime, workspace))


def load_scenarios(values: Values, program: str) -> list[Scenario]:
    """Read the scenario file, tell its oddities on standard error, and select by tags."""
    file = read_scenarios(read_text(Path(values["scenarios"])))
    for warning in file.warnings:
        print(f"{program}: warning: {warning}", file=sys.stderr)
    return select_scenarios(file.scenarios, values["include"], values["exclude"])


def _workspace(name: str) -> Path:
    """Give the full path of the workspace; OSError unless it is a folder."""
    path = Path(name).resolve()
    if not stat.S_ISDIR(path.stat().st_mode):
        raise NotADirectoryError(20, "Not a directory")
    return path


def _refuse_folder(name: str | None) -> None:
    """Find out before the run, not after it, that a folder stands where a file is to be written."""
    if name is not None and Path(name).is_dir():
        raise IsADirectoryError(21, "Is a directory")


# -------------------------------------------------------------------------------------------------------------- runtime


def _make_runtime(values: Values, workspace: Path) -> Runtime:
    if values["adapter"] is not None:
        return _adapter_runtime(values)
    config = load_config(None if values["config"] is None else Path(values["config"]), workspace)
    options = RuntimeOptions(
        workspace=workspace,
        approvals=values["approvals"],
        enable_mcp=values["enable_mcp"],
        enable_hooks=values["enable_hooks"],
        auto_compact_threshold=values["auto_compact_threshold"],
        first_call=_first_call(values),
    )
    return LocalRuntime(config, options)


def _first_call(values: Values) -> FirstCall | None:
    if not values["fake_emit_tool_call"]:
        return None
    arguments = values["fake_tool_arguments"]
    return FirstCall(values["fake_tool_id"], arguments if isinstance(arguments, dict) else {})


def _adapter_runtime(values: Values) -> AdapterRuntime:
    for name in _LOCAL_FLAGS:
        if values[name.replace("-", "_")] not in (None, False):
            raise HarnessSetupError(f"--{name} belongs to the local runtime and does nothing beside --adapter")
    arguments = argparse.Namespace(
        adapter=values["adapter"],
        target="scenarios",
        fingerprint=connect.UNVERSIONED,
        evaluators=None,
        supports_resume=False,
        http_header=values["http_header"],
        command_env=values["command_env"],
        command_stderr=values["command_stderr"],
        timeout_ms=values["scenario_timeout_ms"] or _LONGEST_TURN_MS,
    )
    try:
        return AdapterRuntime(connect.connect(arguments, None).adapter)
    except InputError as error:
        raise HarnessSetupError(str(error)) from None


# ------------------------------------------------------------------------------------------------------------------ run


class _Run:
    """One run: tells how it goes on, and keeps the rows that have ended."""

    def __init__(self, values: Values, program: str, scenarios: list[Scenario]) -> None:
        self._values, self._program, self._scenarios = values, program, scenarios
        self._rows: list[RowData] = []
        self._is_watched = sys.stderr.isatty()

    async def carry_out(self, runtime: Runtime, workspace: Path) -> int:
        _end_at_signals()
        try:
            await run_scenarios(self._scenarios, runtime, self._options(workspace), self)
        except asyncio.CancelledError:
            return self._break_off()
        return self._finish()

    def row_started(self, index: int, scenario: Scenario) -> None:
        if self._is_watched:
            self._tell(f"row {index + 1} of {len(self._scenarios)}: {scenario.id}")

    def row_finished(self, index: int, row: RowData) -> None:
        self._rows.append(row)

    def _options(self, workspace: Path) -> RunOptions:
        values = self._values
        return RunOptions(
            workspace=workspace,
            profile=values["profile"],
            approval_policy=_given(values["approval_policy"], DEFAULT_APPROVAL),
            sandbox_policy=_given(values["sandbox_policy"], DEFAULT_SANDBOX),
            include_trace=values["include_trace"],
            wait_timeout_ms=values["wait_timeout_ms"],
            scenario_timeout_ms=values["scenario_timeout_ms"],
            seed_synthetic_pairs=values["seed_synthetic_pairs"],
            allow_post_run_commands=values["allow_post_run_commands"],
            fail_fast=values["fail_fast"],
        )

    def _finish(self) -> int:
        """Write results, summary and report in this order; then print the summary."""
        summary = summarize(self._rows)
        self._write("output", encode_rows(self._rows))
        self._write("summary", encode_pretty(summary))
        self._write("report", encode_pretty(build_report(summary, self._rows)))
        print(encode_pretty(summary))
        return PASSED if all(row["passed"] for row in self._rows) else NOT_PASSED

    def _break_off(self) -> int:
        """Keep what has been paid for; a summary of a part would look like one of the whole."""
        self._write("output", encode_rows(self._rows))
        self._tell(f"interrupted; {len(self._rows)} rows had ended and are in {self._values['output']}")
        return INTERRUPTED

    def _write(self, name: str, text: str) -> None:
        if self._values[name] is not None:
            write_text(Path(self._values[name]), text)

    def _tell(self, text: str) -> None:
        print(f"{self._program}: {text}", file=sys.stderr)


def _end_at_signals() -> None:
    """The first Ctrl-C (or TERM) ends the run, the second one the process."""
    task, loop = asyncio.current_task(), asyncio.get_running_loop()
    assert task is not None

    def leave() -> None:
        kill_all_groups()
        os._exit(INTERRUPTED)

    def stop() -> None:
        task.cancel()
        for number in SIGNALS:
            loop.add_signal_handler(number, leave)

    for number in SIGNALS:
        loop.add_signal_handler(number, stop)


def _given(value: Any, default: Any) -> Any:
    return default if value is None else value
