"""The thread in every worker that keeps jobs moving, whatever happened to messages and to other workers.

It sends a message for each row that waits (with the embedded broker nobody else does), turns runs whose lease ran out
into ``interrupted``, and removes what imports that died have left. Everything it does is safe to do twice, by as many
workers as there are.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from celery import current_app
from celery.signals import worker_ready, worker_shutting_down
from django.db import DatabaseError, InterfaceError, connection
from django.utils import timezone

from reports.selectors.executions import queued_runs
from reports.services.generations import remove_abandoned_generations
from reports.services.import_jobs import waiting_jobs
from reports.services.leases import expire_leases
from reports.services.messages import (
    COUNT_CHANGES,
    EXECUTE_RUN,
    EXECUTE_SHARD,
    IMPORT_UPLOAD,
    has_broker_server,
    send,
)
from reports.services.run_changes import mark_outlived_changes, waiting_changes
from reports.services.shards import expire_shards, waiting_shards
from reports.services.worker_signs import note_worker

log = logging.getLogger(__name__)

Send = Callable[[str, str], None]


@dataclass(frozen=True)
class Pace:
    """How often the dispatcher looks, how long a row may wait before it steps in, how soon it sends again; seconds."""

    poll_s: float
    grace_s: float
    first_repeat_s: float = 30.0
    housekeeping_s: float = 2.0
    sweep_s: float = 60.0


EMBEDDED = Pace(poll_s=0.1, grace_s=0.0)
WITH_SERVER = Pace(poll_s=2.0, grace_s=5.0)


@dataclass(frozen=True)
class Waiting:
    """A kind of job: the task that does it and the rows that have waited since before a moment."""

    task: str
    list_keys: Callable[[datetime], Sequence[object]]


JOBS = (
    Waiting(EXECUTE_RUN, lambda before: queued_runs(before=before)),
    Waiting(EXECUTE_SHARD, lambda before: waiting_shards(before=before)),
    Waiting(IMPORT_UPLOAD, lambda before: waiting_jobs(before=before)),
    Waiting(COUNT_CHANGES, lambda before: waiting_changes(before=before)),
)


class Outbox:
    """Remembers what was sent, so that a row which waits long is sent again ever more seldom: 30 s, 60 s, 120 s …"""

    def __init__(self, first_repeat_s: float) -> None:
        self._first_repeat_s = first_repeat_s
        self._sent: dict[tuple[str, str], tuple[float, float]] = {}

    def due(self, task: str, keys: Sequence[str], now_s: float) -> list[str]:
        """Return the keys to send now, and forget those of this task that wait no more."""
        waiting = {(task, key) for key in keys}
        self._sent = {job: sent for job, sent in self._sent.items() if job[0] != task or job in waiting}
        return [key for key in keys if self._next_s(task, key) <= now_s]

    def note_sent(self, task: str, key: str, now_s: float) -> None:
        _, pause_s = self._sent.get((task, key), (now_s, self._first_repeat_s / 2))
        self._sent[task, key] = (now_s, pause_s * 2)

    def _next_s(self, task: str, key: str) -> float:
        sent_s, pause_s = self._sent.get((task, key), (float("-inf"), 0.0))
        return sent_s + pause_s


class Dispatcher:
    """Looks for work once per ``tick``; ``run`` ticks until it is stopped."""

    def __init__(self, send: Send, pace: Pace, jobs: Sequence[Waiting] = JOBS) -> None:
        self._send = send
        self._pace = pace
        self._jobs = jobs
        self._outbox = Outbox(pace.first_repeat_s)
        self._stopped = threading.Event()
        self._kept_house_s = self._swept_s = float("-inf")

    def run(self) -> None:
        try:
            while not self._stopped.wait(self._pace.poll_s):
                self._tick_or_log()
        finally:
            connection.close()

    def stop(self) -> None:
        self._stopped.set()

    def tick(self) -> None:
        """Send what is due, and keep house when it is time for it."""
        now_s = time.monotonic()
        before = timezone.now() - timedelta(seconds=self._pace.grace_s)
        for job in self._jobs:
            keys = [str(key) for key in job.list_keys(before)]
            for key in self._outbox.due(job.task, keys, now_s):
                self._send(job.task, key)
                self._outbox.note_sent(job.task, key, now_s)
        if now_s - self._kept_house_s >= self._pace.housekeeping_s:
            self._kept_house_s = now_s
            expire_leases()
            expire_shards()
            note_worker()
        if now_s - self._swept_s >= self._pace.sweep_s:
            self._swept_s = now_s
            remove_abandoned_generations()
            mark_outlived_changes()

    def _tick_or_log(self) -> None:
        try:
            self.tick()
        except (DatabaseError, InterfaceError) as error:
            log.warning("dispatcher: the database is away: %s", type(error).__name__)
            connection.close()
            self._stopped.wait(1.0)
        except Exception:  # isolation point: no broker and no defect may end the thread that everybody relies on
            log.exception("dispatcher: a tick failed")
            self._stopped.wait(1.0)


# ------------------------------------------------------------------------------------------------------- in the worker

_running: list[Dispatcher] = []


def connect() -> None:
    """Let every worker of this process run a dispatcher."""
    worker_ready.connect(_start, dispatch_uid="reports.dispatcher.start")
    worker_shutting_down.connect(_stop, dispatch_uid="reports.dispatcher.stop")


def _start(**signal: Any) -> None:
    dispatcher = Dispatcher(_send, WITH_SERVER if has_broker_server() else EMBEDDED)
    _running.append(dispatcher)
    threading.Thread(target=dispatcher.run, name="dispatcher", daemon=True).start()


def _stop(**signal: Any) -> None:
    for dispatcher in _running:
        dispatcher.stop()
    _running.clear()


def _send(task: str, key: str) -> None:
    if has_broker_server():
        send(task, key)
    else:  # the queues of the embedded broker live as long as the app's own connection
        current_app.send_task(task, args=[key], retry=False)
