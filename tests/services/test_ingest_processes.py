"""Three processes import the same report at the same moment, on both databases."""

import json
import subprocess
import sys
from pathlib import Path

from tests.factories import report
from tests.processes import ROOT, fresh_postgres_database, migrate, run_program, site_environment

IMPORTING = """
import django, sys
django.setup()
from reports.models import Team
from reports.services.ingest import ingest_report
team = Team.objects.get(name="shared")
print("ready", flush=True)
sys.stdin.readline()
with open(sys.argv[1], "rb") as source:
    print(ingest_report(team=team, source=source, origin="command").outcome)
"""
MAKING_TEAM = """
import django
django.setup()
from reports.models import Team
Team.objects.create(name="shared")
"""
COUNTING = """
import django
django.setup()
from reports.models import *
print(Run.objects.count(), Generation.objects.count(), Case.objects.count(), Turn.objects.count(),
      Version.objects.count(), SuiteRevision.objects.count(), ScenarioVariant.objects.count())
"""


def import_at_once(path: Path, env: dict[str, str]) -> list[str]:
    """Let three processes get ready, start them together, and return what they answered."""
    command = [sys.executable, "-c", IMPORTING, str(path)]
    processes = [
        subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT)
        for _ in range(3)
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    answers = [process.communicate(timeout=60)[0].strip() for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0]
    return answers


def check_one_run(database_url: str, folder: Path) -> None:
    path = folder / "report.json"
    path.write_text(json.dumps(report("PF" * 150)))
    env = site_environment(database_url, folder)
    migrate(env)
    run_program(MAKING_TEAM, env)

    answers = import_at_once(path, env)

    assert sorted(answers) == ["created", "unchanged", "unchanged"]
    assert run_program(COUNTING, env).split() == ["1", "1", "300", "300", "1", "1", "1"]


def test_three_processes_make_one_run_on_sqlite(tmp_path: Path) -> None:
    check_one_run(f"sqlite:///{tmp_path / 'site.sqlite3'}", tmp_path)


def test_three_processes_make_one_run_on_postgresql(tmp_path: Path, postgres_url: str) -> None:
    with fresh_postgres_database(postgres_url) as url:
        check_one_run(url, tmp_path)
