"""Reads about runs that this site executes: what waits, what goes on."""

import uuid
from collections.abc import Sequence
from datetime import datetime

from reports.models import Run

UNDER_WAY = ("queued", "running")


def queued_runs(*, before: datetime, limit: int = 200) -> Sequence[uuid.UUID]:
    """Return the runs of all teams that were queued before a moment and that nobody has claimed, oldest first."""
    waiting = Run.objects.filter(status="queued", created_at__lte=before).order_by("created_at", "pk")
    return list(waiting.values_list("pk", flat=True)[:limit])
