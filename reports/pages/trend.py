"""The trend of a target as a Plotly figure, made here and fetched as JSON.

Colours are named by token ("var(--accent)"), which Plotly itself cannot read; the page puts in those of its theme.
Plotly reads a little HTML in its texts, so texts from outside are escaped. Figures avoid scattergl and plotly.express:
both need what the CSP forbids.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from evalrunner.compare.intervals import wilson_interval

from reports.domain.unseen import mark_of, pieces, unstored
from reports.domain.wording import day_in_words, percent_in_words
from reports.pages.charts import OUTLINES
from reports.pages.versions import Changes, moved_tone, verdict_words, version_runs_href
from reports.selectors.versions import VersionRow

_LABEL_LENGTH = 18
_TONES = {
    "up": "var(--passed-fill)",
    "down": "var(--failed-fill)",
    "both": "var(--blocked-fill)",
    "same": "var(--skipped-fill)",
}
_SYMBOLS = {"up": "triangle-up", "down": "triangle-down", "both": "diamond"}


def trend_figure(target_id: str, versions: Sequence[VersionRow], changes: Changes) -> dict[str, Any]:
    """Return the figure of the pass rate over versions, given newest first, as plain JSON data.

    Points are coloured and shaped by what the version did against its baseline (``changes``): see ``trend_keys``.
    """
    from plotly import graph_objects

    rows = [row for row in reversed(versions) if row.tally.decided]
    places = list(range(len(rows)))
    figure = graph_objects.Figure(
        graph_objects.Scatter(
            x=places,
            y=[_percent(row) for row in rows],
            mode="lines+markers",
            line={"color": "var(--rule-strong)", "width": 1.5},
            error_y=_whiskers(rows),
            marker={
                "size": [9 if moved_tone(row, changes) in ("same", "unknown") else 13 for row in rows],
                "opacity": 1,  # Plotly takes points of several sizes for bubbles and makes them pale
                "color": _colours(rows, changes),
                "symbol": [_SYMBOLS.get(moved_tone(row, changes), "circle") for row in rows],
                "line": {"color": "var(--ground)", "width": 1.5},
            },
            customdata=[version_runs_href(target_id, row) for row in rows],
            hovertext=[_facts(row, changes) for row in rows],
            hovertemplate="%{hovertext}<extra></extra>",
        )
    )
    figure.update_layout(
        template="none",
        margin={"l": 52, "r": 16, "t": 12, "b": 64},
        height=320,
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"color": "var(--ink-soft)", "size": 12, "family": "system-ui, sans-serif"},
        hoverlabel={
            "bgcolor": "var(--ground-raised)",
            "font": {"color": "var(--ink)"},
            "bordercolor": "var(--rule-strong)",
        },
        xaxis=_axis(
            {
                "tickvals": places,
                "ticktext": [_label(row) for row in rows],
                "tickangle": -25,
                "zeroline": False,
                "showgrid": False,
            }
        ),
        yaxis=_axis({"title": {"text": "passed of decided (%)"}, "range": _range(rows), "zeroline": False}),
        showlegend=False,
    )
    made: dict[str, Any] = figure.to_plotly_json()
    return {"data": made["data"], "layout": made["layout"]}


@dataclass(frozen=True, slots=True)
class TrendKey:
    """What a shape and colour of a point mean; ``outline`` as of ``charts.Dot``."""

    tone: str
    outline: str
    words: str


def trend_keys() -> tuple[TrendKey, ...]:
    """Return what the points of the trend mean."""
    return tuple(TrendKey(tone, OUTLINES.get(tone, ""), words) for tone, words in _KEYS)


_KEYS = (
    ("down", "something broke against its baseline"),
    ("up", "something fixed"),
    ("both", "both"),
    ("same", "neither"),
    ("accent", "no baseline, or being judged"),
)


def _percent(row: VersionRow) -> float:
    return round((row.tally.rate or 0.0) * 100, 2)


def _whiskers(rows: Sequence[VersionRow]) -> dict[str, Any]:
    """Return the 95% Wilson intervals as lengths above and below the points, in percent."""
    intervals = [wilson_interval(row.tally.passed, row.tally.decided) for row in rows]
    points = list(zip(intervals, (_percent(row) for row in rows), strict=True))
    return {
        "type": "data",
        "symmetric": False,
        "array": [round(max(0.0, 100 * high - point), 2) for (_, high), point in points],
        "arrayminus": [round(max(0.0, point - 100 * low), 2) for (low, _), point in points],
        "color": "var(--rule-strong)",
        "thickness": 1.25,
        "width": 4,
    }


def _colours(rows: Sequence[VersionRow], changes: Changes) -> list[str]:
    return [_TONES.get(moved_tone(row, changes), "var(--accent)") for row in rows]


def _range(rows: Sequence[VersionRow]) -> list[float]:
    """Begin at a whole ten below the lowest interval, so that small changes stay visible; the axis says so."""
    lowest = min((100 * wilson_interval(row.tally.passed, row.tally.decided)[0] for row in rows), default=0.0)
    return [max(-2.0, int(lowest / 10) * 10 - 2.0), 102.0]


def _axis(members: dict[str, Any]) -> dict[str, Any]:
    return {"gridcolor": "var(--rule)", "linecolor": "var(--rule)", "fixedrange": True, **members}


def _facts(row: VersionRow, changes: Changes) -> str:
    name = _safe(row.label or row.fingerprint, 60)
    low, high = wilson_interval(row.tally.passed, row.tally.decided)
    interval = f"95% interval {percent_in_words(low)} to {percent_in_words(high)}"
    facts = (name, f"{row.tally.percent}, {row.tally.words}", interval, verdict_words(row, changes))
    return "<br>".join(filter(None, (*facts, day_in_words(row.first_at))))


def _label(row: VersionRow) -> str:
    return _safe(row.label or row.fingerprint, _LABEL_LENGTH)


def _safe(text: str, longest: int) -> str:
    whole = unstored(text)
    cut = whole if len(whole) <= longest else f"{whole[: longest - 1]}…"
    return escape("".join(mark_of(piece) if is_mark else piece for piece, is_mark in pieces(cut)))
