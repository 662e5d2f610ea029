"""The scenario harness's own comparison, beside ours: what moved in tokens, time and tool calls, its kinds by row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

from reports.domain.harness.names import suite_id
from reports.domain.wording import percent_in_words
from reports.pages.compare import GroupView
from reports.selectors.harness_comparison import HarnessComparison
from reports.text import storable

CHANGES_SHOWN = 100


@dataclass(frozen=True, slots=True)
class FigureLine:
    """One figure on both sides; ``tone`` is that of a change for the better or worse, "" where it is neither."""

    name: str
    before: str
    after: str
    delta: str
    tone: str


@dataclass(frozen=True, slots=True)
class ChangeLine:
    """One entry of the harness: a scenario (stored form) and its kind in words."""

    scenario_id: str
    words: str


@dataclass(frozen=True, slots=True)
class HarnessChanges:
    """``…_words`` count all entries, of which at most ``CHANGES_SHOWN`` are shown."""

    figures: tuple[FigureLine, ...]
    regressions: tuple[ChangeLine, ...]
    improvements: tuple[ChangeLine, ...]
    regression_words: str
    improvement_words: str
    note: str
    file_href: str


def harness_changes(compared: HarnessComparison, *, baseline: str, candidate: str, suite: int) -> HarnessChanges:
    """Decide what the comparison page shows; the three texts are those of its address."""
    result = compared.result
    query = {"baseline": baseline, "candidate": candidate} | ({"suite": str(suite)} if suite else {})
    return HarnessChanges(
        figures=tuple(_figures(compared)),
        regressions=_lines(result["regressions"]),
        improvements=_lines(result["improvements"]),
        regression_words=_count_words(result["regressions"], "regression"),
        improvement_words=_count_words(result["improvements"], "improvement"),
        note=_note(compared),
        file_href=f"{reverse('api-1:compare_harness')}?{urlencode(query)}",
    )


def with_kinds(groups: Sequence[GroupView], compared: HarnessComparison) -> tuple[GroupView, ...]:
    """Mark the rows of the comparison with what the harness says of them beyond the verdict, which our class says."""
    kinds: dict[str, list[str]] = {}
    for entry in (*compared.result["regressions"], *compared.result["improvements"]):
        if entry["kind"] not in _VERDICTS:
            kinds.setdefault(storable(suite_id(entry["scenario_id"])), []).append(kind_in_words(entry["kind"]))
    return tuple(
        replace(
            group,
            lines=tuple(replace(line, marks=(*line.marks, *kinds.get(line.scenario_id, ()))) for line in group.lines),
        )
        for group in groups
    )


_VERDICTS = ("passed_to_failed", "failed_to_passed")
_WORDS = {"passed_to_failed": "passed → failed", "failed_to_passed": "failed → passed"}


def kind_in_words(kind: str) -> str:
    """Write a kind of the harness for readers: ``slower_by_62%`` is "slower by 62%"."""
    return _WORDS.get(kind, kind.replace("_", " "))


def _lines(entries: Sequence[Mapping[str, str]]) -> tuple[ChangeLine, ...]:
    shown = entries[:CHANGES_SHOWN]
    return tuple(ChangeLine(storable(each["scenario_id"]), kind_in_words(each["kind"])) for each in shown)


def _count_words(entries: Sequence[object], noun: str) -> str:
    words = f"{len(entries):,} {noun}{'' if len(entries) == 1 else 's'}"
    return words + (f", the first {CHANGES_SHOWN} of them" if len(entries) > CHANGES_SHOWN else "")


def _note(compared: HarnessComparison) -> str:
    if max(compared.baseline_runs, compared.candidate_runs) > 1:
        return "Of a version with several runs, the newest is compared here."
    return "By the rules of the harness: rows matched by id, changes of time and tokens beyond 50%."


def _figures(compared: HarnessComparison) -> Iterable[FigureLine]:
    before, after = compared.baseline, compared.candidate
    yield _rate(before["success_rate"], after["success_rate"], compared.result["pass_rate_delta"])
    yield _figure("Mean time of a row, ms", before["avg_elapsed_ms"], after["avg_elapsed_ms"], less_is_better=True)
    for name, label in _TOTALS:
        yield from _optional(label, before.get(name), after.get(name))
    usage = before.get("total_model_usage") or {}, after.get("total_model_usage") or {}
    for name, label in _USAGE:
        yield from _optional(label, usage[0].get(name), usage[1].get(name))


_TOTALS = (
    ("total_context_input_tokens", "Context tokens"),
    ("total_tool_invocations", "Tool calls"),
    ("total_tool_failures", "Failed tool calls"),
)
_USAGE = (
    ("input_tokens", "Tokens in"),
    ("output_tokens", "Tokens out"),
    ("cache_read_input_tokens", "Tokens from the cache"),
    ("request_count", "Model requests"),
)
_LESS_IS_BETTER = ("Context tokens", "Failed tool calls", "Tokens in", "Tokens out")


def _rate(before: float, after: float, delta: float) -> FigureLine:
    tone = "passed" if delta > 0 else "failed" if delta < 0 else ""
    rates = (percent_in_words(before), percent_in_words(after))
    return FigureLine("Rows that passed", *rates, f"{100 * delta:+.1f} points", tone)


def _optional(label: str, before: Any, after: Any) -> Iterable[FigureLine]:
    """Give the line of a figure that a side may lack; none where both do."""
    if before is None and after is None:
        return
    if before is None or after is None:
        left, right = ("–" if value is None else f"{value:,}" for value in (before, after))
        yield FigureLine(label, left, right, "not on both sides", "")
        return
    yield _figure(label, before, after, less_is_better=label in _LESS_IS_BETTER)


def _figure(label: str, before: float, after: float, *, less_is_better: bool) -> FigureLine:
    delta = after - before
    shown = f"{delta:+,.1f}" if isinstance(delta, float) else f"{delta:+,}"
    percent = f" ({delta / before:+.0%})" if before else ""
    tone = "" if not less_is_better or not delta else "failed" if delta > 0 else "passed"
    return FigureLine(label, _number(before), _number(after), ("no change" if not delta else shown + percent), tone)


def _number(value: float) -> str:
    return f"{value:,.1f}" if isinstance(value, float) else f"{value:,}"
