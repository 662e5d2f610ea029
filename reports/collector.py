"""Bulk work makes millions of objects and no cycles; the cyclic collector would take most of its time."""

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.Lock()
_holders = 0


@contextmanager
def collector_paused() -> Iterator[None]:
    """Keep the cyclic garbage collector off, in this process, while the body runs (and any other such body)."""
    global _holders
    with _lock:
        _holders += 1
        gc.disable()
    try:
        yield
    finally:
        with _lock:
            _holders -= 1
            if not _holders:
                gc.enable()
