"""Whether the site can do its work: database, its tables, broker."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection, Mapping

from celery import current_app
from django.db import DatabaseError, InterfaceError, connection
from django.db.migrations.exceptions import InconsistentMigrationHistory
from django.db.migrations.executor import MigrationExecutor

from reports.services.messages import CONNECT_S, has_broker_server

OK = "ok"
BROKER_REMEMBERED_S = 5.0

log = logging.getLogger(__name__)


def readiness(*, without: Collection[str] = ()) -> Mapping[str, str]:
    """Return what each check found, ``OK`` or one or two words; nothing that a stranger may not know."""
    checks: dict[str, Callable[[], str]] = {
        "database": database_state,
        "migrations": migrations_state,
        "broker": broker_state,
    }
    found: dict[str, str] = {}
    for name, check in checks.items():
        if name in without:
            continue
        is_idle = name == "migrations" and found.get("database", OK) != OK
        found[name] = "unknown" if is_idle else check()
    return found


def database_state() -> str:
    for _ in range(2):  # a connection that the server closed meanwhile fails once
        try:
            with connection.cursor() as cursor:
                cursor.execute("SELECT 1")
            return OK
        except (DatabaseError, InterfaceError) as error:
            log.warning("readiness: the database is away: %s", type(error).__name__)
            connection.close()
    return "unreachable"


_migrated = threading.Event()


def migrations_state() -> str:
    """Tell whether all migrations of this code are applied. Once they are they stay so; until then it is looked up."""
    if _migrated.is_set():
        return OK
    try:
        executor = MigrationExecutor(connection)
        if executor.migration_plan(executor.loader.graph.leaf_nodes()):
            return "missing"
    except (DatabaseError, InterfaceError, InconsistentMigrationHistory) as error:
        log.warning("readiness: the migrations cannot be looked up: %s", type(error).__name__)
        return "unknown"
    _migrated.set()
    return OK


class _Remembered:
    """What was found about the broker, for a few seconds: strangers may ask, and each look is a connection."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._at = float("-inf")
        self._state = OK

    def get(self, look: Callable[[], str]) -> str:
        with self._lock:
            if time.monotonic() - self._at >= BROKER_REMEMBERED_S:
                self._state = look()
                self._at = time.monotonic()
            return self._state

    def forget(self) -> None:
        self._at = float("-inf")


broker_memory = _Remembered()


def broker_state() -> str:
    """Tell whether the broker takes connections; one inside the worker is no server and always there."""
    return broker_memory.get(_look_for_broker) if has_broker_server() else OK


def _look_for_broker() -> str:
    try:
        with current_app.connection_for_write(connect_timeout=CONNECT_S) as server:
            server.ensure_connection(max_retries=1, interval_start=0, timeout=CONNECT_S)
    except Exception as error:  # isolation point: whatever a broker's library raises, the broker cannot be used
        log.warning("readiness: the broker is away: %s", type(error).__name__)
        return "unreachable"
    return OK
