"""Compare two large runs: page, API, side by side and command line, beside a floor and what other tools took.

    python -m tests.benchmarks.bench_compare [--cases 30000] [--scenarios 2000] [--variants 1] [--database-url URL]

The floor is plain SQL on the same tables: the two runs joined by place, every transition counted, fifty regressions
read, nothing shown. Everything is measured in a process that has shown another comparison before, so that templates
and modules are loaded; the runs compared are new to it. CPU is that of this process: what PostgreSQL's own processes
use shows in the wall time only. A database of ``--database-url`` must be empty.
"""

import argparse
import gzip
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.benchmarks.bench_import import PEAK
from tests.benchmarks.generate_reports import SCENARIOS, Shape, write_report
from tests.benchmarks.peers import peers_table

ROOT = Path(__file__).resolve().parents[2]
VERSIONS = (1, 2)

COMMAND = """
import contextlib, io, json, sys, time
from evalrunner.cli import main
sys.argv = ["evalrunner", *sys.argv[1:]]
before = time.process_time()
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    main()
print(json.dumps({"cpu_s": time.process_time() - before, "mib": peak_mib()}))
"""


@dataclass(frozen=True, slots=True)
class Figure:
    """What one request cost; sizes in bytes."""

    name: str
    cpu_ms: float
    wall_ms: float
    queries: int = 0
    size: int = 0
    packed: int = 0

    def line(self, floor: "Figure") -> str:
        ratio = f"{self.cpu_ms / floor.cpu_ms:6.1f}"
        sizes = f"{self.size / 1000:8,.0f} {self.packed / 1000:8.1f}" if self.size else ""
        return f"{self.name:28} {self.cpu_ms:9,.0f} {ratio} {self.wall_ms:9,.0f} {self.queries:8} {sizes}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cases", type=int, default=30_000)
    parser.add_argument("--scenarios", type=int, default=SCENARIOS)
    parser.add_argument("--variants", type=int, default=1)
    parser.add_argument("--database-url", default="", help="SQLite in a temporary folder if not given")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        set_up(folder, options.database_url)
        shape = Shape(options.scenarios, options.variants)
        warm = _imported(_reports(Path(folder), 300, shape, seed=2))
        list(_figures(warm))
        files = _reports(Path(folder), options.cases, shape, seed=1)
        _print_site(options.cases, _imported(files))
        _print_commands(files)
    print(f"\n{peers_table()}")


def _print_site(cases: int, runs: list[str]) -> None:
    before, _peak = _memory_mib()
    figures = list(_figures(runs))
    after, peak = _memory_mib()
    print(f"{cases:,} cases a side{'':13} CPU ms  × floor  wall ms  queries       KB  KB gzip")
    for figure in figures:
        print(figure.line(figures[0]))
    print(f"memory of the process: {before:.0f} MiB before, {after:.0f} MiB after, {peak:.0f} MiB at most")


def _print_commands(files: list[Path]) -> None:
    for command in ("compare", "gate"):
        program = [sys.executable, "-c", PEAK + COMMAND, command, *map(str, files)]
        environment = os.environ | {"PYTHONPATH": str(ROOT / "vendor" / "evalrunner")}
        done = subprocess.run(program, env=environment, check=True, capture_output=True, text=True)
        cost = re.findall(r"[\d.]+", done.stdout)
        size = sum(file.stat().st_size for file in files) / 1e6
        print(f"evalrunner {command} on {size:,.0f} MB: {float(cost[0]):.1f} s CPU, {float(cost[1]):.0f} MiB at most")


def set_up(folder: str, database_url: str = "") -> None:
    """Make an empty site with one team and a viewer."""
    os.environ |= {"DJANGO_SETTINGS_MODULE": "evalsite.settings", "EVALSITE_DATA_DIR": folder}
    os.environ["DATABASE_URL"] = database_url or f"sqlite:///{folder}/bench.sqlite3"
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)
    from reports.models import Membership, Team, User

    team = Team.objects.create(name="bench")
    Membership.objects.create(team=team, user=User.objects.create_user("bench"), role="viewer")


def _reports(folder: Path, cases: int, shape: Shape, *, seed: int) -> list[Path]:
    files = [folder / f"{cases}-{version}.json" for version in VERSIONS]
    for file, version in zip(files, VERSIONS, strict=True):
        write_report(file, cases, seed=seed, version=version, shape=shape)
    return files


def _imported(files: list[Path]) -> list[str]:
    """Import reports and return the keys of their runs."""
    from reports.models import Team
    from reports.selectors import compare
    from reports.services.ingest import ingest_report

    runs = []
    for file in files:
        with file.open("rb") as source:
            runs.append(str(ingest_report(team=Team.objects.get(), source=source, origin="command").run_pk))
    compare._KEPT.clear()  # the import has compared the second with the first
    return runs


def _figures(runs: list[str]) -> Iterator[Figure]:
    from reports.models import Case, Run

    sides = {"baseline": runs[0], "candidate": runs[1]}
    generations = [Run.objects.values_list("generation", flat=True).get(pk=run) for run in runs]
    variant = Case.objects.filter(generation=generations[0]).values_list("variant__key", flat=True)[0]
    yield _floor(*generations)
    yield measured("comparison", "/compare/", sides)
    yield measured("comparison, again", "/compare/", sides)
    for name, query in (
        ("the next page", {"after": variant, "class": "all"}),
        ("rows that stayed", {"class": "steady"}),
        ("a cell of the matrix", {"from": "passed", "to": "failed"}),
        ("rows with a text", {"q": "00017"}),
    ):
        yield measured(name, "/compare/", sides | query)
    yield measured("API", "/api/v1/compare", sides)
    yield measured("side by side", "/compare/case/", sides | {"variant": variant})
    yield measured("run page", f"/runs/{runs[1]}/", {})


FLOOR = """FROM reports_case b JOIN reports_case c ON c.generation_id = %s AND c.position = b.position
    WHERE b.generation_id = %s"""


def _floor(baseline: int | None, candidate: int | None) -> Figure:
    from django.db import connection

    def read() -> None:
        with connection.cursor() as cursor:
            sides = [candidate, baseline]
            cursor.execute(f"SELECT b.status, c.status, COUNT(*) {FLOOR} GROUP BY 1, 2", sides)
            cursor.fetchall()
            regressed = "AND b.status = 'passed' AND c.status = 'failed' ORDER BY b.position LIMIT 50"
            cursor.execute(f"SELECT b.id, b.name, b.status, c.status {FLOOR} {regressed}", sides)
            cursor.fetchall()

    read()
    return Figure("floor (SQL alone)", *_timed(read), queries=2)


def _timed(work: Callable[[], object]) -> tuple[float, float]:
    """Return CPU and wall time in milliseconds."""
    began = time.process_time(), time.perf_counter()
    work()
    return (time.process_time() - began[0]) * 1000, (time.perf_counter() - began[1]) * 1000


def measured(name: str, address: str, query: Mapping[str, Any]) -> Figure:
    """Open an address as the viewer and return what that cost."""
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    from reports.models import User

    client = Client(SERVER_NAME="localhost")
    client.force_login(User.objects.get())
    answers: list[Any] = []
    with CaptureQueriesContext(connection) as queries:
        times = _timed(lambda: answers.append(client.get(address, query)))
    if answers[0].status_code != 200:
        sys.exit(f"{address} answered {answers[0].status_code}")
    content = answers[0].content
    return Figure(name, *times, len(queries), len(content), len(gzip.compress(content)))


def _memory_mib() -> tuple[float, float]:
    """Return what the process holds now, and what it held at most."""
    text = Path("/proc/self/status").read_text()
    now, peak = (int(found[1]) / 1024 for name in ("VmRSS", "VmHWM") if (found := re.search(rf"{name}:\s+(\d+)", text)))
    return now, peak


if __name__ == "__main__":
    main()
