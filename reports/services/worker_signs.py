"""That some worker lives: its dispatcher notes it every few seconds, for those who watch the site.

It stands in the cache and not in a table of its own: it is worth nothing a minute later.
"""

from __future__ import annotations

import logging
import threading
import time

from django.core.cache import cache
from django.db import DatabaseError, InterfaceError

NOTE_EVERY_S = 10.0
_KEY = "worker-seen-at"
_KEPT_S = 7 * 24 * 3600

log = logging.getLogger(__name__)
_noted = threading.local()  # a dispatcher has a thread of its own


def note_worker() -> None:
    """Note that a worker lives, at most every ten seconds; safe to call as often as you like."""
    moment = time.monotonic()
    if moment - getattr(_noted, "at", float("-inf")) < NOTE_EVERY_S:
        return
    _noted.at = moment
    try:
        cache.set(_KEY, time.time(), timeout=_KEPT_S)
    except (DatabaseError, InterfaceError) as error:  # work goes on without it
        log.warning("no sign of this worker could be stored (createcachetable?): %s", type(error).__name__)


def worker_seen_s() -> float | None:
    """Return how many seconds ago the last sign of a worker was noted; None when none is known."""
    try:
        noted = cache.get(_KEY)
    except (DatabaseError, InterfaceError):  # the cache's table is missing, or the database away
        return None
    return max(0.0, time.time() - noted) if isinstance(noted, float) else None
