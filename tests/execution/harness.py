"""Runs of scenario files: a target of kind ``harness``, files on disk, requests as the form and the API make them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.conf import LazySettings

from reports.domain.harness.options import USUAL, HarnessOptions
from reports.domain.run_options import RunOptions
from reports.models import Run, Team, User
from reports.services.executing import execute_run
from reports.services.executions import RunRequest, find_entry, request_run
from reports.services.run_suites import find_suite, is_offered, store_suite

CONFIG = """
[profiles.scripted]
provider = "fake"
model_id = "scripted"
response = "All done."
"""
Row = dict[str, Any]


def scenario(id: str = "greet", prompt: str = "Hello", **members: Any) -> Row:
    return {"id": id, "prompt": prompt} | members


def calling(*calls: tuple[str, Mapping[str, Any]]) -> str:
    """Return a profile ``scripted`` that makes tool calls, one in each request, and then answers."""
    steps = (
        "\n[[profiles.scripted.script]]\n"
        f"tool_calls = [{{ tool_id = {json.dumps(tool)}, arguments = {_inline(arguments)} }}]\n"
        for tool, arguments in calls
    )
    return CONFIG + "".join(steps)


def _inline(arguments: Mapping[str, Any]) -> str:
    return "{ " + ", ".join(f"{name} = {json.dumps(value)}" for name, value in arguments.items()) + " }"


class Harness:
    """A site with one target of kind ``harness``. ``write`` sets it up, ``run`` asks for a run and executes it."""

    def __init__(self, folder: Path, settings: LazySettings, team: Team, user: User) -> None:
        self.folder, self.team, self.user = folder, team, user
        self.data = folder / "data"
        self.data.mkdir()
        settings.TARGETS_FILE = str(folder / "targets.toml")
        settings.DATA_DIR = str(self.data)
        self.write()

    def write(self, *rows: Row, config: str = CONFIG, keys: str = "") -> None:
        """Write the scenario file, the configuration and the targets file with further keys of the target."""
        (self.folder / "rows.jsonl").write_text(self.text(*(rows or (scenario(),))))
        (self.folder / "kairox.toml").write_text(config)
        (self.folder / "targets.toml").write_text(
            '[[target]]\nname = "assistant"\nkind = "harness"\nscenarios = ["rows.jsonl"]\nconfig = "kairox.toml"\n'
            f'{keys}\n[target.fingerprint]\nfrom = "asked"\n'
        )

    @staticmethod
    def text(*rows: Row) -> str:
        return "".join(json.dumps(row) + "\n" for row in rows)

    def upload(self, *rows: Row) -> str:
        """Store a scenario file as a member brings it along and return the choice of it."""
        return f"revision:{store_suite(team=self.team, content=self.text(*rows).encode()).pk}"

    def ask(self, suite: str = "offered:0", harness: HarnessOptions = USUAL, **options: Any) -> Run:
        entry = find_entry("assistant")
        request = RunRequest(
            entry.name,
            "v1",
            find_suite(self.team, entry, suite),
            RunOptions(harness=harness, **options),
            is_offered=is_offered(suite),
        )
        requested = request_run(team=self.team, user=self.user, origin="web", request=request)
        return Run.objects.get(pk=requested.run_pk)

    def run(self, suite: str = "offered:0", harness: HarnessOptions = USUAL, **options: Any) -> Run:
        run = self.ask(suite, harness, **options)
        execute_run(run_pk=run.pk)
        return Run.objects.select_related("execution").get(pk=run.pk)
