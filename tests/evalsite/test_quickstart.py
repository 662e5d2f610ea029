"""The one command, as a newcomer calls it: it starts, answers, refuses a second start, stops, and keeps its data."""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from django.conf import settings

LIMIT_S = 90
STOPS_WITHIN_S = 15


class Started:
    """A quickstart on a free port, in a folder of its own, called from another folder."""

    def __init__(self, folder: Path, **environment: str) -> None:
        self.environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("EVALSITE_", "DATABASE_URL", "CELERY_", "DJANGO_"))
        } | {"EVALSITE_DATA_DIR": str(folder), **environment}
        self.output = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed in stop
        self.process = subprocess.Popen(
            self.command("quickstart", "--port", "0"),
            cwd="/",
            env=self.environment,
            stdout=self.output,
            stderr=subprocess.STDOUT,
        )

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, str(Path(settings.BASE_DIR) / "manage.py"), *arguments]

    def call(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            self.command(*arguments), env=self.environment, capture_output=True, text=True, timeout=LIMIT_S, check=False
        )

    def printed(self) -> str:
        self.output.seek(0)
        return self.output.read()

    def sign_in_address(self) -> str:
        until = time.monotonic() + LIMIT_S
        while time.monotonic() < until and self.process.poll() is None:
            found = re.search(r"http://\S+/sign-in/\S+", self.printed())
            if found:
                return found[0]
            time.sleep(0.05)
        pytest.fail(f"it printed no sign-in address:\n{self.printed()}")

    def stop(self) -> float:
        """Ask it to stop and return the seconds that took."""
        began = time.monotonic()
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(STOPS_WITHIN_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        return time.monotonic() - began


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "data of mine"


@pytest.fixture
def started(folder: Path) -> Iterator[Started]:
    site = Started(folder)
    yield site
    if site.process.poll() is None:
        site.stop()
    site.output.close()


def test_a_newcomer_signs_in_and_sees_the_sample_runs_also_after_a_restart(started: Started, folder: Path) -> None:
    address = started.sign_in_address()
    with httpx.Client(follow_redirects=True) as browser:
        assert browser.get(address).status_code == 200
        runs = browser.get(httpx.URL(address).join("/runs/")).text
    assert "skyline-2026.03.0" in runs
    assert "wrong-selection" in runs
    assert httpx.get(address).status_code == 410

    second = started.call("quickstart", "--port", "0")
    assert second.returncode == 1
    assert f"already running with the data in {folder}: {httpx.URL(address).join('/')}" in second.stderr

    another = started.call("sign_in_link").stdout.strip()
    assert another.startswith(str(httpx.URL(address).join("/sign-in/")))
    assert httpx.get(another).status_code == 302

    assert started.stop() < STOPS_WITHIN_S
    assert started.process.returncode == 0
    assert "stopping…" in started.printed()
    assert "Traceback" not in started.printed()

    again = Started(folder, EVALSITE_TARGETS="/not/there.toml")
    try:
        with httpx.Client(follow_redirects=True) as browser:
            browser.get(again.sign_in_address())
            assert "Loading sample data" not in again.printed()
            assert "The targets file /not/there.toml, which EVALSITE_TARGETS names, cannot be read" in again.printed()
            assert "Until that file is mended no run can be started here" in again.printed()
    finally:
        again.stop()
        again.output.close()
