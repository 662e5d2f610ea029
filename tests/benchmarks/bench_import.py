"""Import one large report: peak memory of the importing process, and CPU a case beside a bare parse.

    python -m tests.benchmarks.bench_import [--cases 30000] [--database-url URL]

Prints one line for each figure and ends with status 1 when the importing process took 200 MiB or more. The floor is
``json.loads`` of the same file in one piece, in a process of its own, in the same run.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.benchmarks.generate_reports import write_report

ROOT = Path(__file__).resolve().parents[2]
LIMIT_MIB = 200

# Not ru_maxrss: on Linux it begins with the size of the process that started this one.
PEAK = """
import re
def peak_mib():
    with open("/proc/self/status") as status:
        return int(re.search(r"VmHWM:\\s+(\\d+) kB", status.read())[1]) / 1024
"""

IMPORTING = """
import django, json, sys, time
django.setup()
from reports.models import Team
from reports.services.ingest import ingest_report
team = Team.objects.create(name="bench")
before = time.process_time()
with open(sys.argv[1], "rb") as source:
    ingested = ingest_report(team=team, source=source, origin="command")
cpu_s = time.process_time() - before
print(json.dumps({"cpu_s": cpu_s, "mib": peak_mib(),
                  "outcome": ingested.outcome}))
"""

PARSING = """
import gc, json, sys, time
gc.disable()
before = time.process_time()
with open(sys.argv[1], "rb") as source:
    json.loads(source.read())
cpu_s = time.process_time() - before
print(json.dumps({"cpu_s": cpu_s, "mib": peak_mib()}))
"""


def measure_import(report: Path, data_dir: Path, database_url: str = "") -> dict[str, Any]:
    """Import a file in a process of its own, into a database made for it; return ``cpu_s``, ``mib`` and ``outcome``."""
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": "evalsite.settings",
        "EVALSITE_DATA_DIR": str(data_dir),
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "vendor" / "evalrunner")]),
        "DATABASE_URL": database_url or f"sqlite:///{data_dir / 'bench.sqlite3'}",
    }
    migrate = [sys.executable, "-m", "django", "migrate", "--verbosity=0", "--skip-checks"]
    subprocess.run(migrate, env=environment, check=True, cwd=ROOT)
    return _figures(IMPORTING, report, environment)


def measure_parse(report: Path) -> dict[str, Any]:
    return _figures(PARSING, report, dict(os.environ))


def _figures(program: str, report: Path, environment: dict[str, str]) -> dict[str, Any]:
    command = [sys.executable, "-c", PEAK + program, str(report)]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True, cwd=ROOT)
    figures: dict[str, Any] = json.loads(done.stdout)
    return figures


def main() -> int:
    parser = argparse.ArgumentParser(description="Import one large report and print what it cost.")
    parser.add_argument("--cases", type=int, default=30_000)
    parser.add_argument(
        "--database-url", default="", help="an empty database; SQLite in a temporary folder if not given"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        write_report(report, options.cases)
        floor = measure_parse(report)
        figures = measure_import(report, Path(folder), options.database_url)
        print(f"report            {report.stat().st_size / 1e6:.0f} MB, {options.cases:,} cases")
    print(f"peak memory       {figures['mib']:.0f} MiB (limit {LIMIT_MIB}); bare parse {floor['mib']:.0f} MiB")
    per_case, floor_per_case = (1000 * each["cpu_s"] / options.cases for each in (figures, floor))
    ratio = per_case / floor_per_case
    print(f"CPU a case        {per_case:.3f} ms; bare parse {floor_per_case:.3f} ms; ratio {ratio:.1f}")
    return 0 if figures["mib"] < LIMIT_MIB else 1


if __name__ == "__main__":
    sys.exit(main())
