"""The cancellation signal of a run."""

from __future__ import annotations

import asyncio


class RunSignal(asyncio.Event):
    """Set when the host cancels the run, or when the run has to stop by itself.

    It follows the host's event at once: whoever asks ``is_set()`` need not wait for a task to carry the news.
    """

    def __init__(self, cancel: asyncio.Event | None) -> None:
        super().__init__()
        self._cancel = cancel

    def is_set(self) -> bool:
        if not super().is_set() and self._cancel is not None and self._cancel.is_set():
            self.set()
        return super().is_set()
