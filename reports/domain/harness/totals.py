"""The summary of many rows, added up one at a time: the same figures as ``evalrunner.harness.summarize`` gives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalrunner.harness.summary import summarize


class Totals:
    """What the rows so far add up to."""

    def __init__(self) -> None:
        self.rows = self.passed = 0
        self._sums: dict[str, Any] = summarize(())

    @property
    def failed(self) -> int:
        return self.rows - self.passed

    def add(self, row: Mapping[str, Any]) -> int:
        """Add a row and return its place."""
        one = summarize((row,))
        self._sums = {name: _added(self._sums.get(name), one.get(name)) for name in dict.fromkeys((*self._sums, *one))}
        self.passed += one["passed"]
        self.rows += 1
        return self.rows - 1

    def summary(self) -> dict[str, Any]:
        rates = {
            "success_rate": self.passed / self.rows if self.rows else 0.0,
            "avg_elapsed_ms": self._sums["total_elapsed_ms"] / self.rows if self.rows else 0.0,
        }
        return self._sums | rates


def _added(before: Any, new: Any) -> Any:
    if before is None or new is None:
        return new if before is None else before
    if isinstance(before, Mapping):
        return {name: before[name] + new[name] for name in before}
    return before + new
