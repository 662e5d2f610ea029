"""The report of a run, as its download gives it, and whether all that is stored of it agrees."""

import json
from typing import Any

from reports.models import Run
from reports.services.export import iter_report_json
from reports.services.recount import recount_run


def report_of(run: Run) -> Any:
    return json.loads(b"".join(iter_report_json(run)))


def counts_agree(run: Run) -> bool:
    """Tell whether everything stored of a run is what its cases say, its change included, which is counted last."""
    run.refresh_from_db()
    return recount_run(run, repair=False) == ()
