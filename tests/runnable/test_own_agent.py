"""The agents of ``examples/own-agent`` can be run as they stand, and the walk-through names what is there."""

import importlib.util
import re
import shutil
import threading
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from io import StringIO
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.core.management import call_command

from reports.domain.run_options import RunOptions
from reports.models import Run, Team, User
from reports.runnable import find_target
from reports.services.executing import execute_run
from reports.services.executions import RunRequest, request_run
from reports.services.run_suites import offered_suite
from tests.processes import ROOT

pytestmark = pytest.mark.django_db(transaction=True)

EXAMPLE = ROOT / "examples" / "own-agent"
WALK = (ROOT / "docs" / "own-agent.md").read_text()


@pytest.fixture
def copied(tmp_path: Path, settings: LazySettings) -> Iterator[Path]:
    """A copy of the folder in use, as the walk-through makes one, with the service answering on a free port."""
    folder = tmp_path / "my-agent"
    shutil.copytree(EXAMPLE, folder)
    found = importlib.util.spec_from_file_location("own_agent_service", folder / "service.py")
    assert found is not None and found.loader is not None
    service = importlib.util.module_from_spec(found)
    found.loader.exec_module(service)
    server = ThreadingHTTPServer(("127.0.0.1", 0), service.Service)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    targets = folder / "targets.toml"
    targets.write_text(targets.read_text().replace(":8009/", f":{server.server_address[1]}/"))
    settings.TARGETS_FILE = str(targets)
    yield folder
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize("name", ["own-python", "own-http", "own-command"])
def test_each_of_the_agents_is_run_and_passes(copied: Path, team: Team, runner: User, name: str) -> None:
    entry = find_target(name)
    assert entry is not None
    request = RunRequest(name, "1", offered_suite(entry, 0), RunOptions(repetitions=2))
    asked = request_run(
        team=team, user=runner, origin="web", request=request, may_authorise_writes=False, idempotency_key=""
    )

    execute_run(run_pk=asked.run_pk)

    run = Run.objects.get(pk=asked.run_pk)
    assert (run.status, run.passed, run.total, run.is_passing) == ("completed", 2, 2, True)
    assert run.version.target.target_id == "own-agent"


def test_check_targets_finds_nothing_to_mend(copied: Path) -> None:
    said = StringIO()

    call_command("check_targets", stdout=said)

    assert said.getvalue().count("works: a conversation was opened and closed") == 3
    assert "FAILS" not in said.getvalue()


def test_the_walk_through_names_every_file_of_the_folder_and_no_other() -> None:
    named = set(re.findall(r"`([\w-]+\.(?:py|mjs|json|toml))`", WALK))

    assert named == {path.name for path in EXAMPLE.iterdir() if path.is_file()} | {"manage.py"}
