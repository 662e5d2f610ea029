"""The targets of this site: those of its targets file, or the tutorial."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path

from django.conf import settings
from evalrunner.examples import catalogue

from reports.runnable.entries import PythonMaker, TargetEntry
from reports.runnable.reading import TargetFault, TargetsFileError, read_targets

TUTORIAL_LATENCY_MS = 600  # a turn; long enough to watch a run of the tutorial, short enough not to wait for it


def runnable_targets() -> tuple[TargetEntry, ...]:
    """Return what can be run, in the order of the file; it is read again when it changes. Raises TargetsFileError."""
    if not settings.TARGETS_FILE:
        return (_tutorial(),)
    path = Path(settings.TARGETS_FILE)
    try:
        state = path.stat()
    except OSError as error:
        raise TargetsFileError([TargetFault("", _unreadable(path, error))]) from error
    return _read_file(path, state.st_mtime_ns, state.st_size)


def find_target(name: str) -> TargetEntry | None:
    return next((entry for entry in runnable_targets() if entry.name == name), None)


@lru_cache(maxsize=4)
def _read_file(path: Path, changed_ns: int, size: int) -> tuple[TargetEntry, ...]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise TargetsFileError([TargetFault("", _unreadable(path, error))]) from error
    return read_targets(text, folder=path.resolve().parent)


def _unreadable(path: Path, error: Exception) -> str:
    reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
    return f"The targets file {path}, which EVALSITE_TARGETS names, cannot be read: {reason}."


@lru_cache(maxsize=1)
def _tutorial() -> TargetEntry:
    slowed = partial(catalogue.make_adapter, latency_ms=TUTORIAL_LATENCY_MS)
    target = replace(catalogue.target, make_adapter=slowed)
    return TargetEntry(
        name="tutorial.catalogue",
        title="Catalogue tutorial",
        target_id=target.id,
        kind="python",
        maker=PythonMaker(target, "", catalogue.suite_file.parent),
        source=None,
        folder=catalogue.suite_file.parent,
        suites=(catalogue.suite_file,),
    )
