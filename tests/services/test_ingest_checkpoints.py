"""Whatever the runner publishes while a run goes on can be imported in its order, and never backwards."""

import io
import json
from itertools import pairwise
from typing import Any

import pytest

from reports.domain.snapshots import case_contradiction, first_difference, head_contradiction
from reports.models import Run, Team
from reports.services.ingest import ReportConflict, ingest_report
from tests.runner.replay import CORPUS, read_corpus, replay

NAMES = sorted(path.name for path in (CORPUS / "runs").glob("*.json"))


def published(name: str) -> list[dict[str, Any]]:
    """Return all checkpoints of a recorded run, in their order."""
    spec = read_corpus(f"runs/{name}")
    previous = read_corpus(spec["resumeFrom"]) if spec.get("resumeFrom") else None
    return replay(spec, previous).checkpoints


def contradiction(stored: dict[str, Any], new: dict[str, Any]) -> str | None:
    is_final = stored["status"] != "running"
    found = head_contradiction(stored, new)
    for index, (left, right) in enumerate(zip(stored["cases"], new["cases"], strict=True)):
        found = found or case_contradiction(left, right, f"cases.{index}", is_final=is_final)
    return found


@pytest.mark.parametrize("name", NAMES)
def test_every_checkpoint_follows_earlier_ones_and_not_the_other_way_round(name: str) -> None:
    reports = published(name)
    assert len(reports) > 1

    first, last = reports[0], reports[-1]
    pairs = [*pairwise(reports), *((first, later) for later in reports[1:]), *((each, last) for each in reports[:-1])]
    for earlier, later in pairs:
        assert contradiction(earlier, later) is None
        if first_difference(earlier, later) is not None:
            assert contradiction(later, earlier) is not None


@pytest.mark.parametrize("name", ["early-stops.json", "flights-concurrent.json", "clinic-resumed.json"])
def test_a_run_that_is_published_as_it_goes_becomes_one_run(team: Team, name: str) -> None:
    reports = published(name)

    outcomes = [store(team, value) for value in reports]

    run = Run.objects.get()
    assert outcomes[0] == "created"
    assert set(outcomes[1:]) <= {"updated", "unchanged"}
    assert outcomes[-1] == "updated"
    summary = reports[-1]["summary"]
    assert {status: getattr(run, status) for status in summary} == summary
    with pytest.raises(ReportConflict, match="earlier snapshot"):
        store(team, reports[0])


def store(team: Team, value: dict[str, Any]) -> str:
    return ingest_report(team=team, source=io.BytesIO(json.dumps(value).encode()), origin="api").outcome
