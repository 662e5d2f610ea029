"""Standard streams that the caller has closed: no result is lost in silence, nothing is written into other files."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.runner.cli.commands import report_in
from tests.runner.compare.files import many, version

SCENARIO = '{"id": "one", "prompt": "hello"}\n'


def closed(folder: Path, command: str, streams: str) -> subprocess.CompletedProcess[str]:
    """Run a command by a shell that closes streams before it: ``streams`` are its redirections."""
    line = f"exec {shlex.quote(sys.executable)} -m evalrunner {command} {streams}"
    return subprocess.run(["sh", "-c", line], cwd=folder, capture_output=True, text=True, timeout=20)


@pytest.fixture
def filled(go: Path) -> Path:
    """Add two reports and a scenario file to the folder of a suite."""
    version(go / "a.json", many())
    version(go / "b.json", many(), "v2")
    (go / "s.jsonl").write_text(SCENARIO)
    return go


@pytest.mark.parametrize(
    ("command", "status"),
    [
        ("gate a.json b.json", 4),
        ("compare a.json b.json", 4),
        ("compare a.json b.json --format json", 4),
        ("list suite.json", 4),
        ("list suite.json --format json", 4),
        ("scenarios list --scenarios s.jsonl", 1),
    ],
)
def test_a_result_that_cannot_be_written_is_none(filled: Path, command: str, status: int) -> None:
    done = closed(filled, command, ">&-")

    assert done.returncode == status
    assert done.stderr.endswith("standard output: the result cannot be written: it is closed\n")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("streams", [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_a_run_needs_no_streams_and_its_report_holds_nothing_of_what_they_would_have_shown(
    filled: Path, streams: str
) -> None:
    command = "run suite.json --adapter host:adapter --output out.json"

    done = closed(filled, command, streams)

    assert done.returncode == 0
    assert report_in(filled)["status"] == "completed"


@pytest.mark.parametrize("name", ["gate", "compare"])
def test_a_file_takes_the_place_of_a_closed_standard_error(filled: Path, name: str) -> None:
    done = closed(filled, f"{name} a.json b.json --format json --output out.json", "2>&-")

    assert (done.returncode, done.stderr) == (0, "")
    assert (filled / "out.json").read_text().startswith("{")


def test_faults_are_told_by_the_status_alone_where_no_stream_is_open(filled: Path) -> None:
    assert closed(filled, "gate a.json missing.json", ">&- 2>&-").returncode == 4
    assert closed(filled, "validate suite.json", ">&- 2>&-").returncode == 0
