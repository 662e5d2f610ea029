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
EXECUTE_SHARD = "reports.execute_shard"
IMPORT_UPLOAD = "reports.import_upload"
COUNT_CHANGES = "reports.count_changes"

CONNECT_S = 2

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
        send(task, key)
    except (OperationalError, OSError) as error:
        log.warning("%s %s waits for the dispatcher: the broker is away (%s)", task, key, type(error).__name__)


def send(task: str, key: str) -> None:
    """Send one message, or raise within a few seconds (OperationalError or OSError) when the broker is away.

    Over a connection of its own: those of the pool try again for much longer than a person waits for a page.
    """
    with current_app.connection_for_write(connect_timeout=CONNECT_S) as connection:
        connection.ensure_connection(max_retries=1, interval_start=0, timeout=CONNECT_S)
        current_app.send_task(task, args=[key], connection=connection, retry=False)
