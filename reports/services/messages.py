"""Telling a worker that a row waits for it. The row is the truth: a message that gets lost only costs a moment.

With a broker that lives in the worker's own process (``memory://``) nobody else can send: there the worker's dispatcher
looks for waiting rows. With a server the sender tells at once, and the dispatcher is the safety net.
"""

from __future__ import annotations

import logging

from celery import current_app
from django.conf import settings
from django.db import transaction
from kombu.exceptions import OperationalError

EXECUTE_RUN = "reports.execute_run"
IMPORT_UPLOAD = "reports.import_upload"

log = logging.getLogger(__name__)


def has_broker_server() -> bool:
    """Tell whether processes other than the worker can send messages."""
    return not settings.CELERY_BROKER_URL.startswith("memory:")


def tell_after_commit(task: str, key: object) -> None:
    """Send a row's key to the workers once the transaction is committed; never fails because of the broker."""
    if has_broker_server():
        transaction.on_commit(lambda: _tell(task, str(key)))


def _tell(task: str, key: str) -> None:
    try:
        current_app.send_task(task, args=[key], retry=False)
    except (OperationalError, OSError) as error:
        log.warning("%s %s waits for the dispatcher: the broker is away (%s)", task, key, type(error).__name__)
