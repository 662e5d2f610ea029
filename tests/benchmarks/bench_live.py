"""Two hundred open pages of running runs: does the site stay responsive?

    python -m tests.benchmarks.bench_live [--pages 200] [--runs 20] [--seconds 30] [--port 8190]

Starts the web server as it is deployed (gunicorn, 2 processes of 4 threads) on a database of its own (SQLite, or the
one of ``DATABASE_URL``, which must be empty), with runs that go on: a writer stores a turn's event of each run every
second, as a worker would. Each open page asks for its state as often as it is told, as a browser does. Prints how long
those answers and those of ordinary pages, opened meanwhile, took; the first third, in which the pace settles, is left
out.
"""

import argparse
import http.client
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
POLL_S = 1.0
CASES = 200


@dataclass
class Answers:
    """How long answers to requests from a moment on took, in milliseconds, and how many were not 2xx or 3xx."""

    from_s: float
    took_ms: list[float] = field(default_factory=list)
    faults: int = 0

    @property
    def words(self) -> str:
        if len(self.took_ms) < 2:
            return "no answers"
        cuts = statistics.quantiles(self.took_ms, n=100)
        return (
            f"{len(self.took_ms):,} answers, median {cuts[49]:,.0f} ms, 95% within {cuts[94]:,.0f} ms, "
            f"slowest {max(self.took_ms):,.0f} ms, {self.faults} faults"
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    for name, default in (("pages", 200), ("runs", 20), ("seconds", 30), ("port", 8190)):
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"DJANGO_SETTINGS_MODULE": "evalsite.settings", "EVALSITE_DATA_DIR": folder}
        runs, session = _set_up(options.runs)
        done = threading.Event()
        server = _serve(options.port)
        try:
            _wait_for(options.port)
            threading.Thread(target=_write, args=(runs, done), daemon=True).start()
            polls, pages = _measure(runs, session, options, done)
        finally:
            done.set()
            server.terminate()
            server.wait(20)
    print(f"{options.pages} open pages of {options.runs} running runs, {options.seconds} s")
    print(f"their polls: {polls.words}")
    print(f"pages opened meanwhile: {pages.words}")
    return 0 if not (polls.faults or pages.faults) else 1


def _set_up(number: int) -> tuple[Sequence[str], str]:
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)
    call_command("createcachetable", verbosity=0)
    call_command("collectstatic", verbosity=0, interactive=False)
    from django.test import Client

    from reports.models import Execution, Run
    from tests import factories

    team = factories.make_team("bench")
    client = Client()
    client.force_login(factories.make_member(team, "runner"))
    runs = []
    for _ in range(number):
        made = factories.report("P" * 40 + "R" * 4 + "N" * (CASES - 44), status="running")
        run = factories.stored(team, made)
        Execution.objects.create(run=run, target_name="bench", request={"planned_cases": CASES, "planned_turns": CASES})
        Run.objects.filter(pk=run.pk).update(origin="web")
        runs.append(str(run.pk))
    return runs, client.cookies["sessionid"].value


def _serve(port: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "gunicorn", "evalsite.wsgi", "--bind", f"127.0.0.1:{port}"]
    command += ["--worker-class", "gthread", "--workers", "2", "--threads", "4", "--log-level", "warning"]
    return subprocess.Popen(command, cwd=ROOT)


def _wait_for(port: int) -> None:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            _get(http.client.HTTPConnection("127.0.0.1", port, timeout=2), "/sign-in/", {})
        except OSError:
            time.sleep(0.2)
        else:
            return
    raise SystemExit("the web server did not start")


def _write(runs: Sequence[str], done: threading.Event) -> None:
    """Store an event of each run every second: what every open page shows has changed by its next poll."""
    from django.utils import timezone

    from reports.models import Execution, RunEvent

    for sequence in range(1, 1_000_000):
        if done.wait(POLL_S):
            return
        now = timezone.now()
        for run in runs:
            RunEvent.objects.create(
                run_id=run, sequence=sequence, type="turn.completed", position=40, step_id="ask", at=now
            )
        Execution.objects.filter(pk__in=list(map(uuid.UUID, runs))).update(heartbeat_at=now)


def _measure(
    runs: Sequence[str], session: str, options: argparse.Namespace, done: threading.Event
) -> tuple[Answers, Answers]:
    begun = time.monotonic()
    until, settled_s = begun + options.seconds, begun + options.seconds / 3
    polls, pages = Answers(settled_s), Answers(settled_s)
    readers = [
        threading.Thread(target=_poll, args=(options.port, runs[number % len(runs)], session, polls, until, number))
        for number in range(options.pages)
    ]
    readers.append(threading.Thread(target=_browse, args=(options.port, runs, session, pages, until)))
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    return polls, pages


def _poll(port: int, run: str, session: str, answers: Answers, until: float, number: int) -> None:
    time.sleep(number * POLL_S / 200 % POLL_S)  # nobody opens two hundred pages in the same instant
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    headers = {"Cookie": f"sessionid={session}", "HX-Request": "true"}
    seen, interval_s = "", POLL_S
    while time.monotonic() < until:
        begun = time.monotonic()
        etag, body = _timed(connection, f"/runs/{run}/live/?seen={seen}&done=40", headers, answers)
        seen = etag or seen
        told = re.search(rb'hx-trigger="every (\d+)s"', body)
        interval_s = float(told[1]) if told else interval_s
        time.sleep(max(0.0, interval_s - (time.monotonic() - begun)))


def _browse(port: int, runs: Sequence[str], session: str, answers: Answers, until: float) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    addresses = _cycle(["/", "/runs/", f"/runs/{runs[0]}/", "/targets/", f"/runs/{runs[-1]}/cases/0/"])
    while time.monotonic() < until:
        _timed(connection, next(addresses), {"Cookie": f"sessionid={session}"}, answers)
        time.sleep(0.2)


def _cycle(addresses: Sequence[str]) -> Iterator[str]:
    while True:
        yield from addresses


def _timed(
    connection: http.client.HTTPConnection, address: str, headers: dict[str, str], answers: Answers
) -> tuple[str, bytes]:
    begun = time.monotonic()
    try:
        try:
            status, etag, body = _get(connection, address, headers)
        except ConnectionError:  # it was idle for longer than the server keeps it; browsers ask again
            connection.close()
            status, etag, body = _get(connection, address, headers)
    except (OSError, http.client.HTTPException):
        connection.close()
        answers.faults += 1
        return "", b""
    if begun >= answers.from_s:
        answers.took_ms.append((time.monotonic() - begun) * 1000)
    answers.faults += status >= 400
    return etag, body


def _get(connection: http.client.HTTPConnection, address: str, headers: dict[str, Any]) -> tuple[int, str, bytes]:
    connection.request("GET", address, headers=headers)
    answer = connection.getresponse()
    body = answer.read()
    return answer.status, (answer.headers.get("ETag") or "").strip('"'), body


if __name__ == "__main__":
    sys.exit(main())
