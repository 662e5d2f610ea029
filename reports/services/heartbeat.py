"""The thread beside a run that is executed: it keeps the lease and brings wishes from outside.

A thread, not a task: the event loop belongs to the target's code, which may hold it up for longer than a lease lasts.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from django.db import DatabaseError, InterfaceError, connection

from reports.services.leases import BEATS_PER_LEASE, Claim, LeaseLost, is_cancel_requested, lease_s, renew_lease

POLL_S = 0.5
MINUTE_S = 60.0

log = logging.getLogger(__name__)


class Heartbeat:
    """Beats while it is entered. ``stop`` is called once, from this thread, with the reason in words ("" if none).

    A reason is given where the site itself ends the run: it took longer than ``minutes``, together with the
    ``elapsed_s`` seconds that had passed before.
    """

    def __init__(
        self, claim: Claim, stop: Callable[[str], None], *, minutes: int | None = None, elapsed_s: float = 0.0
    ) -> None:
        self._claim = claim
        self._stop = stop
        self._minutes = minutes
        self._elapsed_s = elapsed_s
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"heartbeat-{claim.run_pk}", daemon=True)

    def __enter__(self) -> Heartbeat:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._done.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            self._beat_until_done()
        finally:
            connection.close()

    def _beat_until_done(self) -> None:
        renewed = time.monotonic()
        begun = renewed - self._elapsed_s
        has_stopped = False
        while not self._done.wait(POLL_S):
            now = time.monotonic()
            try:
                if now - renewed >= lease_s() / BEATS_PER_LEASE:
                    renew_lease(self._claim)
                    renewed = now
                is_wished = is_cancel_requested(self._claim)
            except LeaseLost:
                self._stop("")
                return
            except (
                DatabaseError,
                InterfaceError,
            ) as error:  # it may come back; the lease says for how long we may wait
                log.warning("run %s: no heartbeat: %s", self._claim.run_pk, type(error).__name__)
                connection.close()
                continue
            late = late_words(self._minutes, now - begun)
            if (is_wished or late) and not has_stopped:
                has_stopped = True
                self._stop("" if is_wished else late)


def late_words(minutes: int | None, elapsed_s: float) -> str:
    """Say that a run took longer than it may; "" while it has not."""
    if minutes is None or elapsed_s < minutes * MINUTE_S:
        return ""
    return f"stopped: it took longer than {minutes} minute{'' if minutes == 1 else 's'}"
