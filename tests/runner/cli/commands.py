"""The command ``evalrunner`` as a process, and what it leaves."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from evalrunner import parse_evaluation_report

from tests.runner import edge


def evalrunner(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "evalrunner", *arguments]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=60, env={**os.environ, **variables}
    )


def run(folder: Path, *arguments: str, adapter: str = "host:adapter") -> subprocess.CompletedProcess[str]:
    return evalrunner(folder, "run", "suite.json", "--adapter", adapter, "--output", "out.json", *arguments)


def report_in(folder: Path, name: str = "out.json") -> dict[str, Any]:
    report: dict[str, Any] = json.loads((folder / name).read_text())
    parse_evaluation_report(report)
    return report


def write_suite(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    suite = json.loads(json.dumps(edge.SUITE))
    change(suite)
    (folder / "suite.json").write_text(json.dumps(suite))
