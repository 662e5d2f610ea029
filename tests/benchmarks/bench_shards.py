"""One run over 1, 2, 4 and 8 workers: does the throughput of a target that takes its time grow with them?

    python -m tests.benchmarks.bench_shards [--cases 240] [--workers 1 2 4 8] [--postgres URL] [--broker URL]

The target does nothing for 200 ms. Real workers (one process each) share one run, which has as many shards, on a
database of its own on a PostgreSQL server, by way of Redis. Throughput is that of the cases, from the first that begins
to the last that ends; ideal are five cases a second for each worker. What comes before and after, from the claim of the
run to its end, is printed beside it.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from tests.benchmarks.waiting_target import LATENCY_S

ROOT = Path(__file__).resolve().parents[2]
TARGETS = """
[[target]]
name = "waiting"
kind = "python"
id = "bench.waiting"
object = "tests.benchmarks.waiting_target:waiting"
"""
SETTLES_S = 60.0
RUN_S = 600.0


@dataclass(frozen=True)
class Measured:
    """How long the cases of a run took, and the run as a whole, in seconds."""

    workers: int
    cases: int
    cases_s: float
    run_s: float

    @property
    def rate(self) -> float:
        return self.cases / self.cases_s

    def words(self, first: Measured) -> str:
        ideal = self.workers / LATENCY_S
        return (
            f"{self.workers:7} {self.cases_s:9.2f} {self.rate:8.1f} {ideal:8.1f} {self.rate / ideal:9.0%} "
            f"{self.rate / first.rate:9.2f} {self.run_s:9.2f}"
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cases", type=int, default=240)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4, 8])
    parser.add_argument("--postgres", default="postgresql://postgres@127.0.0.1:5432/postgres")
    parser.add_argument("--broker", default="redis://127.0.0.1:6379/6")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, _database(options.postgres) as url:
        _set_up(Path(folder), url, options.broker)
        print("workers   cases s  cases/s    ideal  of ideal  × first     run s", flush=True)
        first: Measured | None = None
        for workers in options.workers:
            with _workers(workers, Path(folder)):
                measured = _measure(workers, options.cases)
            first = first or measured
            print(measured.words(first), flush=True)
    return 0


@contextmanager
def _database(server: str) -> Iterator[str]:
    """Make a database of its own and remove it in the end."""
    name = f"bench_shards_{os.getpid()}"
    with psycopg.connect(server, autocommit=True) as administrator:
        administrator.execute(f"CREATE DATABASE {name}")
        try:
            yield f"{server.rpartition('/')[0]}/{name}"
        finally:
            administrator.execute(f"DROP DATABASE {name} WITH (FORCE)")


def _set_up(folder: Path, database: str, broker: str) -> None:
    (folder / "targets.toml").write_text(TARGETS)
    os.environ |= {
        "DATABASE_URL": database,
        "CELERY_BROKER_URL": broker,
        "DJANGO_SETTINGS_MODULE": "evalsite.settings",
        "EVALSITE_DATA_DIR": str(folder),
        "EVALSITE_TARGETS": str(folder / "targets.toml"),
        "PYTHONPATH": f"{ROOT}:{ROOT / 'vendor/evalrunner'}",
    }
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)


@contextmanager
def _workers(number: int, folder: Path) -> Iterator[None]:
    """Run workers of one process each; entered once all of them answer."""
    started = [_start(place, folder) for place in range(number)]
    try:
        _wait_for(started, folder)
        yield
    finally:
        for worker in started:
            worker.terminate()
        for worker in started:
            worker.wait(60)


def _start(place: int, folder: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "celery", "-A", "evalsite", "worker", "--concurrency", "1"]
    command += ["--loglevel", "WARNING", "--without-gossip", "--without-mingle", "-n", f"bench-{place}@%h"]
    with (folder / f"worker-{place}.log").open("ab") as log:
        return subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log)


def _wait_for(started: Sequence[subprocess.Popen[bytes]], folder: Path) -> None:
    from celery import current_app

    until = time.monotonic() + SETTLES_S
    while len(current_app.control.ping(timeout=1.0) or ()) < len(started):
        for place, worker in enumerate(started):
            if worker.poll() is not None:
                raise SystemExit((folder / f"worker-{place}.log").read_text()[-2000:])
        if time.monotonic() > until:
            raise SystemExit(f"{len(started)} workers did not start")


def _measure(workers: int, cases: int) -> Measured:
    from reports.models import Run, RunEvent

    run = _ask(workers, cases)
    until = time.monotonic() + RUN_S
    while Run.objects.filter(pk=run, status__in=("queued", "running")).exists():
        if time.monotonic() > until:
            raise SystemExit("the run did not end")
        time.sleep(0.1)
    made = Run.objects.select_related("execution").get(pk=run)
    if (made.status, made.passed) != ("completed", cases):
        raise SystemExit(f"the run ended {made.status}, {made.passed} of {cases} cases passed")
    at = list(RunEvent.objects.filter(run=run).order_by("sequence").values_list("at", flat=True))
    assert made.execution.claimed_at is not None
    return Measured(
        workers, cases, (at[-2] - at[1]).total_seconds(), (at[-1] - made.execution.claimed_at).total_seconds()
    )


def _ask(workers: int, cases: int) -> Any:
    """Request a run of as many shards as there are workers."""
    from evalrunner.suites import parse_evaluation_suite

    from reports.domain.run_options import RunOptions
    from reports.services.executions import RunRequest, request_run
    from tests import factories

    team = factories.make_team()
    user = factories.make_member(team, "runner")
    suite = parse_evaluation_suite(factories.suite(*(f"case-{number}" for number in range(cases))))
    options = RunOptions(shards=workers, max_cases=cases)
    request = RunRequest("waiting", "one", suite, options)
    return request_run(team=team, user=user, origin="command", request=request).run_pk


if __name__ == "__main__":
    sys.exit(main())
