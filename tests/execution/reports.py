"""The report of a run, as its download gives it."""

import json
from typing import Any

from reports.models import Run
from reports.services.export import iter_report_json


def report_of(run: Run) -> Any:
    return json.loads(b"".join(iter_report_json(run)))
