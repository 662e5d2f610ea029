"""One line for each background job that ends: which, of which row, how it ended, how long it took."""

from __future__ import annotations

import logging
import time
from typing import Any

from celery.signals import task_postrun, task_prerun

log = logging.getLogger("evalsite.task")

_began: dict[str, float] = {}


def connect() -> None:
    """Let the workers of this process log their jobs."""
    task_prerun.connect(_begin, dispatch_uid="evalsite.task_log.begin")
    task_postrun.connect(_end, dispatch_uid="evalsite.task_log.end")


def _begin(task_id: str, **signal: Any) -> None:
    _began[task_id] = time.monotonic()


def _end(task_id: str, task: Any, args: Any, state: str | None, **signal: Any) -> None:
    """A message carries the key of a row and nothing else, so the key is all there is to log."""
    began = _began.pop(task_id, None)
    event: dict[str, object] = {"task": task.name, "key": str(args[0]) if args else "", "state": (state or "").lower()}
    if began is not None:
        event["durationMs"] = round((time.monotonic() - began) * 1000, 1)
    log.info("job", extra={"event": event})
