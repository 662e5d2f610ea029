"""Open the comparison of two large runs: CPU and queries of the page, the API and one side by side.

    python -m tests.benchmarks.bench_compare [--cases 30000]

Prints one line for each figure. Everything is measured in a process that has shown another comparison before, so that
templates and modules are loaded; the runs compared are new to it.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.benchmarks.generate_reports import write_report

VERSIONS = (1, 2)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cases", type=int, default=30_000)
    cases = parser.parse_args().cases
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"DJANGO_SETTINGS_MODULE": "evalsite.settings", "EVALSITE_DATA_DIR": folder}
        os.environ.pop("DATABASE_URL", None)
        _set_up()
        _open(_imported(Path(folder), 300))  # warms up
        for name, cpu_ms, queries in _open(_imported(Path(folder), cases)):
            print(f"{name}: {cpu_ms:,.0f} ms CPU, {queries} queries ({cases:,} cases a side)")


def _set_up() -> None:
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)
    from reports.models import Membership, Team, User

    team = Team.objects.create(name="bench")
    Membership.objects.create(team=team, user=User.objects.create_user("bench"), role="viewer")


def _imported(folder: Path, cases: int) -> list[str]:
    """Import two versions and return the keys of their runs."""
    from reports.models import Team
    from reports.services.ingest import ingest_report

    runs = []
    for version in VERSIONS:
        path = folder / f"{cases}-{version}.json"
        write_report(path, cases, seed=version, version=version)
        with path.open("rb") as source:
            runs.append(str(ingest_report(team=Team.objects.get(), source=source, origin="command").run_pk))
        path.unlink()
    return runs


def _open(runs: list[str]) -> list[tuple[str, float, int]]:
    from reports.models import Case, Run

    sides = {"baseline": runs[0], "candidate": runs[1]}
    variant = Case.objects.filter(generation__current_run=Run.objects.get(pk=runs[0])).values("variant__key")[0]
    asked: list[tuple[str, str, Mapping[str, Any]]] = [
        ("comparison", "/compare/", sides),
        ("comparison, again", "/compare/", sides),
        ("API", "/api/v1/compare", sides),
        ("side by side", "/compare/case/", sides | {"variant": variant["variant__key"]}),
    ]
    return [(name, *_measured(address, query)) for name, address, query in asked]


def _measured(address: str, query: Mapping[str, Any]) -> tuple[float, int]:
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    from reports.models import User

    client = Client(SERVER_NAME="localhost")
    client.force_login(User.objects.get())
    with CaptureQueriesContext(connection) as queries:
        begun = time.process_time()
        answer = client.get(address, query)
        cpu_ms = (time.process_time() - begun) * 1000
    if answer.status_code != 200:
        sys.exit(f"{address} answered {answer.status_code}")
    return cpu_ms, len(queries)


if __name__ == "__main__":
    main()
