"""How often open pages ask for news: every second while few do, more seldom the more there are.

A process that shows live pages answers so many polls a second and no more, so that whoever opens another page does not
wait. Each poll is noted; once a second the pace moves by one step.
"""

from __future__ import annotations

import threading

STEPS_S = (1, 2, 3, 5, 8, 12)
MOST_A_SECOND = 20.0  # polls of one process; a poll that shows something new takes about 12 ms
_ROOM = 1.25


class PollPace:
    """The pace of one process. ``interval_s`` is what pages are told now."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._step = 0
        self._noted = 0
        self._since_s: float | None = None

    @property
    def interval_s(self) -> int:
        return STEPS_S[self._step]

    def note(self, now_s: float) -> int:
        """Note a poll at a moment (of a clock that never goes back) and return the pace from now on, in seconds."""
        with self._lock:
            if self._since_s is None:
                self._since_s = now_s
            self._noted += 1
            passed_s = now_s - self._since_s
            if passed_s >= 1.0:
                self._move(self._noted / passed_s)
                self._since_s, self._noted = now_s, 0
            return self.interval_s

    def _move(self, rate: float) -> None:
        """Slow down above the limit; speed up where the next faster step would stay below it."""
        if rate > MOST_A_SECOND * _ROOM:
            self._step = min(self._step + 1, len(STEPS_S) - 1)
        elif self._step and rate * STEPS_S[self._step] / STEPS_S[self._step - 1] <= MOST_A_SECOND:
            self._step -= 1
