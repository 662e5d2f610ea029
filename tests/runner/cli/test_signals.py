"""Signals, hosts that will not stop, and what is written meanwhile."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import pytest

from tests.runner.cli.commands import report_in, run


class Started:
    """A run that goes on while the test looks at it."""

    def __init__(self, folder: Path, adapter: str, *arguments: str) -> None:
        command = [sys.executable, "-m", "evalrunner", "run", "suite.json", "--adapter", adapter]
        command += ["--output", "out.json", *arguments]
        self.process = subprocess.Popen(
            command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        )

    def wait_for(self, text: str) -> None:
        stream = _stream(self.process.stderr)
        assert any(text in line for line in stream), f"{text!r} was never written"

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    def finish(self) -> tuple[int, str]:
        stdout, _ = self.process.communicate(timeout=30)
        return self.process.returncode, stdout


def _stream(stream: IO[str] | None) -> IO[str]:
    assert stream is not None
    return stream


@pytest.fixture
def start(folder: Path) -> Iterator[Callable[..., Started]]:
    started: list[Started] = []

    def begin(adapter: str = "host:adapter", *arguments: str) -> Started:
        started.append(Started(folder, adapter, *arguments))
        return started[-1]

    yield begin
    for one in started:
        one.process.kill()
        one.process.wait()
        # A program that was left behind would hold the other ends: don't read until it ends.
        for stream in (one.process.stdout, one.process.stderr):
            _stream(stream).close()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_cancels_cleanly_and_the_report_can_be_resumed(
    folder: Path, start: Callable[..., Started], number: int
) -> None:
    going = start("host:adapter", "--repetitions", "2")
    going.wait_for("waiting")
    going.signal(number)
    status, stdout = going.finish()
    cancelled = report_in(folder)
    (folder / "go").touch()
    resumed = run(folder, "--repetitions", "2", "--resume", "out.json", "--retry-failed")
    report = report_in(folder)

    assert (status, cancelled["status"]) == (1, "cancelled")
    assert (cancelled["summary"]["cancelled"], cancelled["summary"]["pending"]) == (1, 1)
    assert "Not passed: 0 of 0 decided cases passed, 2 undecided" in stdout
    assert (resumed.returncode, report["resumedFrom"]) == (0, cancelled["runId"])
    assert (report["status"], report["summary"]["passed"]) == ("completed", 2)


def test_a_second_signal_ends_at_once_even_when_the_loop_is_held_up(
    folder: Path, start: Callable[..., Started]
) -> None:
    going = start("host:blocked")
    going.wait_for("waiting")
    going.signal(signal.SIGINT)
    going.wait_for("cancelling")
    going.signal(signal.SIGINT)

    assert going.finish() == (1, "")


def test_a_second_signal_leaves_no_program_behind(folder: Path, start: Callable[..., Started]) -> None:
    (folder / "agent.py").write_text(
        "import os, sys, time\n"
        "print(os.getpid(), file=sys.stderr, flush=True)\n"
        "print('started', file=sys.stderr, flush=True)\n"
        "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "time.sleep(60)\n"
    )
    going = start(f"command:'{sys.executable}' agent.py", "--command-stderr", "--fingerprint", "v1")
    pid = int(_stream(going.process.stderr).readline())
    going.wait_for("started")
    going.signal(signal.SIGINT)
    going.wait_for("cancelling")
    going.signal(signal.SIGINT)
    status, _ = going.finish()

    assert status == 1
    until(lambda: not alive(pid))


@pytest.mark.parametrize("adapter", ["host:threaded", "host:stubborn"])
def test_code_that_will_not_stop_does_not_keep_the_command_from_ending(
    folder: Path, start: Callable[..., Started], adapter: str
) -> None:
    going = start(adapter)
    going.wait_for("waiting")
    going.signal(signal.SIGINT)
    status, stdout = going.finish()

    assert (status, report_in(folder)["status"]) == (1, "cancelled")
    assert "Report: out.json" in stdout


def test_the_report_is_written_while_the_run_goes_on(folder: Path, start: Callable[..., Started]) -> None:
    going = start()
    going.wait_for("waiting")

    until(lambda: (folder / "out.json").exists() and len(report_in(folder)["cases"][0]["turns"]) == 1)

    assert report_in(folder)["status"] == "running"


def test_a_report_that_can_no_longer_be_written_is_a_sentence(folder: Path) -> None:
    done = run(folder, "--output", "reports/out.json", adapter="host:removing")

    assert done.returncode == 2
    assert "reports/out.json: the report cannot be written: no such file" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_terminal_shows_a_bar_and_the_cases_that_need_a_look(folder: Path) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "evalrunner", "run", "suite.json", "--adapter", "host:adapter"]
    command += ["--output", "out.json", "--timeout-ms", "1000"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=theirs) as process:
        os.close(theirs)
        shown = read_all(ours)
        process.communicate()

    assert f"[{'#' * 30}] 1/1" in shown
    assert "\x1b[K1/1 talk #1: error (EVALUATION_TIMEOUT)" in shown


def read_all(descriptor: int) -> str:
    """Read a terminal until nobody has its other end."""
    content = b""
    try:
        while chunk := os.read(descriptor, 4_096):
            content += chunk
    except OSError:
        pass  # this is how Linux says that the other end is closed
    os.close(descriptor)
    return content.decode()


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.02)
