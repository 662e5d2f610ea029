"""Adding up result rows (SPEC 8)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evalrunner.harness.figures import USAGE_KEYS


def summarize(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Give the summary of result rows, keys in order; what a row leaves out counts as nothing."""
    total = len(rows)
    passed = sum(1 for row in rows if row.get("passed"))
    elapsed = _total(rows, "elapsed_ms")
    summary: dict[str, Any] = {
        "total": total,
        "passed": passed,
        "failed": total - passed,
        "success_rate": passed / total if total else 0.0,
        "total_elapsed_ms": elapsed,
        "avg_elapsed_ms": elapsed / total if total else 0.0,
        "total_tool_invocations": _total(rows, "tool_invocations"),
        "total_tool_failures": _total(rows, "tool_failures"),
    }
    contexts = [row["context_input_tokens"] for row in rows if row.get("context_input_tokens") is not None]
    if contexts:
        summary["total_context_input_tokens"] = sum(contexts)
    usages = [row["model_usage"] for row in rows if row.get("model_usage") is not None]
    if usages:
        summary["total_model_usage"] = {key: _total(usages, key) for key in USAGE_KEYS}
    return summary


def _total(rows: Sequence[Mapping[str, Any]], key: str) -> int:
    return sum(row.get(key) or 0 for row in rows)
