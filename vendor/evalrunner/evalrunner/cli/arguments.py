"""Readers and checks of arguments that several commands share."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from typing import Final

from evalrunner.cli.inputs import InputError
from evalrunner.models import EvaluationSuite

_SHOWN_SCENARIOS: Final = 20


def whole(largest: int, *, least: int = 1) -> Callable[[str], int]:
    """Make a reader of whole numbers from ``least`` (0 or more) to ``largest``."""

    def read(text: str) -> int:
        number = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else -1
        if not least <= number <= largest:
            raise argparse.ArgumentTypeError(f"{text!r} is no whole number from {least} to {largest}")
        return number

    return read


def check_scenarios(suite: EvaluationSuite, wanted: Iterable[str]) -> None:
    """Refuse scenarios that the suite does not have (InputError names those it has)."""
    known = [scenario.id for scenario in suite.scenarios]
    if unknown := [name for name in wanted if name not in known]:
        shown = ", ".join(known[:_SHOWN_SCENARIOS]) + (", …" if len(known) > _SHOWN_SCENARIOS else "")
        raise InputError(f"the suite has no scenario {', '.join(map(repr, unknown))}; it has {shown}")
