"""The command ``evalrunner`` as a user meets it: processes, exit statuses, signals."""

from __future__ import annotations

import gzip
import json
import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import pytest
from evalrunner import cli, parse_evaluation_report

from tests.runner import edge

HOST = """
import asyncio, os, sys, threading, time
from pathlib import Path
from evalrunner.adapters.base import OpenContext
from evalrunner.targets import RunnableTarget

def say(text):
    print(text, file=sys.stderr, flush=True)

class Session:
    def __init__(self, waits):
        self.waits = waits

    async def send(self, input, context):
        say(f"turn {context.step_id}")
        if context.step_id == "again" and not Path("go").exists():
            say("waiting")
            await self.waits()
        return {"observation": dict(input), "checkpoint": {"at": context.step_id}}

class Adapter:
    id, version, supports_resume = "host", "1", True
    evaluators = {"never": lambda context, parameters: {"passed": False}}

    def __init__(self, waits=None):
        self.waits = waits or self.for_ever

    async def for_ever(self):
        await asyncio.sleep(600)

    async def open(self, context):
        return Session(self.waits)

async def hold_up_the_loop():
    time.sleep(600)

async def hold_up_a_thread():
    await asyncio.to_thread(time.sleep, 600)

async def ignore_cancellation():
    while True:
        try:
            await asyncio.sleep(600)
        except asyncio.CancelledError:
            say("ignored")

async def remove_folder():
    while not Path("reports/out.json").exists():
        await asyncio.sleep(0.01)
    Path("reports/out.json").unlink()
    Path("reports").rmdir()

adapter = Adapter()
blocked, threaded, stubborn, removing = (
    Adapter(waits) for waits in (hold_up_the_loop, hold_up_a_thread, ignore_cancellation, remove_folder)
)
target = RunnableTarget("bot", lambda fingerprint: adapter)
number = 7
no_functions = {"judge": "text"}

def fails():
    raise RuntimeError("no model configured")

def leaves():
    raise SystemExit("left")
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a suite and a module of the host."""
    (tmp_path / "suite.json").write_text(json.dumps(edge.SUITE))
    (tmp_path / "host.py").write_text(HOST)
    return tmp_path


@pytest.fixture
def go(folder: Path) -> Path:
    """Let the agent answer everything at once."""
    (folder / "go").touch()
    return folder


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


# ----------------------------------------------------------------------------------------------------------------- run


def test_a_passing_run_exits_with_0_and_says_so(go: Path) -> None:
    done = run(go, "--target", "bot", "--fingerprint", "v7", "--repetitions", "2", "--concurrency", "2")

    report = report_in(go)
    assert done.returncode == 0
    assert "Passed: 2 of 2 decided cases passed" in done.stdout
    assert (report["status"], report["summary"]["passed"]) == ("completed", 2)
    assert report["target"] == {"id": "bot", "fingerprint": "v7"}
    assert [path.name for path in go.glob(".*")] == []


def test_every_case_is_a_plain_line_when_nobody_watches_a_terminal(go: Path) -> None:
    done = run(go, "--repetitions", "3", "--fingerprint", "v1")

    lines = [line for line in done.stderr.splitlines() if not line.startswith("turn")]
    assert lines == ["1/3 talk #1: passed", "2/3 talk #2: passed", "3/3 talk #3: passed"]
    assert "\r" not in done.stderr


def test_a_failed_case_exits_with_1(go: Path) -> None:
    def demand(suite: dict[str, Any]) -> None:
        suite["scenarios"][0]["assertions"][0]["path"] = ["nothing"]

    write_suite(go, demand)
    done = run(go)

    assert (done.returncode, report_in(go)["summary"]["failed"]) == (1, 1)
    assert "Not passed: 0 of 1 decided cases passed (1 failed)" in done.stdout


def test_a_failed_suite_assertion_alone_exits_with_1(go: Path) -> None:
    def demand(suite: dict[str, Any]) -> None:
        suite["assertions"] = [{"id": "never", "kind": "custom", "evaluator": "never", "parameters": {}}]

    write_suite(go, demand)
    done = run(go)

    assert (done.returncode, report_in(go)["summary"]["passed"]) == (1, 1)
    assert "Suite assertion not passed: never" in done.stdout


def test_a_case_that_was_not_decided_exits_with_1(go: Path) -> None:
    write_suite(go, lambda suite: suite["scenarios"][0].update(writePolicy="external"))

    blocked, allowed = run(go), run(go, "--allow-external-writes")

    assert (blocked.returncode, allowed.returncode) == (1, 0)
    assert "0 of 0 decided cases passed, 1 undecided (1 blocked)" in blocked.stdout
    assert "1/1 talk #1: blocked (EXTERNAL_WRITES_NOT_AUTHORIZED)" in blocked.stderr


def test_scenarios_and_tags_select_cases(go: Path) -> None:
    def add(suite: dict[str, Any]) -> None:
        suite["scenarios"] += [edge.SCENARIO | {"id": "other", "tags": ["slow"]}, edge.SCENARIO | {"id": "third"}]

    write_suite(go, add)
    run(go, "--scenario", "talk", "--scenario", "other")
    by_id = [case["scenarioId"] for case in report_in(go)["cases"]]
    run(go, "--tag", "smoke")
    by_tag = [case["scenarioId"] for case in report_in(go)["cases"]]

    assert (by_id, by_tag) == (["talk", "other"], ["talk", "third"])


def test_the_failure_limit_leaves_cases_pending(folder: Path) -> None:
    done = run(folder, "--timeout-ms", "1000", "--repetitions", "3", "--max-failures", "1")

    report = report_in(folder)
    assert done.returncode == 1
    assert (report["status"], report["summary"]["error"], report["summary"]["pending"]) == ("limited", 1, 2)


@pytest.mark.parametrize(
    ("arguments", "target"),
    [
        ([], {"id": "host", "fingerprint": "unversioned"}),
        (["--fingerprint", "v2"], {"id": "host", "fingerprint": "v2"}),
        (["--target", "mine"], {"id": "mine", "fingerprint": "unversioned"}),
    ],
)
def test_the_target_is_named_by_the_adapter_unless_the_user_does(
    go: Path, arguments: list[str], target: dict[str, str]
) -> None:
    done = run(go, *arguments)

    note = "note: no --fingerprint was given"
    assert report_in(go)["target"] == target
    assert (note in done.stderr) is (target["fingerprint"] == "unversioned")


def test_a_runnable_target_brings_its_own_id_and_evaluators(go: Path) -> None:
    (go / "suite.json").write_text(edge.CATALOGUE_SUITE.read_text())

    right = run(go, adapter="evalrunner.examples.catalogue:target")
    wrong = run(go, "--fingerprint", "wrong-selection", adapter="evalrunner.examples.catalogue:target")

    assert (right.returncode, wrong.returncode) == (0, 1)
    assert report_in(go)["target"] == {"id": "tutorial.catalogue", "fingerprint": "wrong-selection"}
    assert "1/4 choose-product search=direct #1: failed" in wrong.stderr


@pytest.mark.parametrize(
    "adapter", ["host:Adapter", "host:target", "host:adapter", "host:target.make_adapter.__self__"]
)
def test_a_class_a_target_and_an_object_all_name_an_adapter(go: Path, adapter: str) -> None:
    expected = 2 if "__self__" in adapter else 0

    assert run(go, adapter=adapter).returncode == expected


def test_a_command_gets_evaluators_and_variables_from_the_command_line(folder: Path) -> None:
    (folder / "suite.json").write_text(edge.CATALOGUE_SUITE.read_text())
    command = f"command:'{sys.executable}' -m evalrunner.examples.command_agent"

    done = run(
        folder,
        "--evaluators=evalrunner.examples.catalogue:evaluators",
        "--command-env=PYTHONPATH",
        "--fingerprint=v1",
        adapter=command,
    )

    assert done.returncode == 0, done.stderr
    assert report_in(folder)["target"] == {"id": "evalrunner.command", "fingerprint": "v1"}


# ------------------------------------------------------------------------------------------------------- invalid input


@pytest.mark.parametrize(
    ("adapter", "sentence"),
    [
        ("nonsense", "'nonsense' is not of the form module:object"),
        ("no_such_module:x", "module 'no_such_module' cannot be imported: ModuleNotFoundError"),
        ("host:nothing", "module 'host' has no object 'nothing'"),
        ("host:number", "no function open"),
        ("host:fails", "the adapter cannot be made: RuntimeError: no model configured"),
        ("host:leaves", "the adapter cannot be made: SystemExit"),
        ("command:", "needs a program"),
        ("command:no-such-agent", "no program 'no-such-agent'"),
        ("command:'open", "cannot be split"),
        ("http:nonsense", "must begin with http:// or https://"),
        ("http://me:secret@127.0.0.1", "put no user or password into the address"),
        ("evalrunner.examples.catalogue:target", "no version"),
    ],
)
def test_an_adapter_that_cannot_be_had_is_a_sentence(folder: Path, adapter: str, sentence: str) -> None:
    done = run(folder, "--fingerprint", "v9", adapter=adapter)

    assert (done.returncode, done.stdout) == (2, "")
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
    assert not (folder / "out.json").exists()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--http-header", "Authorization"], "--http-header 'Authorization' is not of the form NAME=VARIABLE"),
        (["--http-header", "Authorization=NOT_SET"], "the environment variable NOT_SET is not set"),
        (["--scenario", "nonsense"], "the suite has no scenario 'nonsense'; it has talk"),
        (["--tag", "nonsense"], "no scenario is left"),
        (["--repetitions", "20", "--max-cases", "19"], "more cases than --max-cases allows"),
        (["--retry-failed"], "--retry-failed needs --resume"),
        (["--resume", "missing.json"], "missing.json: no such file"),
        (["--resume", "suite.json"], "suite.json is not a valid report:\n  suite: missing"),
        (["--evaluators", "host:no_functions"], "no mapping of ids to functions"),
        (["--evaluators", "host:nothing"], "no object 'nothing'"),
        (["--target", ""], "--target must not be empty"),
        (["--output", "suite.json/out.json"], "cannot be written"),
        (["--output", "."], "cannot be written"),
        (["--output", "/dev/null"], "cannot be written"),
        (["--repetitions", "0"], "no whole number from 1 to 100"),
        (["--repetitions", "101"], "no whole number from 1 to 100"),
        (["--concurrency", "33"], "no whole number from 1 to 32"),
        (["--max-failures", "100001"], "no whole number from 1 to 100000"),
        (["--max-cases", "100001"], "no whole number from 1 to 100000"),
        (["--timeout-ms", "3600001"], "no whole number from 1 to 3600000"),
        (["--timeout-ms", "1.5"], "no whole number"),
        (["--bogus"], "--bogus"),
        (["--repet", "2"], "--repet"),
        (["second.json"], "second.json"),
    ],
)
def test_a_wrong_argument_is_a_sentence_and_nothing_is_run(go: Path, arguments: list[str], sentence: str) -> None:
    adapter = "http://127.0.0.1:9" if "--http-header" in arguments else "host:adapter"

    done = run(go, *arguments, adapter=adapter)

    assert (done.returncode, done.stdout) == (2, "")
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
    assert "turn" not in done.stderr
    assert not (go / "out.json").exists()


def test_an_evaluator_that_nobody_supplies_is_named(go: Path) -> None:
    custom = {"id": "judge", "kind": "custom", "evaluator": "my.judge", "parameters": {}}
    write_suite(go, lambda suite: suite["scenarios"][0].update(assertions=[custom]))

    done = run(go)

    assert done.returncode == 2
    assert "names an evaluator that nobody supplies" in done.stderr
    assert "my.judge (EVALUATOR_NOT_FOUND)" in done.stderr


UNREADABLE = [
    (b"", "empty, no JSON value"),
    (b"{\n  'a': 1}", "line 2, column 3: not JSON"),
    (b'{"a": [1, 2', "line 1, column 12: not JSON"),
    (b'{"a": 1} x', "line 1, column 10: not JSON: extra data"),
    (b'{"text": "NaN",\n "a": NaN}', "line 2, column 7: NaN is not JSON"),
    (b'{\n"a": "\xff"}', "line 2, column 7: not UTF-8 text (byte 8)"),
    (b"\x89PNG\r\n\x1a\n\0\0", "not UTF-8 text"),
    (b"\xef\xbb\xbf{}", "byte order mark"),
    (b"[" * 100_000, "nested too deeply"),
    (gzip.compress(b"{}")[:-9], "damaged gzip data"),
    (b"\x1f\x8bnonsense", "damaged gzip data"),
]


@pytest.mark.parametrize(("content", "sentence"), UNREADABLE)
def test_a_file_that_is_no_json_is_a_sentence_with_its_place(folder: Path, content: bytes, sentence: str) -> None:
    (folder / "suite.json").write_bytes(content)

    started, checked = run(folder), evalrunner(folder, "validate", "suite.json")

    for done, status in ((started, 2), (checked, 1)):
        assert (done.returncode, done.stdout) == (status, "")
        assert f"suite.json: {sentence}" in done.stderr or sentence in done.stderr
        assert "Traceback" not in done.stderr


def test_a_suite_of_the_wrong_shape_is_refused_with_every_place(folder: Path) -> None:
    def spoil(suite: dict[str, Any]) -> None:
        del suite["name"]
        suite["scenarios"][0]["steps"][1]["id"] = ""
        suite["scenarios"][0]["surprise"] = 1

    write_suite(folder, spoil)

    started, checked = run(folder), evalrunner(folder, "validate", "suite.json")

    faults = [
        "name: missing (EVALUATION_SUITE_INVALID)",
        "scenarios.0.steps.1.id: an empty text (EVALUATION_SUITE_INVALID)",
        "scenarios.0: an object with a member that is not allowed, or none expected here (EVALUATION_SUITE_INVALID)",
    ]
    assert (started.returncode, checked.returncode) == (2, 1)
    assert started.stderr.splitlines()[1:] == [f"  {fault}" for fault in faults]
    assert checked.stderr.splitlines() == [f"suite.json: {fault}" for fault in faults]


# ------------------------------------------------------------------------------------------------------------ validate


def test_all_files_are_reported_whatever_is_wrong_with_one(go: Path) -> None:
    run(go)
    report = report_in(go)
    (go / "report.json.gz").write_bytes(gzip.compress(json.dumps(report).encode()))
    report["summary"]["passed"] = 7
    (go / "wrong.json").write_text(json.dumps(report))
    (go / "other.json").write_text('{"name": "pyproject"}')

    done = evalrunner(go, "validate", "suite.json", "wrong.json", "report.json.gz", "other.json")

    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        "suite.json: valid suite of 1 scenarios",
        "report.json.gz: valid report of 1 cases, completed",
    ]
    assert done.stderr.splitlines() == [
        "wrong.json: summary.passed: says 7, but the cases give 1 (EVALUATION_RESUME_INVALID)",
        "other.json: neither a suite (no scenarios) nor a report (no runId, no cases)",
    ]


def test_a_fault_in_the_suite_of_a_report_is_placed_in_the_report(go: Path) -> None:
    run(go)
    report = report_in(go)
    report["suite"]["id"] = 7
    (go / "wrong.json").write_text(json.dumps(report))

    done = evalrunner(go, "validate", "wrong.json")

    assert done.returncode == 1
    assert done.stderr == "wrong.json: suite.id: a number that is not allowed here (EVALUATION_SUITE_INVALID)\n"


def test_valid_files_exit_with_0_and_a_file_that_cannot_be_read_with_2(go: Path) -> None:
    assert evalrunner(go, "validate", "suite.json").returncode == 0

    done = evalrunner(go, "validate", "suite.json", "missing.json", ".")

    assert done.returncode == 2
    assert "missing.json: no such file" in done.stderr
    assert ".: is a directory" in done.stderr
    assert "suite.json: valid suite" in done.stdout


def test_hostile_names_do_not_reach_the_terminal_raw(go: Path) -> None:
    (go / "suite.json").write_text(json.dumps({"scenarios": [], "\x1b[2J\ud800": 1}))

    done = evalrunner(go, "validate", "suite.json", PYTHONIOENCODING="ascii")

    assert done.returncode == 1
    assert "\x1b" not in done.stdout + done.stderr


# --------------------------------------------------------------------------------------------------- command and usage


@pytest.mark.parametrize("command", list(cli.COMMANDS))
def test_a_wrong_flag_exits_with_the_usage_status_of_its_command(folder: Path, command: str) -> None:
    done = evalrunner(folder, command, "--no-such-flag")

    expected = {"run": 2, "validate": 2, "gate": 4, "list": 4, "compare": 4, "push": 4, "scenarios": 1}[command]
    assert (done.returncode, done.stdout) == (expected, "")
    assert f"evalrunner {command}: " in done.stderr


@pytest.mark.parametrize("command", list(cli.COMMANDS))
def test_every_command_explains_itself(folder: Path, command: str) -> None:
    done = evalrunner(folder, command, "--help")

    assert (done.returncode, done.stderr) == (0, "")
    assert f"usage: evalrunner {command}" in done.stdout


@pytest.mark.parametrize("arguments", [["frobnicate"], [], ["--frobnicate"], ["runn"]])
def test_an_unknown_command_exits_with_4_and_names_the_known_ones(folder: Path, arguments: list[str]) -> None:
    done = evalrunner(folder, *arguments)

    assert (done.returncode, done.stdout) == (4, "")
    assert ", ".join(cli.COMMANDS) in done.stderr


def test_the_overview_lists_every_command(folder: Path) -> None:
    done = evalrunner(folder, "--help")

    assert done.returncode == 0
    assert all(f"  {command} " in done.stdout for command in cli.COMMANDS)


# ---------------------------------------------------------------------------------------------- signals, live writing


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
