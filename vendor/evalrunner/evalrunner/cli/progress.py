"""Showing how a run goes on: a bar on a terminal, plain lines anywhere else."""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Callable
from typing import Final, TextIO

from evalrunner.events import EvaluationCheckpoint, EventType
from evalrunner.models import CaseStatus, EvaluationCase, EvaluationReport, EvaluationSummary

UNREMARKABLE: Final = frozenset({CaseStatus.PASSED, CaseStatus.SKIPPED})
_REDRAW_S: Final = 0.1
_MOST_LINES: Final = 100
_BAR_CELLS: Final = 30


def case_label(case: EvaluationCase) -> str:
    """Name a case by what it is: scenario, chosen variants, repetition from 1."""
    variants = [f"{step}={variant}" for step, variant in case.variants.items()]
    return " ".join([case.scenario_id, *variants, f"#{case.repetition + 1}"])


def case_outcome(case: EvaluationCase) -> str:
    """Name the status of a case, with the code that stands nearest to its cause."""
    codes = [turn.error_code for turn in case.turns if turn.error_code is not None]
    code = codes[0] if codes else case.error_code
    return case.status if code is None else f"{case.status} ({printable(code)})"


def printable(text: str) -> str:
    """Escape control characters, with which text from outside could rewrite the terminal."""
    return "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in text)


def counts_text(summary: EvaluationSummary) -> str:
    """List the counts that are not zero, in the order of the summary."""
    counts = summary.to_data()
    return ", ".join(f"{count:,} {name}" for name, count in counts.items() if count and name != "total")


class Progress:
    """Told of every checkpoint, it draws on ``stream``; call ``close`` at the end."""

    def __init__(self, stream: TextIO, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._clock = clock
        self._terminal = stream.isatty()
        self._began = clock()
        self._drawn_at = -_REDRAW_S
        self._report: EvaluationReport | None = None
        self._told = 0

    def update(self, checkpoint: EvaluationCheckpoint) -> None:
        """Show the event that a checkpoint stands before."""
        self._report = checkpoint
        event = checkpoint.event
        if event.type is EventType.CASE_COMPLETED and event.case_index is not None:
            self._case_completed(checkpoint.cases[event.case_index])
        if self._terminal and self._clock() - self._drawn_at >= _REDRAW_S:
            self._draw()

    def close(self) -> None:
        if self._terminal and self._report is not None:
            self._draw()
            self._show("\n")

    def _case_completed(self, case: EvaluationCase) -> None:
        """Name every case that needs a look; of the others, without a bar, about a hundred lines in all."""
        assert self._report is not None
        done, total = self._done(), self._report.summary.total
        remarkable = case.status not in UNREMARKABLE
        due = done == total or done - self._told >= total / _MOST_LINES
        if not remarkable and (self._terminal or not due):
            return
        self._told = done
        line = f"{done:,}/{total:,} {case_label(case)}: {case_outcome(case)}\n"
        self._show(f"\r\x1b[K{line}" if self._terminal else line)

    def _done(self) -> int:
        assert self._report is not None
        summary = self._report.summary
        return summary.total - summary.pending - summary.running

    def _draw(self) -> None:
        assert self._report is not None
        self._drawn_at = self._clock()
        done, total = self._done(), self._report.summary.total
        filled = _BAR_CELLS * done // max(total, 1)
        bar = "#" * filled + "-" * (_BAR_CELLS - filled)
        minutes, seconds = divmod(int(self._clock() - self._began), 60)
        line = f"[{bar}] {done:,}/{total:,} {minutes}:{seconds:02d} {counts_text(self._report.summary)}"
        self._show(f"\r\x1b[K{line[: shutil.get_terminal_size().columns - 1]}")

    def _show(self, text: str) -> None:
        """Write without ever ending the run: whoever watched may have gone."""
        with contextlib.suppress(OSError, ValueError):
            self._stream.write(text)
            self._stream.flush()
