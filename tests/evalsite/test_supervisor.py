"""Programs that start together and stop together; none outlives its supervisor."""

import http.server
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from evalsite import supervisor
from evalsite.supervisor import Plan, Program

WAITS = [sys.executable, "-c", "import time; time.sleep(60)"]
LIMIT_S = 20


@pytest.fixture
def site() -> Iterator[int]:
    """The port of a site that answers everything."""

    class Answers(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()

        def log_message(self, *args: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


def start(plan: Plan) -> "subprocess.Popen[str]":
    """Start a supervisor as `quickstart` does: with its plan in a pipe."""
    readable, writable = os.pipe()
    with os.fdopen(writable, "w") as pipe:
        pipe.write(plan.to_text())
    command = [sys.executable, "-P", str(Path(supervisor.__file__)), str(readable)]
    started = subprocess.Popen(command, pass_fds=[readable], stdout=subprocess.PIPE, text=True)
    os.close(readable)
    return started


def plan_for(port: int, *programs: Program, ready_within_s: float = LIMIT_S) -> Plan:
    return Plan(programs, "127.0.0.1", port, "/", "up and running", ready_within_s=ready_within_s)


def notes_its_pid(name: str, note: Path, *, first: str = "pass") -> Program:
    written = f"pathlib.Path({str(note)!r}).write_text(str(os.getpid()))"
    code = f"import os, pathlib, signal, time; {first}; {written}; time.sleep(60)"
    return Program(name, [sys.executable, "-c", code])


def eventually(holds: Callable[[], bool]) -> bool:
    """Tell whether something comes true within the limit."""
    until = time.monotonic() + LIMIT_S
    while time.monotonic() < until:
        if holds():
            return True
        time.sleep(0.01)
    return False


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def pid_in(note: Path) -> int:
    assert eventually(lambda: note.exists() and note.read_text() != "")
    return int(note.read_text())


def first_line(started: "subprocess.Popen[str]") -> str:
    assert started.stdout is not None
    return started.stdout.readline()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_stops_every_program_and_counts_as_success(site: int, tmp_path: Path, number: int) -> None:
    notes = [tmp_path / "one", tmp_path / "two"]
    started = start(plan_for(site, *(notes_its_pid(note.name, note) for note in notes)))
    pids = [pid_in(note) for note in notes]
    assert first_line(started) == "up and running\n"

    started.send_signal(number)

    output, _ = started.communicate(timeout=LIMIT_S)
    assert (started.returncode, output) == (0, "stopping…\n")
    assert not any(map(is_alive, pids))


def test_when_one_program_ends_the_others_end_too_and_its_name_is_said(site: int, tmp_path: Path) -> None:
    note = tmp_path / "other"
    go = tmp_path / "go"
    ends = f"import pathlib, time\nwhile not pathlib.Path({str(go)!r}).exists(): time.sleep(0.01)"
    started = start(plan_for(site, Program("worker", [sys.executable, "-c", ends]), notes_its_pid("web", note)))
    other = pid_in(note)
    assert first_line(started) == "up and running\n"

    go.touch()

    output, _ = started.communicate(timeout=LIMIT_S)
    assert (started.returncode, output) == (1, "The worker ended by itself; stopping…\n")
    assert not is_alive(other)


def test_a_program_that_ends_before_the_site_answers_is_not_announced() -> None:
    started = start(plan_for(1, Program("web server", [sys.executable, "-c", "raise SystemExit(3)"])))

    output, _ = started.communicate(timeout=LIMIT_S)

    assert (started.returncode, output) == (1, "The web server ended by itself; stopping…\n")


def test_a_site_that_never_answers_is_given_up() -> None:
    started = start(plan_for(1, Program("web server", WAITS), ready_within_s=0.3))

    output, _ = started.communicate(timeout=LIMIT_S)

    assert (started.returncode, output) == (1, "The site does not answer; stopping…\n")


def test_killing_the_supervisor_ends_its_programs(site: int, tmp_path: Path) -> None:
    note = tmp_path / "child"
    started = start(plan_for(site, notes_its_pid("web", note)))
    child = pid_in(note)
    assert first_line(started) == "up and running\n"

    started.kill()
    started.communicate(timeout=LIMIT_S)

    assert eventually(lambda: not is_alive(child))


def test_a_program_that_will_not_hear_is_ended_within_the_time_it_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor, "ASK_S", 0.2)
    monkeypatch.setattr(supervisor, "INSIST_S", 0.2)
    note = tmp_path / "deaf"
    deaf = "signal.signal(signal.SIGTERM, signal.SIG_IGN); signal.signal(signal.SIGQUIT, signal.SIG_IGN)"
    holder = supervisor.Supervisor(plan_for(1, notes_its_pid("deaf", note, first=deaf)))
    holder.start()
    pid = pid_in(note)

    holder.stop()

    assert not is_alive(pid)


def test_what_a_program_leaves_behind_in_its_group_ends_with_it(tmp_path: Path) -> None:
    note = tmp_path / "grandchild"
    spawns = f"import subprocess, sys, time; subprocess.Popen({notes_its_pid('x', note).command!r}); time.sleep(60)"
    holder = supervisor.Supervisor(plan_for(1, Program("parent", [sys.executable, "-c", spawns])))
    holder.start()
    grandchild = pid_in(note)

    holder.stop()

    assert eventually(lambda: not is_alive(grandchild))


def test_a_plan_survives_its_text() -> None:
    plan = Plan([Program("web", ["a", "b c"], [7])], "::1", 80, "/x", "up", environment={"A": "ü"})

    again = Plan.from_text(plan.to_text())

    assert again.to_text() == plan.to_text()
    assert again.programs[0].command == ["a", "b c"]
