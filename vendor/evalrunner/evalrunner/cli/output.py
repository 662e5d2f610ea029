"""Writing a report: whole or not at all, and while the run goes on.

A report is written beside its place and then moved there, so that a reader never sees half of one. Snapshots of a run
are written by one thread, one after the other, so that the run does not wait for the disk; what arrives meanwhile
replaces what was still to be written. After each write there is a pause of a second, or of ten times what the write
took, so that a large report costs a tenth of the time at most.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from evalrunner.cli.inputs import InputError
from evalrunner.models import EvaluationReport

LEAST_PAUSE_S: Final = 1.0
PAUSE_PER_WRITE: Final = 10.0


class ReportFile:
    """The place of a report. Making one checks that it can be written there (else InputError)."""

    def __init__(self, path: str) -> None:
        self.path = Path(path)
        try:
            self._place = self.path.resolve()
            self._draft = self._place.with_name(f".{self._place.name}.{os.getpid()}.tmp")
            self._check()
        except (FileExistsError, NotADirectoryError):
            raise InputError(f"{path}: the report cannot be written here: its folder is a file") from None
        except (OSError, ValueError) as error:
            raise InputError(f"{path}: the report cannot be written here: {_reason(error)}") from None

    def _check(self) -> None:
        self._place.parent.mkdir(parents=True, exist_ok=True)
        if self._place.exists() and not stat.S_ISREG(self._place.stat().st_mode):
            raise ValueError("a folder or a device, not a file")
        self._draft.touch()
        self._draft.unlink()

    def write(self, report: EvaluationReport) -> None:
        """Put a report in place of what was there; OSError leaves that as it was."""
        self.put(report_lines(report))

    def put(self, pieces: Iterable[bytes]) -> None:
        """Put text in place of what was there; OSError leaves that as it was."""
        try:
            with self._draft.open("wb") as file:
                file.writelines(pieces)
                file.flush()
                os.fsync(file.fileno())
            self._draft.replace(self._place)
        except BaseException:
            self.discard_draft()
            raise

    def discard_draft(self) -> None:
        with contextlib.suppress(OSError):
            self._draft.unlink(missing_ok=True)


def _reason(error: Exception) -> str:
    text = error.strerror if isinstance(error, OSError) else None
    return (text or str(error)).lower()


def report_lines(report: EvaluationReport) -> Iterator[bytes]:
    """Give a report's JSON text piece by piece, one line for each case: lines can be searched and compared."""
    head = replace(report, cases=()).to_data()
    for number, (name, value) in enumerate(head.items()):
        yield b"{" if number == 0 else b",\n"
        yield f'"{name}":'.encode()
        if name == "cases":
            yield from _case_lines(report)
        else:
            yield encode_json(value)
    yield b"}\n"


def _case_lines(report: EvaluationReport) -> Iterator[bytes]:
    yield b"["
    for number, case in enumerate(report.cases):
        yield b"\n" if number == 0 else b",\n"
        yield encode_json(case.to_data())
    yield b"]"


def encode_json(value: Any, indent: int | None = None) -> bytes:
    """Write readable UTF-8; only what holds an unpaired surrogate is written with escapes."""
    separators = (",", ":") if indent is None else None
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent, separators=separators)
    try:
        return text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, allow_nan=False, indent=indent, separators=separators).encode()


class ReportWriter:
    """Keeps a report file up with a run: ``offer`` each snapshot, ``finish`` with the last report.

    A write that failed is raised by the next ``offer`` or by ``finish`` (OSError).
    """

    def __init__(self, file: ReportFile, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.file = file
        self._clock = clock
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="report")
        self._latest: EvaluationReport | None = None
        self._failure: OSError | None = None
        self._work: asyncio.Task[None] | None = None

    def offer(self, report: EvaluationReport) -> None:
        if self._failure is not None:
            raise self._failure
        self._latest = report
        if self._work is None or self._work.done():
            self._work = asyncio.create_task(self._keep_up())

    async def _keep_up(self) -> None:
        """Write the latest snapshot and pause, until there is none that was not written."""
        while (report := self._latest) is not None:
            self._latest = None
            began = self._clock()
            try:
                await self._in_thread(report)
            except OSError as error:
                self._failure = error
                return
            await asyncio.sleep(max(LEAST_PAUSE_S, PAUSE_PER_WRITE * (self._clock() - began)))

    async def _in_thread(self, report: EvaluationReport) -> None:
        await asyncio.get_running_loop().run_in_executor(self._thread, self.file.write, report)

    async def finish(self, report: EvaluationReport | None) -> None:
        """Stop keeping up; write the final report after any write that is still going on, if there is one."""
        if self._work is not None:
            self._work.cancel()
            await asyncio.gather(self._work, return_exceptions=True)
        final = self._latest if report is None else report
        try:
            if final is not None and self._failure is None:
                await self._in_thread(final)
        finally:
            self._thread.shutdown(wait=False, cancel_futures=True)
        if self._failure is not None:
            raise self._failure
