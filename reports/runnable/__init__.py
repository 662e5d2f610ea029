"""Runnable targets: what an operator has registered, so that members can start runs of it by name.

Nothing that a browser user types becomes an address, a command or an import path: all of that stands in the file that
``EVALSITE_TARGETS`` names (format: docs/targets.md). Without the variable the tutorial alone can be run.
"""

from reports.runnable.entries import (
    FingerprintSource,
    TargetEntry,
    TargetLimits,
    TargetUnusable,
)
from reports.runnable.reading import TargetFault, TargetsFileError, read_targets
from reports.runnable.registry import find_target, runnable_targets

__all__ = [
    "FingerprintSource",
    "TargetEntry",
    "TargetFault",
    "TargetLimits",
    "TargetUnusable",
    "TargetsFileError",
    "find_target",
    "read_targets",
    "runnable_targets",
]
