"""``evalrunner push`` and the site, together."""

import json
import threading
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from evalrunner.cli import main
from evalrunner.examples.catalogue import suite_file
from pytest_django.live_server_helper import LiveServer

from reports.models import Run, Team
from reports.services.tokens import create_token
from tests.factories import make_member, report

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def token(team: Team, monkeypatch: pytest.MonkeyPatch) -> str:
    made = create_token(team=team, maker=make_member(team, "runner"), scope="write", name="ci")
    monkeypatch.setenv("EVALSITE_TOKEN", made)
    return made


def write(path: Path, value: dict[str, Any]) -> str:
    path.write_text(json.dumps(value))
    return str(path)


def test_a_report_is_there_once_however_often_it_is_pushed(
    live_server: LiveServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path / "report.json", report("PF"))

    statuses = [main(["push", path, "--site", live_server.url]) for _ in range(2)]

    shown = capsys.readouterr()
    address = f"{live_server.url}/runs/{Run.objects.get().pk}/"
    assert (statuses, shown.out.split()) == ([0, 0], [address, address])
    assert shown.err.splitlines() == [f"{path}: new", f"{path}: was there already"]


def test_a_faulty_report_is_refused_with_its_places_and_a_contradiction_with_its_difference(
    live_server: LiveServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = report("PF")
    write(tmp_path / "good.json", good)
    faulty = write(tmp_path / "faulty.json", good | {"startedAt": 7})
    other = write(tmp_path / "other.json", good | {"fingerprint": "0" * 64})

    statuses = [
        main(["push", path, "--site", live_server.url]) for path in (str(tmp_path / "good.json"), faulty, other)
    ]

    shown = capsys.readouterr().err
    assert statuses == [0, 4, 4]
    assert f"{faulty}: refused (report_invalid)" in shown
    assert "\n  startedAt: " in shown
    assert f"{other}: refused (run_differs)" in shown


def test_a_token_that_was_never_made_is_told(
    live_server: LiveServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OTHER", "never-made")

    status = main(["push", write(tmp_path / "r.json", report("P")), "--site", live_server.url, "--token-env", "OTHER"])

    assert status == 4
    assert "does not accept the token in OTHER (401): This token is unknown" in capsys.readouterr().err


def test_a_run_is_seen_while_it_goes_on_and_ends_finished(
    live_server: LiveServer, tmp_path: Path, client_of_viewer: Client
) -> None:
    """The run waits in its first turn until the site has shown its snapshot."""
    go = tmp_path / "go"
    adapter = f"""
import asyncio, pathlib
from evalrunner.examples.catalogue import CatalogueAdapter

class Session:
    def __init__(self, session):
        self.session = session

    async def send(self, input, context):
        while not pathlib.Path({str(go)!r}).exists():
            await asyncio.sleep(0.02)
        return await self.session.send(input, context)

class Waits(CatalogueAdapter):
    async def open(self, context):
        return Session(await super().open(context))

adapter = Waits(wrong_selection=False, latency_ms=0)
"""
    (tmp_path / "waits.py").write_text(adapter)
    command = ["run", str(suite_file), "--adapter", "waits:adapter", "--output", str(tmp_path / "out.json")]
    command += ["--evaluators", "evalrunner.examples.catalogue:evaluators", "--push", live_server.url]
    statuses: list[int] = []

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        patch.syspath_prepend(str(tmp_path))
        patch.setattr("evalrunner.cli.run.StopSignals", NoSignals)  # only the main thread may handle them
        run = threading.Thread(target=lambda: statuses.append(main(command)))
        run.start()
        seen = shown_while_running(client_of_viewer)
        go.touch()
        run.join(60)

    assert "cases done, 1 running" in seen
    assert statuses == [0]
    assert (Run.objects.get().status, Run.objects.get().origin) == ("completed", "api")


class NoSignals:
    def __init__(self, *functions: object) -> None:
        pass

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        pass


def shown_while_running(client: Client) -> str:
    arrived = threading.Event()
    for _ in range(600):
        run = Run.objects.filter(status="running", running__gt=0).first()
        if run is not None:
            return client.get(f"/runs/{run.pk}/").content.decode()
        arrived.wait(0.05)
    raise AssertionError("no snapshot came")
