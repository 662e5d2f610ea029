"""What the renderings have in common: order, titles, marks and short words. Nothing here is escaped yet."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from evalrunner.compare.changes import FOLDED, Group
from evalrunner.compare.definitions import BY_POLICY
from evalrunner.compare.matrix import MATRIX_ORDER
from evalrunner.compare.tally import fraction_text

Data: TypeAlias = Mapping[str, Any]

GROUP_TITLES: Final[Mapping[Group, str]] = {
    Group.BROKEN: "Broken",
    Group.LOST: "Lost",
    Group.UNSTABLE_AND_WORSE: "Unstable and worse",
    Group.FAILING_DIFFERENTLY: "Failing differently",
    Group.FIXED: "Fixed",
    Group.STABILISED: "Stabilised",
    Group.BETTER: "Better",
    Group.GAINED: "Gained",
    Group.ADDED: "Added",
    Group.REMOVED: "Removed",
    Group.REDEFINED: "Definition changed",
    Group.FAILING: "Failing as before",
    Group.UNDECIDED: "Undecided on both sides",
    Group.STEADY: "Steady",
}
CHANGE_MARKS: Final[Mapping[str, str]] = {
    "broken": "▼",
    "unstable": "▽",
    "worse": "↘",
    "fixed": "▲",
    "stabilised": "△",
    "better": "↗",
    "lost": "⌀",
    "gained": "⊕",
    "failing": "✕",
    "failing_differently": "✕≠",
    "steady": "=",
    "undecided": "?",
    "added": "+",
    "removed": "−",
}
VERDICT_TITLES: Final[Mapping[str, str]] = {
    "pass": "Pass",
    "regressed": "Regressed",
    "inconclusive": "Inconclusive",
    "not_comparable": "Not comparable",
}
SCENARIOS_NAMED: Final = 12


def shown_groups(document: Data) -> Iterator[tuple[Group, list[Data]]]:
    """Yield the groups of rows that changed, in order, with the rows the document lists."""
    by_group: dict[str, list[Data]] = {}
    for row in document["rows"]:
        by_group.setdefault(row["group"], []).append(row)
    for group in Group:
        if group not in FOLDED and document["groups"][group]:
            yield group, by_group.get(group, [])


def unchanged_words(document: Data) -> str:
    """Count the rows that did not change, "" where all did."""
    counts = [
        f"{document['groups'][group]:,} {GROUP_TITLES[group].lower()}"
        for group in Group
        if group in FOLDED and document["groups"][group]
    ]
    return f"Unchanged: {', '.join(counts)}." if counts else ""


def rate_words(side: Data) -> str:
    rate = side["passRate"]
    undecided = f", {rate['undecided']:,} undecided" if rate["undecided"] else ""
    if not rate["decided"]:
        return f"none decided{undecided}"
    within = f"95% interval {100 * rate['low']:.1f} to {100 * rate['high']:.1f}"
    return f"{rate['percent']} ({rate['passed']:,} of {rate['decided']:,} decided{undecided}; {within})"


def runs_words(side: Data) -> str:
    runs = len(side["runs"])
    return f"{runs} run{'' if runs == 1 else 's'}{left_out_words(len(side['leftOut']))}"


def left_out_words(number: int) -> str:
    """Say behind what a side is how many of its runs do not count; "" where all do."""
    return f", {number} left out because never completed" if number else ""


def what_failed(row: Data) -> str:
    """Say what failed first: in the candidate, else in the baseline; "" where nothing did. Text from outside."""
    for side in ("candidate", "baseline"):
        if failures := row[side]["failures"]:
            return str(failures[0]["words"])
    return ""


def marks_of(row: Data) -> list[str]:
    """Return the remarks of a row, in our own words."""
    marks = ["critical"] if row["isCritical"] else []
    marks += ["known"] if row["isKnown"] else []
    marks += [f"{row['fewerDecided']} fewer decided"] if row["fewerDecided"] else []
    if row["group"] == Group.REDEFINED:
        marks.append(row["class"].replace("_", " "))
    if row["adjustedP"] is not None and row["adjustedP"] <= 0.05:
        marks.append(f"adjusted p {p_words(row['adjustedP'])}")
    return marks


def p_words(p_value: float) -> str:
    return "< 0.0001" if p_value < 0.0001 else f"{p_value:.2g}"


def completeness_words(document: Data) -> str:
    found = document["completeness"]
    return (
        f"{found['decided']:,} of {found['asked']:,} scenario variants that the baseline decided are decided again "
        f"({fraction_text(found['needed'])} needed)."
    )


def accepted_title(document: Data) -> str:
    """Say how many changed definitions count; "" where none does."""
    number = len(document["accepted"])
    return f"Changed definitions that were accepted and count ({number:,})" if number else ""


def accepted_words(accepted: Data, code: Callable[[str], str]) -> str:
    """Say who accepted a changed definition, when and why, as far as that is known; ``code`` escapes texts."""
    who = "by the policy" if accepted["rule"] == BY_POLICY else f"by {code(accepted['by'])}" if accepted["by"] else ""
    when = f"on {code(accepted['at'][:10])}" if accepted["at"] else ""
    why = f": {code(accepted['reason'])}" if accepted["reason"] else ""
    return f"{' '.join(part for part in ('accepted', who, when) if part)}{why}"


def used_statuses(document: Data) -> tuple[list[str], list[str]]:
    """Return the rows and the columns of the matrix that hold any case."""
    matrix = document["matrix"]
    rows = [before for before in MATRIX_ORDER if any(matrix[before].values())]
    columns = [after for after in MATRIX_ORDER if any(cells[after] for cells in matrix.values())]
    return rows, columns


def changed_clusters(document: Data) -> list[Data]:
    return [each for each in document["clusters"] if each["change"] != "same"]


def cluster_words(cluster: Data) -> str:
    variants, cases = cluster["variants"], cluster["cases"]
    return (
        f"{variants['baseline']:,} → {variants['candidate']:,} scenario variants, "
        f"{cases['baseline']:,} → {cases['candidate']:,} cases"
    )


def counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def cut(items: Sequence[Any], most: int) -> tuple[Sequence[Any], int]:
    """Return the first ``most`` items and how many were left out."""
    return items[:most], max(0, len(items) - most)
