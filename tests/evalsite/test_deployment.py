"""The Procfile runs as it is written, units and documents say the same, and everything stops when it is asked to."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from evalsite.supervisor import Program, dies_with
from reports.pages.metrics import metrics_text
from reports.selectors.operations import operating_numbers
from tests.processes import ROOT

DEPLOY = ROOT / "deploy"
DOCUMENT = (ROOT / "docs" / "deployment.md").read_text()
LIMIT_S = 60


def procfile() -> list[Program]:
    lines = (ROOT / "Procfile").read_text().splitlines()
    return [Program(name, ["sh", "-c", command]) for name, _, command in (line.partition(": ") for line in lines)]


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


class Site:
    """The processes of the Procfile, one of each, on SQLite and the embedded broker."""

    def __init__(self, folder: Path) -> None:
        self.address = f"http://127.0.0.1:{free_port()}"
        own = {"EVALSITE_DATA_DIR": str(folder), "EVALSITE_LOG": "json", "EVALSITE_METRICS_TOKEN": "watcher"}
        own |= {"BIND": self.address.removeprefix("http://"), "WORKER_PROCESSES": "1", "PYTHONWARNINGS": "ignore"}
        hidden = ("EVALSITE_", "DATABASE_URL", "CELERY_", "DJANGO_", "PYTHONWARNINGS")
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith(hidden)} | own
        self.log = folder / "log"
        self.processes: dict[str, subprocess.Popen[bytes]] = {}

    def prepare(self) -> None:
        """Run the lines of `deploy/prepare`, in the environment of the tests."""
        script = as_here((DEPLOY / "prepare").read_text().replace('"$(dirname "$0")/.."', str(ROOT)))
        subprocess.run(["sh", "-c", script], env=self.environment, check=True, capture_output=True)

    def start(self) -> None:
        with self.log.open("wb") as log:
            for program in procfile():
                self.processes[program.name] = subprocess.Popen(
                    [as_here(part) for part in program.command],
                    cwd=ROOT,
                    env=self.environment,
                    stderr=log,
                    stdout=log,
                    start_new_session=True,
                    preexec_fn=dies_with(os.getpid()),
                )

    def wait_until_it_works(self) -> dict[str, object]:
        until = time.monotonic() + LIMIT_S
        while time.monotonic() < until:
            try:
                answer = httpx.get(f"{self.address}/readyz")
            except httpx.TransportError:
                time.sleep(0.1)
                continue
            if answer.status_code == 200 and answer.json()["workerSeenSeconds"] is not None:
                return dict(answer.json())
            time.sleep(0.1)
        raise AssertionError(self.log.read_text())

    def stop(self) -> dict[str, int]:
        for process in self.processes.values():
            process.send_signal(signal.SIGTERM)
        return {name: process.wait(LIMIT_S) for name, process in self.processes.items()}


def as_here(command: str) -> str:
    """The tests may run in another environment than `.venv`; nothing else of a command is changed."""
    return command.replace(".venv/bin/", f"{Path(sys.executable).parent}/")


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    site = Site(tmp_path)
    yield site
    for process in site.processes.values():
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def answer_to_upload(address: str, *, megabytes: int) -> str:
    """Send a report with a token that nobody knows, whole before the answer is read; return the answer's first line."""
    host, _, port = address.removeprefix("http://").partition(":")
    head = (
        f"POST /api/v1/runs/import HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer unknown\r\n"
        f"Content-Type: application/json\r\nContent-Length: {megabytes << 20}\r\nConnection: close\r\n\r\n"
    )
    with socket.create_connection((host, int(port)), timeout=LIMIT_S) as connection:
        connection.sendall(head.encode())
        for _ in range(megabytes):
            connection.sendall(b" " * (1 << 20))
        return connection.makefile("rb").readline().decode().strip()


def test_the_processes_of_the_procfile_serve_work_log_and_stop(site: Site) -> None:
    site.prepare()
    site.start()

    ready = site.wait_until_it_works()
    page = httpx.get(f"{site.address}/sign-in/")
    style = httpx.get(site.address + re.findall(r'href="(/[^"]+\.css)"', page.text)[0])
    numbers = httpx.get(f"{site.address}/metrics", headers={"Authorization": "Bearer watcher"})
    refused = [answer_to_upload(site.address, megabytes=16) for _ in range(5)]
    ended = site.stop()

    assert ready["checks"] == {"database": "ok", "migrations": "ok", "broker": "ok"}
    assert (page.status_code, style.status_code, numbers.status_code) == (200, 200, 200)
    assert refused == ["HTTP/1.1 401 Unauthorized"] * 5
    assert ended == {"web": 0, "worker": 0}
    events = [json.loads(line) for line in site.log.read_text().splitlines() if line.startswith("{")]
    requests = [event for event in events if event["logger"] == "evalsite.request"]
    assert {event["path"] for event in requests} >= {"/sign-in/"}
    assert [event for event in events if event["level"] in ("error", "critical")] == []


def unit_command(path: Path) -> str:
    [command] = re.findall(r"^ExecStart=(.*)$", path.read_text(), re.MULTILINE)
    return str(command)


@pytest.mark.parametrize(("name", "unit"), [("web", "evalsite-web.service"), ("worker", "evalsite-worker@.service")])
def test_the_units_start_what_the_procfile_starts(name: str, unit: str) -> None:
    [command] = [program.command[-1] for program in procfile() if program.name == name]
    defaults = re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", command.removeprefix("exec "))

    started = (
        unit_command(DEPLOY / unit).replace("/opt/evalsite/", "").replace("%%h", "%h").replace("%i@", "worker-$$@")
    )

    assert started == defaults


def test_the_document_shows_the_procfile_and_names_every_file_of_the_folder() -> None:
    assert f"```text\n{(ROOT / 'Procfile').read_text()}```" in DOCUMENT
    for path in DEPLOY.iterdir():
        assert f"deploy/{path.name}" in DOCUMENT


def test_the_example_of_the_environment_sets_variables_that_the_readme_explains() -> None:
    names = re.findall(r"^#?([A-Z_]+)=", (DEPLOY / "evalsite.env").read_text(), re.MULTILINE)

    readme = (ROOT / "README.md").read_text()
    assert names
    assert [name for name in names if f"| `{name}` |" not in readme] == []


@pytest.mark.django_db
def test_every_metric_has_its_row() -> None:
    told = set(re.findall(r"^\| `(evalsite_\w+)", DOCUMENT, re.MULTILINE))

    text = metrics_text(operating_numbers(), worker_seen_s=1.0)
    assert told == set(re.findall(r"^# TYPE (\w+) gauge$", text, re.MULTILINE))
