"""Publishing with patience: again after failures that pass, and again and again while a run goes on."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from evalrunner.cli.inputs import InputError
from evalrunner.cli.site import AnswerLate, PassingError, Published, ReportRefused, Site
from evalrunner.errors import JsonTextError
from evalrunner.models import RunStatus
from evalrunner.stream import read_members

PAUSES_S: Final = (1.0, 2.0, 4.0, 8.0)
LEAST_PAUSE_S: Final = 2.0
LONGEST_PAUSE_S: Final = 60.0
PAUSE_PER_UPLOAD: Final = 5.0
LOOK_S: Final = 0.5

Wait = Callable[[float], object]
Tell = Callable[[str], None]
FileState = tuple[int, int, int]


def publish(site: Site, path: Path, *, tell: Tell, wait: Wait = time.sleep) -> Published:
    """Publish one report; failures that pass are tried again four times, after 1, 2, 4 and 8 s or as the site asks."""
    for pause_s in PAUSES_S:
        try:
            return site.publish(path)
        except AnswerLate:  # sending it all again now would make that worse
            raise
        except PassingError as error:
            wait_s = pause_s if error.wait_s is None else max(error.wait_s, pause_s)
            tell(f"{error}; trying again in {wait_s:g} s")
            wait(wait_s)
    return site.publish(path)


class Follower:
    """Publishes the snapshots of a report file that a run keeps up.

    A report that lies there already counts only with ``takes_present``: a run that begins will replace it.
    ``patience_s`` is how long the file may stay as it is, or be missing, before the run counts as dead. Between two
    uploads there is a pause of two seconds, or of five times what the last one took up to a minute, so that a large
    report does not keep a site busy. ``wait(seconds)`` may return early when there is reason to look; ``pause`` never.
    """

    def __init__(
        self,
        site: Site,
        path: Path,
        *,
        tell: Tell,
        patience_s: float,
        takes_present: bool = True,
        wait: Wait = time.sleep,
        pause: Wait = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._site, self._path, self._tell, self._patience_s = site, path, tell, patience_s
        self._wait, self._pause, self._clock = wait, pause, clock
        self._sent = None if takes_present else file_state(path)
        self._url = ""
        self._is_away = False

    def follow(self, *, found: Callable[[str], None], is_over: Callable[[], bool] = lambda: False) -> Published:
        """Publish until the report is finished; the address is told to ``found`` as soon as there is one.

        ``is_over`` tells that nobody writes the file any more. Raises what ``Site.publish`` raises, but PassingError
        only at the end, and InputError when patience runs out.
        """
        since = self._clock()
        while True:
            was_over = is_over()  # asked before the file is looked at: what is there then is the last
            state = file_state(self._path)
            if state is None or (state == self._sent and not was_over):
                self._check_patience(since, is_there=state is not None, is_over=was_over)
                self._wait(LOOK_S)
                continue
            since = self._clock()
            if was_over or is_finished(self._path):
                return self._last(found)
            if self._snapshot(found):
                self._sent = state
            self._wait(min(max(LEAST_PAUSE_S, PAUSE_PER_UPLOAD * (self._clock() - since)), LONGEST_PAUSE_S))

    def _last(self, found: Callable[[str], None]) -> Published:
        published = publish(self._site, self._path, tell=self._tell, wait=self._pause)
        self._note(published, found)
        return published

    def _snapshot(self, found: Callable[[str], None]) -> bool:
        """Send what is there; tell whether it counts as sent. A site that is away misses a snapshot, nothing more."""
        try:
            self._note(self._site.publish(self._path), found)
        except PassingError as error:
            if not self._is_away:
                self._tell(f"{error}; the run goes on and later snapshots are sent")
            self._is_away = True
            return False
        except ReportRefused as error:
            if error.code != "run_is_later":  # another follower was quicker
                raise
        self._is_away = False
        return True

    def _note(self, published: Published, found: Callable[[str], None]) -> None:
        if published.url != self._url:
            self._url = published.url
            found(published.url)

    def _check_patience(self, since: float, *, is_there: bool, is_over: bool) -> None:
        if is_over:
            raise InputError(f"{self._path}: the run has left no report")
        if self._clock() - since >= self._patience_s:
            what = "has not changed" if is_there else "has not appeared"
            raise InputError(f"{self._path}: {what} for {self._patience_s:g} s; the run seems to have ended without it")


def file_state(path: Path) -> FileState | None:
    """Return what changes whenever a file is replaced or written; None while there is none."""
    try:
        found = path.stat()
    except (OSError, ValueError):
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def is_finished(path: Path) -> bool:
    """Tell whether a report will not go on; one that cannot be read is for the site to refuse.

    Reports that ``evalrunner run`` writes have their status before their cases, so little is read.
    """
    try:
        with path.open("rb") as file:
            for member in read_members(file):
                if member.name == "status":
                    return bool(member.value != RunStatus.RUNNING)
    except (OSError, JsonTextError):
        return True
    return True
