"""The standard streams of a command, any of which its caller may have closed (``evalrunner gate A B >&-``)."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TextIO

from evalrunner.cli.inputs import InputError


def occupy_closed_streams() -> None:
    """Put the null device in the place of streams that are closed.

    Else the next file that is opened gets their number, and what is meant for a terminal is written into a report.
    Messages go nowhere then; ``sys.stdout`` stays None, which is how ``result_stream`` tells.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # the lowest number that is free
    if sys.stdin is None:
        sys.stdin = Path(os.devnull).open(encoding="utf-8")  # noqa: SIM115 - for as long as the process
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - for as long as the process


def result_stream() -> TextIO:
    """Return where a result is written; InputError where that is closed, for a result that nobody gets is none."""
    if sys.stdout is None:
        raise InputError("standard output: the result cannot be written: it is closed")
    return sys.stdout
