"""Fixtures for runs that are executed: a targets file, requests, and real workers in processes of their own."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.db import connection
from evalrunner.suites import parse_evaluation_suite

from evalsite.supervisor import dies_with
from reports.domain.run_options import RunOptions
from reports.models import Run, Team, User
from reports.services.executions import RunRequest, request_run
from reports.services.messages import has_broker_server
from tests import factories

# An embedded broker lives in the worker: it cannot be gone without it.
collect_ignore = [] if has_broker_server() else ["test_broker_gone.py"]
ROOT = Path(__file__).resolve().parents[2]
TARGETS = """
[[target]]
name = "resuming"
kind = "python"
id = "tests.resuming"
object = "tests.execution.targets:resuming"

[[target]]
name = "counting"
kind = "python"
id = "tests.counting"
object = "tests.execution.targets:counting"

[[target]]
name = "echo"
kind = "python"
id = "tests.echo"
object = "tests.execution.targets:echo"
external_writes = true
"""
ENDED = {"completed", "cancelled", "limited", "interrupted", "rejected"}

Ask = Callable[..., Run]
Start = Callable[..., "Worker"]


@pytest.fixture
def targets_file(tmp_path: Path, settings: LazySettings) -> Path:
    """A targets file with the echo target, in use."""
    path = tmp_path / "targets.toml"
    path.write_text(TARGETS)
    settings.TARGETS_FILE = str(path)
    return path


def scenario(scenario_id: str, *inputs: dict[str, Any]) -> dict[str, Any]:
    """Return a scenario with one step per input, each of which must be answered ``completed``."""
    made = factories.scenario(scenario_id)
    assertions = made["steps"][0]["assertions"]
    steps = [
        {"id": f"step-{number}", "input": input, "assertions": assertions} for number, input in enumerate(inputs, 1)
    ]
    return made | {"steps": steps or made["steps"]}


def hide_evaluators(targets_file: Path) -> None:
    """Let a module hold the evaluators of the echo target, which is read by its worker alone."""
    with targets_file.open("a") as file:
        file.write('evaluators = "tests.execution.targets:echo.evaluators"\n')


@pytest.fixture
def ask(team: Team, runner: User, targets_file: Path) -> Ask:
    """Return a function that requests a run of scenarios (ids, or whole scenarios) and gives its row."""

    def ask(
        *scenarios: str | dict[str, Any],
        key: str = "",
        may_write: bool = False,
        target: str = "echo",
        assertions: Sequence[dict[str, Any]] = (),
        **options: Any,
    ) -> Run:
        made = [scenario(each) if isinstance(each, str) else each for each in scenarios]
        suite = parse_evaluation_suite(factories.suite(scenarios=made, assertions=list(assertions)))
        request = RunRequest(target, "one", suite, RunOptions(**options))
        requested = request_run(
            team=team,
            user=runner,
            origin="web",
            request=request,
            may_authorise_writes=may_write,
            idempotency_key=key,
        )
        return Run.objects.get(pk=requested.run_pk)

    return ask


def wait_until(holds: Callable[[], bool], *, within_s: float = 40.0) -> None:
    """Look again and again until something holds; fail when it takes too long."""
    until = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < until, "it did not happen in time"
        time.sleep(0.05)


def has_ended(run: Run) -> bool:
    run.refresh_from_db()
    return run.status in ENDED


class Worker:
    """A Celery worker in a process of its own, on the database of the tests.

    ``own`` are environment variables of it alone; ``has_troubles``: its log may tell of what the test does to it.
    """

    def __init__(self, targets: Path | None, folder: Path, number: int, own: dict[str, str], *, troubles: bool) -> None:
        self.has_troubles = troubles
        self.log = folder / f"worker-{number}.log"
        command = [sys.executable, "-m", "celery", "-A", "evalsite", "worker", "--concurrency", "2"]
        command += ["--loglevel", "WARNING", "--without-gossip", "--without-mingle", "-n", f"tests-{number}@%h"]
        environment = os.environ | {
            "DATABASE_URL": database_url(),
            "DJANGO_SETTINGS_MODULE": "tests.execution.settings",
            "EVALSITE_DATA_DIR": str(folder),
            "EVALSITE_TARGETS": str(targets or ""),
            "PYTHONPATH": f"{ROOT}:{ROOT / 'vendor/evalrunner'}",
            **own,
        }
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                command,
                cwd=ROOT,
                env=environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=dies_with(os.getpid()),
            )

    def stop(self) -> int:
        """Ask the worker to end and return its exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(30)

    def kill(self) -> None:
        """End it as a crash does."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(15)


def database_url() -> str:
    """Return the address of the database that the tests use now."""
    of = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{of['NAME']}"
    return f"postgres://{of['USER']}:{of['PASSWORD']}@{of['HOST']}:{of['PORT']}/{of['NAME']}"


@pytest.fixture
def start_worker(transactional_db: None, targets_file: Path, tmp_path: Path) -> Iterator[Start]:
    """Return a function that starts a worker; each is stopped at the end of the test.

    It takes environment variables, and ``troubles=True`` where the test takes something away from it.
    """
    workers: list[Worker] = []

    def start(*, troubles: bool = False, **own: str) -> Worker:
        workers.append(Worker(targets_file, tmp_path, len(workers), own, troubles=troubles))
        return workers[-1]

    yield start
    for worker in workers:
        if worker.process.poll() is None:
            worker.kill()  # a polite end takes Celery seven seconds
    for worker in workers:
        said = "" if worker.has_troubles else worker.log.read_text()
        assert "Traceback" not in said and "database is locked" not in said, said
