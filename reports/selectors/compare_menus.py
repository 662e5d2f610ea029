"""What could stand on a side of a comparison: the newest runs of a target and suite, and their versions."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from reports.models import Run, Team
from reports.selectors.compare_sides import Side

RUNS_OFFERED = 40


@dataclass(frozen=True, slots=True)
class Offer:
    """A run, or a version as the pool of its runs (``run`` is None). Texts are in stored form."""

    side: str
    run: uuid.UUID | None
    fingerprint: str
    label: str
    at: datetime
    status: str
    passed: int
    decided: int


def offers(*, team: Team, side: Side) -> tuple[tuple[Offer, ...], tuple[Offer, ...]]:
    """Return versions and runs of a side's target and suite, newest first, from its ``RUNS_OFFERED`` newest runs."""
    columns = ("id", "version_id", "version__fingerprint", "version__label", "ordered_at", "status")
    runs = Run.objects.for_team(team).newest_first().filter(generation__isnull=False)
    alike = runs.filter(version__target_id=side.target, revision__suite_id=side.suite)
    rows = list(alike.values(*columns, "passed", "failed", "error")[:RUNS_OFFERED])
    versions: dict[int, Offer] = {}
    for row in rows:
        if row["status"] in ("completed", "limited"):
            versions.setdefault(row["version_id"], _offer(row, f"version:{row['version_id']}", None))
    return tuple(versions.values()), tuple(_offer(row, f"run:{row['id']}", row["id"]) for row in rows)


def _offer(row: Mapping[str, object], side: str, run: uuid.UUID | None) -> Offer:
    counts = {name: int(str(row[name])) for name in ("passed", "failed", "error")}
    at = row["ordered_at"]
    assert isinstance(at, datetime)
    return Offer(
        side=side,
        run=run,
        fingerprint=str(row["version__fingerprint"]),
        label=str(row["version__label"]),
        at=at,
        status=str(row["status"]),
        passed=counts["passed"],
        decided=sum(counts.values()),
    )


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Two sides that could be compared: the newest version of a target and suite with the one before it."""

    target_id: str
    suite_name: str
    baseline: Offer
    candidate: Offer


def suggestions(*, team: Team) -> tuple[Neighbours, ...]:
    """Return, for each target and suite of the newest runs, its two newest versions."""
    columns = ("id", "version_id", "version__fingerprint", "version__label", "ordered_at", "status")
    names = ("version__target_id", "version__target__target_id", "revision__suite_id", "revision__suite__name")
    runs = Run.objects.for_team(team).newest_first().filter(status__in=("completed", "limited"))
    found: dict[tuple[int, int], dict[int, Offer]] = {}
    titles: dict[tuple[int, int], tuple[str, str]] = {}
    for row in runs.values(*columns, *names, "passed", "failed", "error")[:200]:
        place = (row["version__target_id"], row["revision__suite_id"])
        titles[place] = (row["version__target__target_id"], row["revision__suite__name"])
        version = _offer(row, f"version:{row['version_id']}", None)
        found.setdefault(place, {}).setdefault(row["version_id"], version)
    pairs = ((titles[place], list(versions.values())) for place, versions in found.items() if len(versions) > 1)
    return tuple(Neighbours(*title, baseline=pair[1], candidate=pair[0]) for title, pair in pairs)
