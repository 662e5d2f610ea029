"""How versions stand on home and on a target's page: rates, the change against the one before, and their line."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evalrunner.compare import IMPROVEMENTS, REGRESSIONS, Change
from evalrunner.compare.answer import VERDICT_WORDS
from evalrunner.compare.verdict import Verdict

from reports.domain.run_query import RunQuery
from reports.domain.wording import day_in_words
from reports.pages.charts import Point, Spark
from reports.pages.links import compare_href
from reports.pages.runs import runs_href
from reports.selectors.stored_changes import RunChangeRow
from reports.selectors.versions import VersionRow


@dataclass(frozen=True, slots=True)
class Against:
    """A version against the one before it. ``tone`` is up, down, same or unknown; ``href`` their comparison."""

    text: str
    tone: str
    other: str
    href: str


def against(candidate: VersionRow, baseline: VersionRow | None) -> Against | None:
    """Say how the pass rate moved against an earlier version; None where there is none.

    Rates of two suite revisions are of other scenarios: what their comparison leaves out is no difference of rates.
    """
    if baseline is None:
        return None
    return Against(
        text=_moved(candidate, baseline),
        tone=direction(candidate, baseline),
        other=baseline.label or baseline.fingerprint,
        href=compare_href(baseline.side, candidate.side),
    )


def rate_words(row: VersionRow) -> str:
    """Say what a version's rate counts: the cases of its completed and limited runs, where it has any."""
    return row.tally.words if any(row.counts.values()) else "no completed run"


def direction(candidate: VersionRow, baseline: VersionRow | None) -> str:
    """Compare two rates of one suite revision exactly, as fractions of whole numbers."""
    if baseline is None or not (candidate.tally.decided and baseline.tally.decided):
        return "unknown"
    if candidate.revision_pk != baseline.revision_pk:
        return "unknown"
    now = candidate.tally.passed * baseline.tally.decided
    before = baseline.tally.passed * candidate.tally.decided
    return "same" if now == before else "up" if now > before else "down"


def _moved(candidate: VersionRow, baseline: VersionRow) -> str:
    now, before = candidate.tally.rate, baseline.tally.rate
    if now is None or before is None:
        return "no rate to compare with"
    if candidate.revision_pk != baseline.revision_pk:
        return "another suite revision than"
    points = (now - before) * 100
    if direction(candidate, baseline) == "same":
        return "the same pass rate as"
    shown = f"{abs(points):.1f}" if abs(points) >= 0.05 else "less than 0.1"
    return f"{shown} points {'above' if points > 0 else 'below'}"


Changes = Mapping[int, RunChangeRow]


def moved_tone(row: VersionRow, changes: Changes) -> str:
    """Say what a version did against its baseline: "down" (broke), "up" (fixed), "both", "same"; "unknown" without."""
    change = changes.get(row.pk)
    if change is None or change.counts is None:
        return "unknown"
    counts = change.counts
    broke = any(counts.get(change) for change in (*REGRESSIONS, Change.LOST))
    fixed = any(counts.get(change) for change in IMPROVEMENTS)
    return ("both" if fixed else "down") if broke else "up" if fixed else "same"


_SAID = {
    "down": "something broke against its baseline",
    "up": "something fixed against its baseline",
    "both": "some broke and some fixed against its baseline",
    "same": "neither broke nor fixed anything against its baseline",
}


def verdict_words(row: VersionRow, changes: Changes) -> str:
    """Say the same in words, with the verdict; "" where it was not measured against a baseline."""
    said = _SAID.get(moved_tone(row, changes), "")
    return f"{said} ({VERDICT_WORDS[Verdict(changes[row.pk].verdict)]})" if said else ""


def spark_of(target_id: str, versions: Sequence[VersionRow], changes: Changes) -> Spark | None:
    """Draw the pass rate over versions given newest first; None where a line would say nothing."""
    if len(versions) < 2:
        return None
    oldest_first = list(reversed(versions))
    points = [
        Point(
            rate=row.tally.rate,
            text=", ".join(filter(None, (_facts(row), verdict_words(row, changes)))),
            href=version_runs_href(target_id, row),
            tone={"unknown": "accent"}.get(moved := moved_tone(row, changes), moved),
            is_hollow=row.going > 0,
        )
        for row in oldest_first
    ]
    return Spark.of(points, text=f"Pass rate over the last {len(points)} versions, oldest first")


def _facts(row: VersionRow) -> str:
    return f"{row.label or row.fingerprint}: {row.tally.percent}, {row.tally.words}, {day_in_words(row.first_at)}"


def version_runs_href(target_id: str, row: VersionRow) -> str:
    """Return the list of a version's runs."""
    return runs_href(RunQuery({"target": (target_id,), "version": (row.fingerprint,)}))
