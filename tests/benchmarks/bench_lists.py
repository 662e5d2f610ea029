"""Open the lists of a team with many runs: home, runs, targets and one target's page.

    python -m tests.benchmarks.bench_lists [--runs 10000] [--targets 40] [--database-url URL]

The runs have counts and changes and no cases: these pages read none. Each page is opened four times; the figures are
those of the fastest. A database of ``--database-url`` must be empty.
"""

import argparse
import random
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.benchmarks.bench_compare import measured, set_up

START = datetime(2025, 1, 1, tzinfo=UTC)
RUNS_A_VERSION = 2
CASES = 100
OPENED = 4


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--targets", type=int, default=40)
    parser.add_argument("--database-url", default="", help="SQLite in a temporary folder if not given")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        set_up(folder, options.database_url)
        _make(options.runs, options.targets)
        print(f"{options.runs:,} runs of {options.targets} targets{'':10} CPU ms  wall ms  queries       KB  KB gzip")
        for name, address in _pages():
            figure = min((measured(name, address, {}) for _ in range(OPENED)), key=lambda each: each.cpu_ms)
            sizes = f"{figure.size / 1000:8,.0f} {figure.packed / 1000:8.1f}"
            print(f"{name:32} {figure.cpu_ms:9,.0f} {figure.wall_ms:8,.0f} {figure.queries:8} {sizes}")


def _make(runs: int, targets: int) -> None:
    from reports.models import Run, RunChange, SuiteRevision, Team
    from tests import factories

    team = Team.objects.get()
    factories.stored(team, factories.outcomes("v0", target_id="first", greet="PPF"))
    revision = SuiteRevision.objects.get()
    made = [run for number in range(targets) for run in _runs_of_target(team, revision, number, runs // targets)]
    Run.objects.bulk_create(made, batch_size=500)
    pairs = ((run, before) for before, run in zip(made, made[RUNS_A_VERSION:], strict=False))
    changes = [
        RunChange(run=run, baseline=before, basis="", counts={"broken": run.failed}, verdict="pass", sentence="Passed.")
        for run, before in pairs
    ]
    RunChange.objects.bulk_create(changes, batch_size=500)


def _runs_of_target(team: Any, revision: Any, number: int, runs: int) -> Iterator[Any]:
    from reports.keys import text_key
    from reports.models import Run, Target, Version

    name, chance = f"agent-{number}", random.Random(number)
    target = Target.objects.create(team=team, key=text_key(name), target_id=name)
    for place in range(runs):
        if place % RUNS_A_VERSION == 0:
            fingerprint = f"build-{place // RUNS_A_VERSION}"
            version = Version.objects.create(target=target, key=text_key(fingerprint), fingerprint=fingerprint)
        run_id, failed = f"{name}-{place}", chance.randint(0, 9)
        began = START + timedelta(hours=12 * place, minutes=number)
        counts = {"total": CASES, "passed": CASES - failed, "failed": failed, "is_passing": not failed}
        times = {"ordered_at": began, "started_at": began, "finished_at": began + timedelta(minutes=20)}
        yield Run(
            team=team,
            version=version,
            revision=revision,
            run_id=run_id,
            run_key=text_key(run_id),
            status="completed",
            origin="api",
            **counts,
            **times,
        )


def _pages() -> list[tuple[str, str]]:
    from reports.models import Target

    target = Target.objects.order_by("-pk")[0]
    return [
        ("home", "/"),
        ("runs", "/runs/"),
        ("runs of one target", f"/runs/?target={target.target_id}"),
        ("targets", "/targets/"),
        ("one target", f"/targets/{target.pk}/"),
    ]


if __name__ == "__main__":
    main()
