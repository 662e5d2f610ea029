"""The embedded set-up: one data folder, one web server, one worker, on one machine.

The data folder's lock says that a quickstart is running there and under which address; a lock and not a file that is
merely present, because the system releases it however its owner ends.
"""

import errno
import fcntl
import json
import os
import socket
import sys
from pathlib import Path

from evalsite.supervisor import Plan, Program

LOOPBACK = ("127.0.0.1", "localhost", "::1")
EVERY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}
WEB_THREADS = 8
WORKER_PROCESSES = 2
LONGEST_ADDRESS = 8190  # bytes, the most that gunicorn limits; filters hold names of up to 160 characters, escaped


class CannotStart(Exception):
    """The site cannot be started here; the message says why and what to do."""


def lock_data_folder(folder: Path) -> int:
    """Take the folder's lock and return its descriptor; raises CannotStart naming the address of who has it."""
    try:
        lock = os.open(folder / "quickstart.lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as problem:
        raise CannotStart(
            f"Cannot write to the data folder {folder}: {problem.strerror}. "
            "Let this user write there, or set EVALSITE_DATA_DIR to another folder."
        ) from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        owner = _owner(lock)
        os.close(lock)
        raise CannotStart(
            f"Evalsite is already running with the data in {folder}"
            + (f": {owner['address']} (process {owner['pid']}). " if owner else ". ")
            + "Stop it with Ctrl-C where it runs, or set EVALSITE_DATA_DIR to another folder."
        ) from None
    return lock


def write_owner(lock: int, address: str) -> None:
    """Note in the lock's file who holds it, for the sentence that a second start prints."""
    os.ftruncate(lock, 0)
    os.pwrite(lock, json.dumps({"pid": os.getpid(), "address": address}).encode(), 0)


def running_address(folder: Path) -> str | None:
    """Return the address of the quickstart that runs with this data folder, or None."""
    try:
        lock = os.open(folder / "quickstart.lock", os.O_RDWR)
    except OSError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _owner(lock).get("address")
    finally:
        os.close(lock)
    return None


def _owner(lock: int) -> dict[str, str]:
    try:
        owner = json.loads(os.pread(lock, 4096, 0))
    except ValueError:  # it is between taking the lock and writing
        return {}
    return owner if isinstance(owner, dict) else {}


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens there; raises CannotStart. It is bound now, so that nobody takes the port later."""
    if not 0 <= port <= 65535:
        raise CannotStart(f"{port} is not a port: choose one from 1 to 65535, or 0 for any free one.")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=128)
    except OSError as problem:
        raise CannotStart(_port_advice(host, port, problem)) from None


def _port_advice(host: str, port: int, problem: OSError) -> str:
    if problem.errno == errno.EADDRINUSE:
        other = port + 1 if port < 65535 else 8000
        return (
            f"Port {port} on {host} is taken by another program. "
            f"Choose another one: python3 manage.py quickstart --port {other}"
        )
    if problem.errno == errno.EACCES:
        return f"Port {port} needs more rights than you have: choose one from 1024 on."
    return f"Cannot listen on {host}, port {port}: {problem.strerror or problem}."


def address_of(listener: socket.socket) -> tuple[str, int, str]:
    """Return host and port under which this machine reaches the listener, and the address to show."""
    bound, port = listener.getsockname()[:2]
    host = EVERY_ADDRESS.get(bound, bound)
    return host, port, f"http://{f'[{host}]' if ':' in host else host}:{port}/"


def environment_for(host: str) -> dict[str, str]:
    """Return what the children need in their environment: beyond loopback, the names to answer to."""
    if host in LOOPBACK or os.environ.get("EVALSITE_ALLOWED_HOSTS"):
        return {}
    named = [] if host in EVERY_ADDRESS else [host]
    return {"EVALSITE_ALLOWED_HOSTS": ",".join(["localhost", "127.0.0.1", "[::1]", socket.gethostname(), *named])}


def web_program(listener: socket.socket) -> Program:
    """One process of threads: streaming answers hold a thread each, and SQLite gains nothing from more processes."""
    command = [sys.executable, "-m", "gunicorn", "evalsite.wsgi:application", "--bind", f"fd://{listener.fileno()}"]
    command += ["--worker-class", "gthread", "--workers", "1", "--threads", str(WEB_THREADS)]
    command += [
        "--limit-request-line",
        str(LONGEST_ADDRESS),
        "--graceful-timeout",
        "3",
        "--log-level",
        "warning",
        "--no-control-socket",
    ]
    return Program("web server", command, inherits=[listener.fileno()])


def worker_program() -> Program:
    """Processes, not threads: a run that hangs or crashes in its target's code takes neither the other nor the site."""
    quiet = "ignore:You're running the worker with superuser privileges"  # its messages are JSON, never pickles
    command = [
        sys.executable,
        "-W",
        quiet,
        "-m",
        "celery",
        "--quiet",
        "--app",
        "evalsite",
        "worker",
        "--loglevel",
        "WARNING",
    ]
    command += ["--concurrency", str(WORKER_PROCESSES), "--without-gossip", "--without-mingle"]
    return Program("worker", command)


def plan_of(listener: socket.socket, *, host: str, announcement: str) -> Plan:
    """Return the plan of the embedded set-up: web server and worker, ready when the sign-in page answers."""
    knock_at, port, _ = address_of(listener)
    return Plan(
        programs=[worker_program(), web_program(listener)],
        host=knock_at,
        port=port,
        ready_path="/sign-in/",
        announcement=announcement,
        environment=environment_for(host),
    )
