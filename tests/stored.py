"""Reports put into the database the way everybody does it: by importing them."""

import io
import json
from typing import Any

from reports.models import Run, Team
from reports.services.ingest import ingest_report
from tests.factories import LETTERS, case, report


def store(team: Team, data: dict[str, Any]) -> Run:
    """Import a report and return its run."""
    done = ingest_report(team=team, source=io.BytesIO(json.dumps(data).encode()), origin="upload")
    return Run.objects.get(pk=done.run_pk)


def outcomes(fingerprint: str = "v1", *, target: str = "desk.agent", **letters: str) -> dict[str, Any]:
    """Make a report of a version: a scenario for each name, a repetition for each letter ("PPF")."""
    cases = [
        case(LETTERS[letter], scenario_id=name, repetition=repetition)
        for name, statuses in letters.items()
        for repetition, letter in enumerate(statuses)
    ]
    return report(cases=cases, target={"id": target, "fingerprint": fingerprint})
