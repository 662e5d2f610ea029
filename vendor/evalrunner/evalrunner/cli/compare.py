"""``evalrunner compare BASELINE CANDIDATE``: what changed between two versions. It reports; ``gate`` judges."""

from __future__ import annotations

import argparse
from typing import Final

from evalrunner.cli.comparing import CANNOT_SAY, add_arguments, compare_as_asked

SUMMARY = "say what changed between two versions, from report files"
USAGE_EXIT = CANNOT_SAY
DONE: Final = 0

configure = add_arguments


def execute(arguments: argparse.Namespace) -> int:
    """Compare and report; 0 whatever the verdict is."""
    try:
        compare_as_asked(arguments)
    except KeyboardInterrupt:
        return CANNOT_SAY
    return DONE
