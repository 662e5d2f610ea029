"""Run several programs as one: they start together, stop together, and none outlives this process.

A program of its own on the standard library alone, so that what waits for hours costs little memory: `quickstart`
prepares everything, then replaces itself by this module and hands it a plan (JSON) through a pipe. A pipe because the
plan holds a one-time sign-in address, which neither the list of processes nor the environment may show.

Each program runs in a session of its own, so that Ctrl-C reaches this process alone, which then stops them in three
steps: ask (SIGTERM), insist (SIGQUIT: gunicorn and Celery drop what they do), end (SIGKILL to the whole group).
"""

import contextlib
import ctypes
import http.client
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import FrameType

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
ASK_S, INSIST_S, END_S = 8.0, 1.0, 1.0  # an idle Celery worker needs four, on a busy machine more
READY_WITHIN_S = 60.0


@dataclass(frozen=True)
class Program:
    """A child: what it is called in messages, its command, and the descriptors that it inherits."""

    name: str
    command: Sequence[str]
    inherits: Sequence[int] = ()


@dataclass(frozen=True)
class Plan:
    """What to run, where to knock until the site answers, and what to print then."""

    programs: Sequence[Program]
    host: str
    port: int
    ready_path: str
    announcement: str
    ready_within_s: float = READY_WITHIN_S
    environment: dict[str, str] = field(default_factory=dict)

    def to_text(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_text(cls, text: str) -> "Plan":
        members = json.loads(text)
        return cls(**members | {"programs": [Program(**program) for program in members["programs"]]})


class Stopped(Exception):
    """Somebody asked this process to stop."""


def replace_process(plan: Plan, *, keep: Sequence[int]) -> None:
    """Replace this process by the supervisor of a plan; the descriptors ``keep`` stay open in it. Does not return."""
    readable, writable = os.pipe()
    with os.fdopen(writable, "w") as pipe:
        pipe.write(plan.to_text())
    for descriptor in (readable, *keep):
        os.set_inheritable(descriptor, True)
    sys.stdout.flush()
    # -P: the folder of this file holds a module called celery, which nothing here may mistake for the package.
    os.execv(sys.executable, [sys.executable, "-P", str(Path(__file__).resolve()), str(readable)])


class Supervisor:
    """Owns the children of a plan between ``start`` and ``stop``."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.children: dict[str, subprocess.Popen[bytes]] = {}

    def start(self) -> None:
        for program in self.plan.programs:
            self.children[program.name] = subprocess.Popen(
                program.command,
                env=os.environ | self.plan.environment,
                pass_fds=tuple(program.inherits),
                stdin=subprocess.DEVNULL,
                start_new_session=True,
                preexec_fn=dies_with(os.getpid()),
            )

    def ended(self) -> str | None:
        """Return the name of a child that has ended, or None."""
        return next((name for name, child in self.children.items() if child.poll() is not None), None)

    def stop(self) -> None:
        """End every child; returns within about ten seconds, whatever they do."""
        for number, patience_s in ((signal.SIGTERM, ASK_S), (signal.SIGQUIT, INSIST_S)):
            self._signal(number)
            if self._wait(patience_s):
                break
        for child in self.children.values():  # also what the children left behind in their groups
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(child.pid, signal.SIGKILL)
        self._wait(END_S)

    def _signal(self, number: int) -> None:
        for child in self.children.values():
            if child.poll() is None:
                child.send_signal(number)

    def _wait(self, patience_s: float) -> bool:
        until = time.monotonic() + patience_s
        for child in self.children.values():
            try:
                child.wait(max(0.0, until - time.monotonic()))
            except subprocess.TimeoutExpired:
                return False
        return True


def dies_with(parent: int) -> Callable[[], None] | None:
    """Return what makes a new child end when its parent is killed; Linux alone can."""
    if sys.platform != "linux":
        return None
    libc, set_death_signal = ctypes.CDLL(None), 1

    def bind() -> None:
        libc.prctl(set_death_signal, signal.SIGQUIT)
        if os.getppid() != parent:  # it died before the call above
            os._exit(1)

    return bind


@contextlib.contextmanager
def woken_by_signals() -> Iterator[Callable[[float], None]]:
    """Yield ``wait(seconds)``: ends early when a child ends, raises Stopped when this process is asked to stop."""
    readable, writable = socket.socketpair()
    for end in (readable, writable):
        end.setblocking(False)
    asked = False

    def note(number: int, frame: FrameType | None) -> None:
        nonlocal asked
        asked = asked or number != signal.SIGCHLD

    def wait(seconds: float) -> None:
        if not asked and select.select([readable], [], [], seconds)[0]:
            readable.recv(4096)
        if asked:
            raise Stopped

    before = signal.set_wakeup_fd(writable.fileno(), warn_on_full_buffer=False)
    handlers = {number: signal.signal(number, note) for number in (*STOP_SIGNALS, signal.SIGCHLD)}
    try:
        yield wait
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(before)
        readable.close()
        writable.close()


def supervise(plan: Plan, *, say: Callable[[str], None]) -> int:
    """Run a plan until it is stopped (0) or one of its programs ends (1)."""
    supervisor = Supervisor(plan)
    with woken_by_signals() as wait:
        try:
            supervisor.start()
            if wait_until_ready(plan, supervisor, wait):
                say(plan.announcement)
                while supervisor.ended() is None:
                    wait(3600)
            failed = supervisor.ended()
            say(f"The {failed} ended by itself; stopping…" if failed else "The site does not answer; stopping…")
            status = 1
        except Stopped:
            say("stopping…")
            status = 0
        for number in STOP_SIGNALS:  # whoever asks again is already being served: the steps below are bounded
            signal.signal(number, signal.SIG_IGN)
        supervisor.stop()
    return status


def wait_until_ready(plan: Plan, supervisor: Supervisor, wait: Callable[[float], None]) -> bool:
    """Tell whether the site answered in time; ends early when a program ends."""
    until = time.monotonic() + plan.ready_within_s
    while time.monotonic() < until and supervisor.ended() is None:
        if answers(plan.host, plan.port, plan.ready_path):
            return True
        wait(0.1)
    return False


def answers(host: str, port: int, path: str) -> bool:
    """Tell whether the site answers a request without failing."""
    connection = http.client.HTTPConnection(host, port, timeout=2)
    try:
        connection.request("GET", path)
        return connection.getresponse().status < 500
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def main(arguments: Sequence[str]) -> int:
    with os.fdopen(int(arguments[1])) as pipe:
        plan = Plan.from_text(pipe.read())
    return supervise(plan, say=say)


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv))
