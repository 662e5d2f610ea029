"""``evalrunner gate BASELINE CANDIDATE``: judge a version against another by a policy, by the exit status."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Final

from evalrunner.cli.comparing import CANNOT_SAY, add_arguments, compare_as_asked
from evalrunner.compare.verdict import Verdict

SUMMARY = "judge a version against another, from report files, by the exit status"
USAGE_EXIT = CANNOT_SAY
EXITS: Final[Mapping[str, int]] = {
    Verdict.PASS: 0,
    Verdict.REGRESSED: 1,
    Verdict.INCONCLUSIVE: 2,
    Verdict.NOT_COMPARABLE: 3,
}

configure = add_arguments


def execute(arguments: argparse.Namespace) -> int:
    """Compare, report, and give the exit status of the verdict; an interruption is no verdict."""
    try:
        return EXITS[compare_as_asked(arguments)["verdict"]]
    except KeyboardInterrupt:
        return CANNOT_SAY
